/**
 * Copies the records of a keyring, wrapped by the master key as they are, and reads each one back. The log says whose
 * keys there must be.
 */

import type { KeyRecords } from '../documents/keys/port.ts';
import { decodeEvent } from '../event-store/codec.ts';
import type { Entry } from './log-lines.ts';

/** Records that say which master key, which keyring and which log it is, and the keys that outlast a master key. */
const IDENTITY = ['master.check', 'keyring.id', 'keyring.log', 'keyring.secrets'];

/** @throws {Error} one line: there is another keyring in the new place */
export async function copyIdentity(from: KeyRecords, to: KeyRecords, place: string): Promise<void> {
  for (const name of IDENTITY) {
    const text = await from.read(name);
    if (text === undefined || (await putRecord(to, name, text))) continue;
    throw new Error(
      `There is another keyring in ${place} (its ${name} is another one): name a place without a keyring.`,
    );
  }
}

/** @returns false: there is another one of that name */
export async function putRecord(to: KeyRecords, name: string, text: string): Promise<boolean> {
  await to.create(name, text);
  return (await to.read(name)) === text;
}

/**
 * Brings an account's key, or the record of its erasure, to the new place, and reads it back.
 * @returns false: there is neither, so what is personal of this account cannot be read
 */
async function copyKey(from: KeyRecords, to: KeyRecords, accountId: string): Promise<boolean> {
  const [key, erased] = [`${accountId}.key`, `${accountId}.erased`];
  if (((await from.read(erased)) ?? (await to.read(erased))) !== undefined) {
    await eraseKey(to, accountId);
    return true;
  }
  const text = await from.read(key);
  if (text === undefined) return false;
  if (!(await putRecord(to, key, text))) throw unlike(key);
  return true;
}

/** The log decides who is erased: the old keyring may be a copy from before the erasure. */
export async function copyKeys(
  { from, to }: { readonly from: KeyRecords; readonly to: KeyRecords },
  { open, erased }: Pick<KeyHolders, 'open' | 'erased'>,
  onProgress: (done: number, total: number) => void,
): Promise<{ readonly accounts: number; readonly lostKeys: readonly string[] }> {
  const accounts = open.size + erased.size;
  const lostKeys: string[] = [];
  let done = 0;
  for (const account of [...erased, ...open]) {
    if (erased.has(account)) await eraseKey(to, account);
    else if (!(await copyKey(from, to, account))) lostKeys.push(account);
    done += 1;
    onProgress(done, accounts);
  }
  return { accounts, lostKeys };
}

/** Destroys an account's key, and leaves the record of its erasure. @throws {Error} the record is not there */
export async function eraseKey(records: KeyRecords, accountId: string): Promise<void> {
  const erased = `${accountId}.erased`;
  // First of all: from then on nobody makes a new key, whatever happens to this process.
  await records.create(erased, 'erased');
  await records.remove(`${accountId}.key`);
  if ((await records.read(erased)) === undefined) throw unlike(erased);
}

const unlike = (name: string): Error =>
  new Error(
    `The record ${name} of the new keyring is another one: name a place without a keyring.`,
  );

/** The part of a log that says whose keys there must be. */
export class KeyHolders {
  /** The name that the log got at its first start. */
  openedAs: string | undefined;
  /** The id of its keyring, where it was recorded. */
  keyring: string | undefined;
  readonly open = new Set<string>();
  readonly erased = new Set<string>();

  take(entries: readonly Entry[]): void {
    for (const { event } of entries) this.#take(event);
  }

  #take(event: Entry['event']): void {
    // Few events matter, and the rest need not be readable by this release.
    if (!['LogOpened', 'AccountOpened', 'AccountErased'].includes(event.type)) return;
    const { type, data } = decodeEvent({ ...event, position: 0n });
    if (type === 'LogOpened') {
      this.openedAs = data.origin;
      this.keyring = data.keyring;
    } else if (type === 'AccountOpened') {
      this.open.add(data.accountId);
    } else if (type === 'AccountErased') {
      this.open.delete(data.accountId);
      this.erased.add(data.accountId);
    }
  }
}
