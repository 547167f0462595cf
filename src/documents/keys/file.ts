/** The keyring as files: `<dir>/<account id>.key`, and `<account id>.erased` once it is deleted. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { assertOwned } from '../ownership.ts';
import { isAbandoned } from '../writer.ts';
import { createDurably, readIfThere, removeDurably, removeTemporary } from './durable-file.ts';
import { checkAccountId, HeldKeys } from './held-keys.ts';
import { fingerprintOf, MASTER_CHECK } from './master-key.ts';
import { KeyErased, KeyMissing, type Keyring, KeyringGone } from './port.ts';
import { MASTER_KEY_CHANGED, REWRAP_RECORD } from './records.ts';
import { seal, unwrapDataKey } from './sealing.ts';

const KEY_BYTES = 32;

export class FileKeyring implements Keyring {
  readonly #dir: string;
  readonly #masterKey: Buffer;
  readonly #held = new HeldKeys<Buffer>();

  /** Makes the directory if there is none. `masterKey` (32 bytes) wraps every data key. */
  constructor(dir: string, masterKey: Buffer) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    removeTemporary(join(dir, 'acct_'), isAbandoned);
    this.#dir = dir;
    this.#masterKey = masterKey;
  }

  async makeKey(accountId: string): Promise<void> {
    this.#held.set(accountId, this.#find(accountId) ?? this.#make(accountId));
  }

  async dataKey(accountId: string): Promise<Buffer> {
    const key = this.#find(accountId);
    if (key === undefined) throw new KeyMissing(accountId);
    this.#held.set(accountId, key);
    return key;
  }

  async erase(accountId: string): Promise<void> {
    // The tombstone first: from then on nobody makes a new key, whatever happens to this process.
    createDurably(this.#path(accountId, 'erased'), '');
    const key = this.#path(accountId, 'key');
    removeTemporary(key, () => true);
    removeDurably(key);
    this.#held.delete(accountId);
  }

  #find(accountId: string): Buffer | undefined {
    const tombstone = this.#path(accountId, 'erased');
    // Looked for each time (microseconds): another process may have erased a key that is held here.
    if (existsSync(tombstone)) throw this.#erased(accountId);
    return this.#held.get(accountId) ?? this.#load(accountId);
  }

  #load(accountId: string): Buffer | undefined {
    const path = this.#path(accountId, 'key');
    const wrapped = readIfThere(path);
    if (wrapped === undefined) return undefined;
    assertOwned(path, statSync(path));
    try {
      return unwrapDataKey(this.#masterKey, accountId, wrapped);
    } catch (error) {
      // It was read while another process overwrote it.
      if (existsSync(this.#path(accountId, 'erased'))) throw this.#erased(accountId);
      throw error;
    }
  }

  #make(accountId: string): Buffer {
    if (!existsSync(this.#dir)) throw new KeyringGone(`There is no ${this.#dir} any more.`);
    const path = this.#path(accountId, 'key');
    const key = randomBytes(KEY_BYTES);
    const made = createDurably(path, seal(this.#masterKey, accountId, key));
    // Another process may have erased the account between the look and the making.
    if (existsSync(this.#path(accountId, 'erased'))) {
      removeDurably(path);
      throw this.#erased(accountId);
    }
    if (this.#isMasterKeyChanged()) {
      if (made) removeDurably(path);
      throw new KeyringGone(MASTER_KEY_CHANGED);
    }
    if (made) return key;
    const theirs = this.#load(accountId);
    if (theirs === undefined) throw this.#erased(accountId);
    return theirs;
  }

  /** Looked for after a key is stored: a change that begins later finds that key. */
  #isMasterKeyChanged(): boolean {
    if (existsSync(join(this.#dir, REWRAP_RECORD))) return true;
    const check = readIfThere(join(this.#dir, MASTER_CHECK));
    return check !== undefined && check !== fingerprintOf(this.#masterKey);
  }

  #path(accountId: string, suffix: 'key' | 'erased'): string {
    return join(this.#dir, `${checkAccountId(accountId)}.${suffix}`);
  }

  #erased(accountId: string): KeyErased {
    this.#held.delete(accountId);
    return new KeyErased(`The data key of ${accountId} was erased.`);
  }
}
