/**
 * Brings a backup into empty stores. See docs/decisions/0045-backups.md. The barrier keeps services off until the last
 * step, and each step is safe to repeat: the same command resumes a restore that was killed.
 */

import { operatorContext, orThrow } from '../actors/command-context.ts';
import type { ActorSystem } from '../actors/system.ts';
import type { ListedKeyRecords } from '../documents/keys/port.ts';
import type { BlobStore } from '../documents/port.ts';
import { accountAggregate } from '../domain/account.ts';
import { holdInForce } from '../domain/hold.ts';
import { CERTIFICATE_ID } from '../domain/ids.ts';
import type { CopyableEventStore } from '../event-store/port.ts';
import { continueLog } from '../log/log-origin.ts';
import type { Clock } from '../time/clock.ts';
import { type CopyProgress, copy, telling } from './copy.ts';
import { DocumentCopies, each } from './documents.ts';
import { ownersOf, type StoredKeyring } from './keyring-file.ts';
import { eraseKey, putRecord } from './keys.ts';
import type { BackupPlace } from './places/port.ts';
import type { RestorePlan } from './restore-plan.ts';
import { incomplete, StoreCopy } from './store-copy.ts';
import { foreignKeyring } from './verify-keyring.ts';

const CERTIFICATE = new RegExp(`^${CERTIFICATE_ID}$`);

export interface RestoreTarget {
  readonly store: CopyableEventStore;
  readonly blobs: BlobStore;
  readonly actors: ActorSystem;
  readonly clock: Clock;
  readonly keys: ListedKeyRecords;
  /** Removes the checkpoint that this node signed or saw last: it is of the name before. */
  forgetLastCheckpoint(): Promise<void>;
}

export interface RestoreOptions {
  /** The log goes on under another name: it may be behind what was signed. */
  readonly newOrigin: boolean;
  readonly onEvents: (progress: CopyProgress) => void;
  readonly onDocuments: (done: number, total: number) => void;
}

export interface Restored {
  readonly documents: number;
  /** Documents that the log names and the backup no longer has: they were deleted after that moment. */
  readonly missing: number;
  /** Accounts that are erased, and were open at the end of the restored log. */
  readonly erased: readonly string[];
  /** Certificates whose keys are destroyed, and that signed at the end of the restored log. */
  readonly certificates: readonly string[];
  /** The name that the log goes on under. */
  readonly origin: string;
}

/** @throws {Error} one line: a store is not empty, or the keyring is not the log's */
export async function restore(
  plan: RestorePlan,
  keyring: StoredKeyring,
  from: BackupPlace,
  target: RestoreTarget,
  { newOrigin, onEvents, onDocuments }: RestoreOptions,
): Promise<Restored> {
  const { store, actors, clock } = target;
  const erased = await erasedOwners(plan, keyring, target);
  checkKeysOf(plan, keyring, erased);
  const subject = `the backup ${plan.manifest.id} (${plan.events} events)`;
  const checked = `${subject}, with all of it`;
  const barrier = await store.barrier();
  const isCopied = barrier?.kind === 'incomplete' && barrier.subject === checked;
  const log = isCopied ? undefined : await StoreCopy.begin(store, subject);
  if (!(await target.blobs.claim(plan.firstEvent))) {
    throw new Error('The blob store belongs to another event log: name an empty one.');
  }
  await restoreKeys(keyring, erased, target);
  const { documents, missing } = await copyDocuments(plan, erased, from, target, onDocuments);
  if (log) {
    await copy(telling(plan.entries(), plan.events, onEvents), log);
    await log.verify(plan);
    await store.setBarrier(incomplete(checked));
  }
  let { origin } = plan;
  if (newOrigin) {
    origin = await continueLog({ actors, clock }, plan.origin, plan.checkpoint);
    await target.forgetLastCheckpoint();
  }
  const open = [...erased].filter((owner) => plan.open.has(owner));
  const accounts = open.filter((owner) => plan.open.get(owner) === owner);
  for (const account of accounts) await eraseAgain(account, target);
  const certificates = open.filter((owner) => CERTIFICATE.test(owner));
  for (const certificate of certificates)
    await removeAgain(plan.open.get(certificate) ?? '', certificate, target);
  await store.setBarrier(undefined);
  return { documents, missing, erased: accounts, certificates, origin };
}

