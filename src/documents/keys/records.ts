/**
 * The keyring as records, in a data directory or beside the blobs, where all nodes share it: `<owner>.key`, and `<owner>.erased`
 * once it is deleted. See docs/decisions/0016-remote-blobs.md.
 */
import { randomBytes } from 'node:crypto';
import { KEY_OWNER_ID } from '../../domain/ids.ts';
import { errorMessage } from '../../errors/error-message.ts';
import { fingerprintOf, MASTER_CHECK } from './master-key.ts';
import {
  KeyErased,
  KeyMissing,
  type KeyRecords,
  type Keyring,
  KeyringGone,
  KeyringUnavailable,
} from './port.ts';
import { seal, unwrapDataKey } from './sealing.ts';

const KEY_BYTES = 32;
const KEYRING = 'The keyring at BLOB_STORE_URL';

/** There while the keys are wrapped with a new master key; its text tells that key from others. */
export const REWRAP_RECORD = 'keyring.rewrap';
/** The message of a process that has the old master key: nobody could open what it would wrap. */
const MASTER_KEY_CHANGED =
  'The keyring has another master key now: restart this process with that one as MASTER_KEY.';
/** Data keys held in memory, the most recently used: 10,000 are about 1 MB. */
const HELD_KEYS = 10_000;
const ID = new RegExp(`^${KEY_OWNER_ID}$`);

export interface KeyringOptions {
  /** The time that a key in memory is used before its tombstone is looked for again, in milliseconds. */
  readonly recheckMs: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

export interface SharedKeyringOptions extends KeyringOptions {
  /** Allows a new keyring if there is none: only while the event log is empty. */
  readonly create: boolean;
}

/** The place was reached, and is not the keyring of this deployment. */
class WrongKeyring extends Error {
  override readonly name = 'WrongKeyring';
}

interface HeldKey {
  readonly key: Buffer;
  /** The time when it was last known not to be erased. */
  readonly checkedAt: number;
}

export class RecordKeyring implements Keyring {
  readonly #records: KeyRecords;
  readonly #masterKey: Buffer;
  readonly #gone: () => Promise<string | undefined>;
  readonly #recheckMs: number;
  readonly #now: () => number;
  readonly #held = new HeldKeys();
  /** Lookups under way, so that many requests for one key make one. */
  readonly #lookups = new Map<string, Promise<Buffer>>();

  /**
   * @param masterKey 32 bytes that wrap every data key
   * @param gone says, in one line, that the records' place is no longer there
   */
  constructor(
    records: KeyRecords,
    masterKey: Buffer,
    gone: () => Promise<string | undefined>,
    { recheckMs, now = () => performance.now() }: KeyringOptions,
  ) {
    this.#records = records;
    this.#masterKey = masterKey;
    this.#gone = gone;
    this.#recheckMs = recheckMs;
    this.#now = now;
  }

  async makeKey(owner: string): Promise<void> {
    checkOwner(owner);
    const checkedAt = this.#now();
    const key = await this.#make(owner);
    this.#held.set(owner, { key, checkedAt });
  }

  async dataKey(owner: string): Promise<Buffer> {
    const held = this.#held.get(checkOwner(owner));
    if (held !== undefined && this.#now() - held.checkedAt < this.#recheckMs) return held.key;
    const underWay = this.#lookups.get(owner);
    if (underWay !== undefined) return underWay;
    const lookup = this.#lookUp(owner, held?.key).finally(() => {
      if (this.#lookups.get(owner) === lookup) this.#lookups.delete(owner);
    });
    this.#lookups.set(owner, lookup);
    return lookup;
  }

  async erase(owner: string): Promise<void> {
    checkOwner(owner);
    await attempt(`erase the key of ${owner}`, async () => {
      // The tombstone first: from then on nobody makes a new key, whatever happens to this process.
      await this.#records.create(`${owner}.erased`, 'erased');
      await this.#records.remove(`${owner}.key`);
    });
    this.#lookups.delete(owner);
    this.#held.delete(owner);
  }

  async #lookUp(owner: string, held: Buffer | undefined): Promise<Buffer> {
    const checkedAt = this.#now();
    const [erased, wrapped] = await attempt(`read the key of ${owner}`, () =>
      Promise.all([
        this.#isErased(owner),
        held === undefined ? this.#records.read(`${owner}.key`) : undefined,
      ]),
    );
    if (erased) throw this.#erased(owner);
    const key = held ?? (await this.#unwrap(owner, wrapped));
    this.#held.set(owner, { key, checkedAt });
    return key;
  }

