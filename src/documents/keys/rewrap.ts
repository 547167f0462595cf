/**
 * Wraps every data key with a new master key. It can be killed at any moment and repeated: a key lies under its name or
 * beside it, wrapped with one of the two. See docs/decisions/0055-a-new-master-key.md.
 */
import { KEY_OWNER_ID } from '../../domain/ids.ts';
import { deriveKey, fingerprintOf, MASTER_CHECK, signingPurpose } from './master-key.ts';
import type { KeyRecords, ListedKeyRecords } from './port.ts';
import { REWRAP_RECORD } from './records.ts';
import { SealBroken, seal, unseal } from './sealing.ts';

/** Keys of former master keys that stay in use, sealed with the present one: JSON, hex by purpose. */
export const LASTING_KEYS = 'keyring.secrets';
/** The log names streams and requests by keyed hashes for good. */
const LASTING_PURPOSES = ['sign-in address', 'idempotency keys'];
const AT_ONCE = 8;
const KEY_RECORD = new RegExp(`^(${KEY_OWNER_ID})\\.(?:key|rewrapped)$`);

/**
 * @returns the key (32 bytes) for a purpose: the one that it had before the master key changed, else one that follows
 * from the master key
 */
export async function lastingKeys(
  records: Pick<KeyRecords, 'read'>,
  masterKey: Buffer,
): Promise<(purpose: string) => Buffer> {
  const sealed = await records.read(LASTING_KEYS);
  const text = sealed === undefined ? '{}' : unseal(masterKey, LASTING_KEYS, sealed).toString();
  const kept = JSON.parse(text) as Readonly<Record<string, string>>;
  return (purpose) => {
    const hex = kept[purpose];
    return hex === undefined ? deriveKey(masterKey, purpose, 32) : Buffer.from(hex, 'hex');
  };
}

export interface MasterKeyChange {
  /** Absent if an earlier call has destroyed it. */
  readonly from: Buffer | undefined;
  readonly to: Buffer;
  /** Generations of the log's signing keys that are in force. */
  readonly generations: readonly number[];
  readonly onKeys?: (done: number, total: number) => void;
}

/**
 * No service runs on the keyring, and none starts before `endRewrap`.
 * @returns the number of data keys
 * @throws {Error} one line: a key opens with neither master key, and nothing was changed
 */
export async function rewrapKeys(
  records: ListedKeyRecords,
  change: MasterKeyChange,
): Promise<number> {
  const rewrapping = new Rewrapping(records, change);
  const check = fingerprintOf(change.to);
  await rewrapping.check();
  // From here on no process makes a key with the old one: see `makeKey` of the keyrings.
  await records.create(REWRAP_RECORD, check);
  await rewrapping.keepLastingKeys();
  const keys = await rewrapping.wrapAll();
  await records.remove(MASTER_CHECK);
  await records.create(MASTER_CHECK, check);
  return keys;
}

/** The last step, when the new master key is the one in use. */
export const endRewrap = (records: KeyRecords): Promise<void> => records.remove(REWRAP_RECORD);

/** A record, the place of its new form until that is under its name, and what it is bound to. */
interface Wrapped {
  readonly name: string;
  readonly staged: string;
  readonly owner: string;
}

const keyOf = (owner: string): Wrapped => ({
  name: `${owner}.key`,
  staged: `${owner}.rewrapped`,
  owner,
});

const LASTING: Wrapped = {
  name: LASTING_KEYS,
  staged: 'keyring.rewrapped',
  owner: LASTING_KEYS,
};

class Rewrapping {
  readonly #records: ListedKeyRecords;
  readonly #change: MasterKeyChange;

  constructor(records: ListedKeyRecords, change: MasterKeyChange) {
    this.#records = records;
    this.#change = change;
  }

  /** @throws {Error} one line: a key opens with neither master key */
  async check(): Promise<void> {
    await this.#eachOwner(async (owner) => {
      if (await this.#isErased(owner)) return;
      const { name, staged } = keyOf(owner);
      const texts = [await this.#records.read(name), await this.#records.read(staged)];
      const { from, to } = this.#change;
      if (texts.some((text) => opened(from, owner, text) ?? opened(to, owner, text))) return;
      throw new Error(
        `The key of ${owner} opens neither with MASTER_KEY nor with the new one: set MASTER_KEY to the one before ` +
          'the change; if it was that, restore this key from a copy of the keyring.',
      );
    });
  }

  /** Comes before the data keys, with the old master key still there. */
  async keepLastingKeys(): Promise<void> {
    await this.#replace(LASTING, async () => {
      const { from, generations } = this.#change;
      if (from === undefined) throw new SealBroken(`${LASTING_KEYS} does not open.`);
      const keyFor = await lastingKeys(this.#records, from);
      const purposes = [...LASTING_PURPOSES, ...generations.map(signingPurpose)];
      const kept = purposes.map((purpose) => [purpose, keyFor(purpose).toString('hex')] as const);
      return Buffer.from(JSON.stringify(Object.fromEntries(kept)));
    });
  }

  async wrapAll(): Promise<number> {
    let keys = 0;
    await this.#eachOwner(async (owner, total) => {
      if (await this.#isErased(owner)) return await this.#drop(owner);
      await this.#replace(keyOf(owner), async (text) => {
        const content = opened(this.#change.from, owner, text);
        if (content === undefined) throw new SealBroken(`The key of ${owner} does not open.`);
        return content;
      });
      // Erased meanwhile, by a process that had the keyring open.
      if (await this.#isErased(owner)) return await this.#drop(owner);
      keys += 1;
      this.#change.onKeys?.(keys, total);
    });
    return keys;
  }

  /** Keeps the record under its name or beside it at each moment. @param content of the new form */
  async #replace(
    { name, staged, owner }: Wrapped,
    content: (text: string | undefined) => Promise<Buffer>,
  ): Promise<void> {
    const { to } = this.#change;
    const text = await this.#records.read(name);
    if (opened(to, owner, text) === undefined) {
      let beside = await this.#records.read(staged);
      if (beside === undefined || opened(to, owner, beside) === undefined) {
        beside = seal(to, owner, await content(text));
        await this.#put(staged, beside);
      }
      await this.#put(name, beside);
    }
    await this.#records.remove(staged);
  }

  /** Replaces it, so that the old text is overwritten where the place can do that. */
  async #put(name: string, text: string): Promise<void> {
    await this.#records.remove(name);
    await this.#records.create(name, text);
    if ((await this.#records.read(name)) === text) return;
    throw new Error(`The record ${name} of the keyring was changed by another process: repeat.`);
  }

  async #isErased(owner: string): Promise<boolean> {
    return (await this.#records.read(`${owner}.erased`)) !== undefined;
  }

  async #drop(owner: string): Promise<void> {
    const { name, staged } = keyOf(owner);
    await this.#records.remove(name);
    await this.#records.remove(staged);
  }

  async #eachOwner(work: (owner: string, total: number) => Promise<void>): Promise<void> {
    const names = await this.#records.names();
    const owners = [...new Set(names.flatMap((name) => KEY_RECORD.exec(name)?.[1] ?? []))];
    for (let at = 0; at < owners.length; at += AT_ONCE) {
      const some = owners.slice(at, at + AT_ONCE);
      await Promise.all(some.map((owner) => work(owner, owners.length)));
    }
  }
}

function opened(
  key: Buffer | undefined,
  owner: string,
  text: string | undefined,
): Buffer | undefined {
  if (key === undefined || text === undefined) return undefined;
  try {
    return unseal(key, owner, text);
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
}