/**
 * @param masterKey tells the master key of the settings from others
 * @throws {Error} one line: the keyring is not the one of the log or of this master key
 */
export function checkKeyringFile(
  plan: RestorePlan,
  keyring: StoredKeyring,
  masterKey: string,
): void {
  if (keyring.masterKey !== masterKey) {
    throw new Error(
      'The keyring was wrapped by another master key: set MASTER_KEY to that one, or put its master.key into DATA_DIR.',
    );
  }
  const foreign = foreignKeyring(keyring, plan);
  if (foreign === undefined) return;
  throw new Error(
    `The keyring is not the one of the log ${plan.openedAs}, but ${foreign}: name that one.`,
  );
}

/** All whose keys the log, the keyring's file or the keyring at the target says are erased. */
async function erasedOwners(
  { erased }: RestorePlan,
  keyring: StoredKeyring,
  { keys }: RestoreTarget,
): Promise<ReadonlySet<string>> {
  const names = [...keyring.records.keys(), ...(await keys.names())];
  return new Set([...erased.keys(), ...ownersOf(names, 'erased')]);
}

/** @throws {Error} one line: a key would be missing */
function checkKeysOf(
  { open }: RestorePlan,
  keyring: StoredKeyring,
  erased: ReadonlySet<string>,
): void {
  const known = ownersOf(keyring.records.keys(), 'keys');
  const lacking = [...open.keys()].filter((owner) => !known.has(owner) && !erased.has(owner));
  if (lacking.length === 0) return;
  throw new Error(
    `The keyring lacks the key of ${lacking[0]}${lacking.length === 1 ? '' : ` and of ${lacking.length - 1} more`}: ` +
      'it is older than the log. Name a newer one, or restore to an earlier moment with --as-of.',
  );
}

/** Tombstones first. No key that was erased is written, and one that is there is destroyed. */
async function restoreKeys(
  { records }: StoredKeyring,
  erased: ReadonlySet<string>,
  { keys }: RestoreTarget,
): Promise<void> {
  for (const owner of erased) await eraseKey(keys, owner);
  for (const [name, text] of records) {
    const isErased = erased.has(name.replace(/\.(key|erased)$/, ''));
    if (isErased || (await putRecord(keys, name, text))) continue;
    throw new Error(
      'The keyring of the settings holds other keys than the one to be restored: name an empty place.',
    );
  }
}

async function copyDocuments(
  { kept }: RestorePlan,
  erased: ReadonlySet<string>,
  from: BackupPlace,
  { blobs }: RestoreTarget,
  onProgress: RestoreOptions['onDocuments'],
): Promise<{ readonly documents: number; readonly missing: number }> {
  const wanted = [...kept.all()].filter(([{ account }]) => !erased.has(account));
  const counts = { documents: 0, missing: 0 };
  const copies = new DocumentCopies(from.documents, blobs);
  await each(wanted, async ([, { ref }]) => {
    if ((await copies.copy(ref)) === 'missing') counts.missing += 1;
    else counts.documents += 1;
    onProgress(counts.documents + counts.missing, wanted.length);
  });
  return counts;
}

/** Its key is gone. The service then does the rest, as of every erasure that was cut off. */
async function eraseAgain(accountId: string, { actors, clock }: RestoreTarget): Promise<void> {
  const now = clock.now();
  const { state } = await actors.read(accountAggregate, accountId);
  if (state.status !== 'open') return;
  if (holdInForce(state, now) !== undefined) {
    const release = { type: 'ReleaseHold', accountId, now } as const;
    orThrow(await actors.send(accountAggregate, accountId, release, operatorContext(clock)));
  }
  const erase = { type: 'EraseAccount', accountId, now } as const;
  orThrow(await actors.send(accountAggregate, accountId, erase, operatorContext(clock)));
}

/** Its key is gone, so it signs no more. */
async function removeAgain(
  accountId: string,
  certificateId: string,
  { actors, clock }: RestoreTarget,
): Promise<void> {
  const { state } = await actors.read(accountAggregate, accountId);
  if (state.status !== 'open' || state.signature?.certificateId !== certificateId) return;
  const remove = { type: 'RemoveSignature', accountId, now: clock.now() } as const;
  orThrow(await actors.send(accountAggregate, accountId, remove, operatorContext(clock)));
}