  async #unwrap(owner: string, wrapped: string | undefined): Promise<Buffer> {
    if (wrapped === undefined) throw new KeyMissing(owner);
    try {
      return unwrapDataKey(this.#masterKey, owner, wrapped);
    } catch (error) {
      // It was read while another node overwrote it.
      if (await this.#isErased(owner)) throw this.#erased(owner);
      throw error;
    }
  }

  async #make(owner: string): Promise<Buffer> {
    const name = `${owner}.key`;
    const key = randomBytes(KEY_BYTES);
    const theirs = await attempt(`make the key of ${owner}`, async () => {
      const gone = await this.#gone();
      if (gone !== undefined) throw new KeyringGone(gone);
      // Looked for before, too: a process that is killed right after it made a key would leave that file.
      if (await this.#isErased(owner)) throw this.#erased(owner);
      const made = await this.#records.create(name, seal(this.#masterKey, owner, key));
      // Another node may have erased it between the look and the making.
      if (await this.#isErased(owner)) {
        await this.#records.remove(name);
        throw this.#erased(owner);
      }
      if (await this.#isMasterKeyChanged()) {
        if (made) await this.#records.remove(name);
        throw new KeyringGone(MASTER_KEY_CHANGED);
      }
      return made ? undefined : ((await this.#records.read(name)) ?? '');
    });
    if (theirs === undefined) return key;
    if (theirs === '') throw this.#erased(owner);
    return unwrapDataKey(this.#masterKey, owner, theirs);
  }

  /** Looked for after a key is stored: a change that begins later finds that key. The order of the two matters. */
  async #isMasterKeyChanged(): Promise<boolean> {
    if ((await this.#records.read(REWRAP_RECORD)) !== undefined) return true;
    const check = await this.#records.read(MASTER_CHECK);
    // Beside a data directory's own keys there is none before the first change.
    if (check === undefined) return (await this.#gone()) !== undefined;
    return check !== fingerprintOf(this.#masterKey);
  }

  async #isErased(owner: string): Promise<boolean> {
    return (await this.#records.read(`${owner}.erased`)) !== undefined;
  }

  #erased(owner: string): KeyErased {
    this.#held.delete(owner);
    return new KeyErased(`The data key of ${owner} was erased.`);
  }
}

/**
 * Opens the keyring that nodes share.
 * @param masterKey 32 bytes that wrap every data key
 * @throws {Error} one line: another master key, no keyring, or a place that cannot hold one
 */
export async function openSharedKeyring(
  records: KeyRecords,
  masterKey: Buffer,
  { create, ...options }: SharedKeyringOptions,
): Promise<Keyring> {
  try {
    await checkMasterKey(records, masterKey, create);
  } catch (error) {
    if (error instanceof WrongKeyring) throw error;
    throw new Error(`${KEYRING} cannot be used: ${errorMessage(error)}`, { cause: error });
  }
  const gone = async () =>
    (await records.read(MASTER_CHECK)) === undefined ? `${KEYRING} is gone.` : undefined;
  return new RecordKeyring(records, masterKey, gone, options);
}

/**
 * Compares the master key with the one that the keyring was made with; changes nothing.
 * @returns whether there is a keyring
 * @throws {WrongKeyring} one line: it was made with another master key
 */
export async function findKeyring(
  records: Pick<KeyRecords, 'read'>,
  masterKey: Buffer,
): Promise<boolean> {
  const known = await records.read(MASTER_CHECK);
  if (known !== undefined && known !== fingerprintOf(masterKey)) {
    throw new WrongKeyring(
      `${KEYRING} was made with another master key; set MASTER_KEY to that one.`,
    );
  }
  return known !== undefined;
}

/** @throws {WrongKeyring} one line: what is wrong with it */
async function checkMasterKey(
  records: KeyRecords,
  masterKey: Buffer,
  create: boolean,
): Promise<void> {
  const fingerprint = fingerprintOf(masterKey);
  if (!(await findKeyring(records, masterKey))) {
    if (!create) throw new WrongKeyring(missingKeyring('the place that BLOB_STORE_URL names'));
    await records.create(MASTER_CHECK, fingerprint);
    await findKeyring(records, masterKey);
  }
  // Were it made a second time, two nodes could each make a key of one owner, and one be lost.
  if (await records.create(MASTER_CHECK, fingerprint)) {
    throw new WrongKeyring(
      `${KEYRING} needs a server that honours If-None-Match on PUT: this one does not.`,
    );
  }
}

/** Turns a failure into `KeyringUnavailable`. The port's own errors stay as they are. */
async function attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof KeyErased || error instanceof KeyringGone) throw error;
    throw new KeyringUnavailable(`Could not ${what}.`, { cause: error });
  }
}

class HeldKeys {
  readonly #held = new Map<string, HeldKey>();

  get(owner: string): HeldKey | undefined {
    return this.#held.get(owner);
  }

  set(owner: string, value: HeldKey): void {
    this.#held.delete(owner);
    this.#held.set(owner, value);
    if (this.#held.size <= HELD_KEYS) return;
    const [oldest] = this.#held.keys();
    if (oldest !== undefined) this.#held.delete(oldest);
  }

  delete(owner: string): void {
    this.#held.delete(owner);
  }
}

/** @throws {TypeError} not an id: nothing else may ever become a part of a path */
function checkOwner(owner: string): string {
  if (!ID.test(owner)) {
    throw new TypeError(`${JSON.stringify(owner)} is not the id of an owner of a data key.`);
  }
  return owner;
}

/** @param where the place, as its operator knows it @returns what to do where it holds no keyring, in one line */
export function missingKeyring(where: string): string {
  return (
    `There is no keyring in ${where}, and the event log is not empty: what this node accepts nobody else could ` +
    'read. If they were lost, restore the accounts’ keys from a backup. If not, set DATA_DIR and BLOB_STORE_URL as ' +
    'on the other nodes or as before, or move the keys (docs/moving.md).'
  );
}

/** @throws {Error} one line: the master key is being changed */
export async function refuseRewrap(
  records: Pick<KeyRecords, 'read'>,
  place: string,
): Promise<void> {
  if ((await records.read(REWRAP_RECORD)) === undefined) return;
  throw new Error(
    `The keys in ${place} are being wrapped with a new master key, and some may still have the old one: repeat ` +
      "'pressledger keyring rewrap' with both keys until it ends.",
  );
}
