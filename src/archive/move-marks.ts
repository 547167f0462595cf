/** The marks that a move leaves in the old place, and what takes a move back by them. */

import type { KeyRecords } from '../documents/keys/port.ts';
import type { Barrier, CopyableEventStore, RecordedEvent } from '../event-store/port.ts';
import { eraseKey, KeyHolders } from './keys.ts';
import { eventsOf, incomplete, refuseOtherLog } from './store-copy.ts';

/** A part of the deployment in both places. */
interface Both<T> {
  readonly from: T;
  readonly to: T;
}

/** The old place: the keyring is absent where it stays. */
interface OldPlace {
  readonly store: CopyableEventStore;
  readonly keys: Pick<KeyRecords, 'read'> | undefined;
  readonly movedRecord: string;
}

/**
 * Looks whether the log was moved to another place, where it may have gone on, before anything is made in a new one.
 * @param place of this call, in the words of the one before
 * @throws {Error} one line that names the right place
 */
export async function refuseOtherPlace(
  { store, keys, movedRecord }: OldPlace,
  place: string,
  cancels: boolean,
): Promise<void> {
  const barrier = await store.barrier();
  const ofLog = barrier?.kind === 'incomplete' ? undefined : barrier?.subject;
  const moved = ofLog ?? (await keys?.read(movedRecord))?.split('\n', 1)[0];
  if (moved === place || (moved === undefined && !cancels)) return;
  if (moved === undefined) {
    throw new Error(
      `This log was not moved to ${place}, or that move was taken back before: start with the old settings.`,
    );
  }
  throw new Error(
    `${ofLog === undefined ? 'The documents and keys of this log were' : 'This log was'} moved to ${moved}, and not to ${place}: ` +
      (cancels
        ? 'give the options that the move was called with, and --cancel.'
        : 'move from there, or take that move back first, with the options that it was called with and --cancel.'),
  );
}

/**
 * Looks at the event store of the new place before anything is made there.
 * @param there undefined if it is not there yet
 * @throws {Error} one line: it holds something else, or lacks what was moved there
 */
export async function checkNewStore(
  from: CopyableEventStore,
  there: CopyableEventStore | undefined,
  cancels: boolean,
): Promise<void> {
  const isMoved = (await from.barrier())?.kind === 'moved';
  const holds = there !== undefined && (await holdsCopy({ from, to: there }));
  if (holds && (cancels || isMoved)) return;
  if (!cancels) {
    if (there !== undefined) await refuseOtherLog(there, subjectOf(await firstOf(from)));
    return;
  }
  const isEmpty = there === undefined || (await there.head()) === 0n;
  if (!isEmpty)
    throw new Error('The new place holds another log, so the move cannot be taken back.');
  // A move that has not ended may have copied nothing yet.
  if (!isMoved) return;
  throw new Error(
    'The new place is empty, though the log was moved there and may have gone on: mount or restore it. ' +
      'If it is lost, repeat the command without --cancel: that moves the log there once more.',
  );
}

/**
 * Takes a move back, after both places were checked: the old place is in use again, and the new one holds a copy that
 * is not complete. Safe to repeat: the mark that names the new place goes last.
 * @throws {Error} one line: the log has gone on since
 */
export async function cancelMove({
  store,
  events,
  keys,
  movedRecord,
}: {
  readonly store: CopyableEventStore;
  readonly events?: Both<CopyableEventStore>;
  readonly keys?: Both<KeyRecords>;
  readonly movedRecord: string;
}): Promise<void> {
  await refuseIfMovedOn(await events?.to.barrier(), await keys?.to.read(movedRecord));
  if (events && (await holdsCopy(events))) {
    await refuseIfGoneOn(events);
    await events.to.setBarrier(incomplete(subjectOf(await firstOf(store))));
  }
  if (keys) {
    const [, size = '0'] = (await keys.from.read(movedRecord))?.split('\n') ?? [];
    if (!events) await refuseIfLonger(store, Number(size));
    await carryErasures(store, keys);
    await keys.from.remove(movedRecord);
  }
  await events?.from.setBarrier(undefined);
}

/** No key comes back whose erasure the log has begun, or the new keyring knows. */
async function carryErasures(
  store: CopyableEventStore,
  { from, to }: Both<KeyRecords>,
): Promise<void> {
  const holders = new KeyHolders();
  for await (const event of eventsOf(store)) holders.take([{ event }]);
  for (const owner of holders.erased.keys()) await eraseKey(from, owner);
  for (const owner of holders.open.keys()) {
    if ((await to.read(`${owner}.erased`)) !== undefined) await eraseKey(from, owner);
  }
}

/** @throws {Error} one line: there is a third place, where the log may have gone on */
async function refuseIfMovedOn(barrier: Barrier | undefined, record = ''): Promise<void> {
  const onward = barrier?.kind === 'incomplete' ? undefined : barrier?.subject;
  const place = onward ?? record.split('\n', 1)[0] ?? '';
  if (place === '') return;
  throw new Error(
    `From the new place it was moved on to ${place}: take that move back first, with the settings of the new place.`,
  );
}

/** @throws {Error} one line: the new place was in use */
async function refuseIfLonger(store: CopyableEventStore, before: number): Promise<void> {
  const size = await sizeOf(store);
  if (size <= before) return;
  throw new Error(
    `The log has gone on since the documents and keys were moved (${size} events now, ${before} then), so the move ` +
      'cannot be taken back: with the new settings, move them back or to another place instead.',
  );
}

async function refuseIfGoneOn({ from, to }: Both<CopyableEventStore>): Promise<void> {
  const [old, copied] = [await sizeOf(from), await sizeOf(to)];
  if (copied <= old) return;
  throw new Error(
    `The log has gone on in the new place (${copied} events there, ${old} here), so the move cannot be taken back: ` +
      'move the log from there to an empty store instead.',
  );
}

/** False where `to` is empty, and where it holds another log, which no barrier of this one may close. */
export async function holdsCopy({ from, to }: Both<CopyableEventStore>): Promise<boolean> {
  const [[ours], [theirs]] = [await from.readAll({ limit: 1 }), await to.readAll({ limit: 1 })];
  return ours !== undefined && ours.id === theirs?.id;
}

/** @throws {Error} one line: there is none */
export async function firstOf(store: CopyableEventStore): Promise<RecordedEvent> {
  const [first] = await store.readAll({ limit: 1 });
  if (first !== undefined) return first;
  throw new Error('The log is empty, so there is nothing to move: start with the new settings.');
}

/** Names the log in the barrier of its copy. */
export const subjectOf = ({ id }: RecordedEvent): string =>
  `the log that begins with the event ${id}`;

export async function sizeOf(store: CopyableEventStore): Promise<number> {
  let size = 0;
  for await (const _ of eventsOf(store)) size += 1;
  return size;
}
