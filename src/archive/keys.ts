/**
 * Copies the records of a keyring, wrapped by the master key as they are, and reads each one back. The log says whose
 * keys there must be.
 */

import type { KeyRecords } from '../documents/keys/port.ts';
import type { EventType } from '../domain/events.ts';
import { ACCOUNT_ID, SEALED_FOR_PERSON } from '../domain/ids.ts';
import { founderOf, homeOf } from '../domain/members.ts';
import { decodeEvent } from '../event-store/codec.ts';
import type { Entry } from './log-lines.ts';

/** Records that say which master key, which keyring and which log it is, and the keys that outlast a master key. */
const IDENTITY = ['master.check', 'keyring.id', 'keyring.log', 'keyring.secrets'];
const ACCOUNT = new RegExp(`^${ACCOUNT_ID}$`);
const SEALED = new RegExp(SEALED_FOR_PERSON, 's');
/** Say whose keys there are, and which keyring it is. */
const HOLDER_EVENTS: ReadonlySet<string> = new Set<EventType>([
  'LogOpened',
  'AccountOpened',
  'AccountErased',
  'EmailChangeOffered',
  'MemberInvited',
  'InvitationRevoked',
  'MemberJoined',
  'PersonNamed',
  'IdentityLinked',
  'PasskeyAdded',
  'SignUpOffered',
  'SignUpEnded',
  'PersonErased',
  'SignatureSet',
  'SignatureRemoved',
]);

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
 * Brings the key of an owner, or the record of its erasure, to the new place, and reads it back.
 * @returns false: there is neither, so what it has sealed cannot be read
 */
async function copyKey(from: KeyRecords, to: KeyRecords, owner: string): Promise<boolean> {
  const [key, erased] = [`${owner}.key`, `${owner}.erased`];
  if (((await from.read(erased)) ?? (await to.read(erased))) !== undefined) {
    await eraseKey(to, owner);
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
  const owners = [...erased.keys(), ...open.keys()];
  const lostKeys: string[] = [];
  for (const [at, owner] of owners.entries()) {
    if (erased.has(owner)) await eraseKey(to, owner);
    else if (!(await copyKey(from, to, owner))) lostKeys.push(owner);
    onProgress(at + 1, owners.length);
  }
  return { accounts: owners.filter((owner) => ACCOUNT.test(owner)).length, lostKeys };
}

/** Destroys the key of an owner, and leaves the record of its erasure. @throws {Error} the record is not there */
export async function eraseKey(records: KeyRecords, owner: string): Promise<void> {
  const erased = `${owner}.erased`;
  // First of all: from then on nobody makes a new key, whatever happens to this process.
  await records.create(erased, 'erased');
  await records.remove(`${owner}.key`);
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
  /** Owners whose keys are in use, and those whose keys are to be destroyed, with the account that each belongs to. */
  readonly open = new Map<string, string>();
  readonly erased = new Map<string, string>();

  /** Persons who have joined an account. */
  readonly #joined = new Set<string>();
  /** The certificates that sign, by account. */
  readonly #certificates = new Map<string, string>();

  take(entries: readonly Pick<Entry, 'event'>[]): void {
    for (const { event } of entries) this.#take(event);
  }

  #take(event: Entry['event']): void {
    // Few events matter, and the rest need not be readable by this release.
    if (!HOLDER_EVENTS.has(event.type)) return;
    const { type, data } = decodeEvent({ ...event, position: 0n });
    if (type === 'LogOpened') {
      this.openedAs = data.origin;
      this.keyring = data.keyring;
    } else if (type === 'AccountOpened') {
      const { accountId, email } = data;
      this.open.set(accountId, accountId);
      // Founders of older accounts have no key of their own.
      if (SEALED.test(email)) this.open.set(founderOf(accountId), accountId);
    } else if (type === 'EmailChangeOffered') {
      this.open.set(founderOf(data.accountId), data.accountId);
    } else if (type === 'AccountErased') {
      this.#endCertificate(data.accountId);
      this.#end(data.accountId);
    } else if (type === 'SignatureRemoved') this.#endCertificate(data.accountId);
    else if (type === 'SignatureSet') {
      const { accountId, certificateId } = data;
      this.#endCertificate(accountId);
      if (certificateId === undefined) return;
      this.open.set(certificateId, accountId);
      this.#certificates.set(accountId, certificateId);
    } else if (type === 'MemberInvited' || type === 'SignUpOffered') {
      this.open.set(data.personId, data.accountId);
    } else if (type === 'SignUpEnded') {
      if (!data.opened) this.#end(data.personId);
    } else if (type === 'PersonNamed' || type === 'IdentityLinked' || type === 'PasskeyAdded') {
      this.open.set(data.personId, data.accountId ?? homeOf(data.personId));
    } else if (type === 'PersonErased') this.#end(data.personId);
    // The sign-in that it had made belongs to another account.
    else if (type === 'InvitationRevoked' && this.#joined.has(data.personId)) return;
    else if (type === 'InvitationRevoked') this.#end(data.personId);
    else if (type === 'MemberJoined') {
      this.#joined.add(data.personId);
      // Somebody who has a sign-in has used it: the key of the person that it would have made is not needed.
      const { invitation, personId } = data;
      if (invitation !== undefined && invitation !== personId) this.#end(invitation);
    }
  }

  #endCertificate(accountId: string): void {
    const certificate = this.#certificates.get(accountId);
    if (certificate !== undefined) this.#end(certificate);
    this.#certificates.delete(accountId);
  }

  #end(owner: string): void {
    this.erased.set(owner, this.open.get(owner) ?? owner);
    this.open.delete(owner);
  }
}
