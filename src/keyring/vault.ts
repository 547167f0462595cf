/** Seals the personal fields of events with their account's data key. */
import type { Keyring } from './port.ts';
import { seal, unseal } from './sealing.ts';

export interface Vault {
  /** @throws {KeyErased} */
  seal(accountId: string, text: string): Promise<string>;
  /** @throws {KeyErased} @throws {Error} not sealed for this account, or altered since */
  unseal(accountId: string, sealed: string): Promise<string>;
}

export function createVault(keyring: Keyring): Vault {
  return {
    async seal(accountId, text) {
      return seal(await keyring.dataKey(accountId), accountId, Buffer.from(text, 'utf8'));
    },
    async unseal(accountId, sealed) {
      return unseal(await keyring.dataKey(accountId), accountId, sealed).toString('utf8');
    },
  };
}
