import { KeyMissing, type Keyring } from '../../src/documents/keys/port.ts';

/** Makes the key of each account on its first use: for tests whose accounts nobody has opened. */
export function makingKeys(keyring: Keyring): Keyring {
  return {
    makeKey: (accountId) => keyring.makeKey(accountId),
    erase: (accountId) => keyring.erase(accountId),
    dataKey: async (accountId) => {
      try {
        return await keyring.dataKey(accountId);
      } catch (error) {
        if (!(error instanceof KeyMissing)) throw error;
        await keyring.makeKey(accountId);
        return await keyring.dataKey(accountId);
      }
    },
  };
}
