/** Uses data keys for the personal and secret fields of events, and an account's for its conversions' blobs. */
import { PERSON_ID, SEALED_FOR_PERSON } from '../../domain/ids.ts';
import { deriveKey } from './master-key.ts';
import { KeyErased, type Keyring } from './port.ts';
import { SealBroken, seal, unseal } from './sealing.ts';

export interface Vault {
  /** Makes the key of an owner that begins. Safe to repeat. @throws {KeyErased} */
  makeKey(owner: string): Promise<void>;
  /** @throws {KeyErased} */
  seal(owner: string, text: string): Promise<string>;
  /**
   * Returns the text, for people to read, or `NOT_OPENED` if decryption fails, so that one bad value does not
   * break a list. What the key of an erased person has sealed is `REMOVED_PERSON`.
   * @throws {KeyErased}
   */
  unseal(owner: string, sealed: string): Promise<string>;
  /**
   * The owner's data key, for `openerOf`: many texts are opened at once with it, or in another thread. Ask for it again
   * after an `await`, so that an erasure is noticed.
   * @throws {KeyErased}
   */
  dataKey(owner: string): Promise<Buffer>;
  /** The text, for what is decided by it. @throws {KeyErased} @throws {SealBroken} */
  unsealExactly(owner: string, sealed: string): Promise<string>;
  /**
   * The key (32 bytes) of one conversion's blobs: it says nothing of other conversions' keys.
   * @throws {KeyErased}
   */
  contentKey(accountId: string, conversionId: string): Promise<Buffer>;
  /**
   * A secret for a link (256 bits, base64url), which follows from the owner's key: nothing that opens it is stored, and it
   * cannot be made any more once the key is destroyed.
   * @param purpose tells it from the owner's other links
   * @throws {KeyErased}
   */
  linkSecret(owner: string, purpose: string): Promise<string>;
  /** Destroys the owner's data key: nothing that was encrypted with it can be read again. Safe to repeat. */
  erase(owner: string): Promise<void>;
}

/** Stands in place of a sealed text where the key is gone: nobody is left to read it. */
export const UNREADABLE = 'erased';
/** Stands in place of a sealed text that another keyring has sealed, or that was altered. */
export const NOT_OPENED = 'This text cannot be read: it was sealed with another key, or altered.';

/** Stands in place of what was sealed with the key of a person who was erased. */
export const REMOVED_PERSON = 'a removed person';

const IS_PERSON = new RegExp(`^${PERSON_ID}$`);
const OF_PERSON = new RegExp(SEALED_FOR_PERSON, 's');

/** Whose key opens the text, and the text without the name. */
function sealerOf(owner: string, sealed: string): readonly [owner: string, sealed: string] {
  const [, person, text] = OF_PERSON.exec(sealed) ?? [];
  return person === undefined || text === undefined ? [owner, sealed] : [person, text];
}

export function createVault(keyring: Keyring): Vault {
  const unsealExactly = async (given: string, text: string): Promise<string> => {
    const [owner, sealed] = sealerOf(given, text);
    return unseal(await keyring.dataKey(owner), owner, sealed).toString('utf8');
  };
  return {
    unsealExactly,
    dataKey: (owner) => keyring.dataKey(owner),
    makeKey: (owner) => keyring.makeKey(owner),
    async seal(owner, text) {
      const sealed = seal(await keyring.dataKey(owner), owner, Buffer.from(text, 'utf8'));
      return IS_PERSON.test(owner) ? `${owner}.${sealed}` : sealed;
    },
    async unseal(owner, sealed) {
      try {
        return await unsealExactly(owner, sealed);
      } catch (error) {
        if (error instanceof SealBroken) return NOT_OPENED;
        if (error instanceof KeyErased && OF_PERSON.test(sealed)) return REMOVED_PERSON;
        throw error;
      }
    },
    async contentKey(accountId, conversionId) {
      return deriveKey(await keyring.dataKey(accountId), `content of ${conversionId}`, 32);
    },
    async linkSecret(owner, purpose) {
      const key = await keyring.dataKey(owner);
      return deriveKey(key, `link of ${owner} for ${purpose}`, 32).toString('base64url');
    },
    erase: (owner) => keyring.erase(owner),
  };
}

/** Opens a sealed text without waiting; undefined stands for one that cannot be opened. */
export type Open = (sealed: string) => string | undefined;

/** @param key the data key of the owner */
export const openerOf =
  (key: Buffer, owner: string): Open =>
  (sealed) => {
    try {
      return unseal(key, owner, sealed).toString('utf8');
    } catch (error) {
      if (error instanceof SealBroken) return undefined;
      throw error;
    }
  };

/** Resolves to undefined where the key was erased: then nobody can read what it has encrypted. */
export async function unlessErased<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof KeyErased) return undefined;
    throw error;
  }
}
