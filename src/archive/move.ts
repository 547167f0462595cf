/**
 * Moves a log with its documents and keys to other places. Each call goes through the whole log, copies what is not
 * there yet and compares what is. See docs/decisions/0039-moving.md.
 */

import { copyableCommand } from '../config/copyable-command.ts';
import type { KeyRecords } from '../documents/keys/port.ts';
import type { BlobStore } from '../documents/port.ts';
import type { CopyableEventStore } from '../event-store/port.ts';
import { Broken } from '../log/verify-log/difference.ts';
import { LogRules } from '../log/verify-log/rules.ts';
import { CheckedLog, type LogEntry } from './checked-log.ts';
import { type CopyProgress, copy, type LogTarget } from './copy.ts';
import { copyIdentity, copyKeys, KeyHolders } from './keys.ts';
import { type Entry, endOf, LinesHash, type Totals } from './log-lines.ts';
import { copyDocuments, Journal, type MovedDocuments } from './move-documents.ts';
import { firstOf, holdsCopy, sizeOf, subjectOf } from './move-marks.ts';
import { incomplete, StoreCopy } from './store-copy.ts';

/** One part of a deployment, and the place that it goes to, in the operator's words. */
export interface Transfer<T> {
  readonly from: T;
  readonly to: T;
  readonly place: string;
}

/** A part that stays is absent. */
export interface MoveParts {
  readonly store: CopyableEventStore;
  readonly events?: Transfer<CopyableEventStore>;
  readonly documents?: Transfer<BlobStore>;
  readonly keys?: Transfer<KeyRecords>;
  /** All of the new place, in the operator's words. */
  readonly place: string;
  /** The data directory that the commands in messages name. */
  readonly oldDataDir: string;
  /** The new data directory. */
  readonly dataDir: string;
  /** The record in a keyring that says where it was moved, and at how many events of the log. */
  readonly movedRecord: string;
  /** Keeps the log's newest checkpoint in the new data directory. */
  readonly keepCheckpoint: (note: string) => Promise<void>;
  readonly retentionMs: number;
}

export interface MoveOptions {
  /** Copies beside a running service, and leaves the old place in use. */
  readonly ahead: boolean;
  /** Goes on although documents are lost. */
  readonly leaveLost: boolean;
  readonly now: number;
  readonly onEvents: (progress: CopyProgress) => void;
  readonly onKeys: (done: number, total: number) => void;
  readonly onDocuments: (files: number) => void;
}

export interface Moved extends Totals {
  readonly found: number;
  readonly accounts: number;
  readonly lostKeys: readonly string[];
  readonly documents?: MovedDocuments;
}

/** @throws {Error} one line: the places cannot be used, or are not what they must be in the end */
export async function move(parts: MoveParts, options: MoveOptions): Promise<Moved> {
  const { store, events, documents, keys } = parts;
  const first = await firstOf(store);
  const subject = subjectOf(first);
  if (events) await takeUpIfMoved(events, subject);
  const target = events && (await StoreCopy.begin(events.to, subject));
  if (documents && !(await documents.to.claim(first.id))) {
    throw new Error(
      `The documents in ${documents.place} belong to another log: name an empty place.`,
    );
  }
  if (keys) await copyIdentity(keys.from, keys.to, keys.place);
  // The old event store takes nothing from here on, also from a service that has it open.
  if (!options.ahead) await events?.from.setBarrier({ kind: 'moving', subject: parts.place });
  const journal = new Journal(parts.dataDir, `${subject}, to ${documents?.place}`);
  const rules = new LogRules({ keepsBlobs: documents !== undefined });
  try {
    return await pass(parts, options, { target, rules, journal });
  } finally {
    rules.close();
  }
}

/** A call may have been killed after its last step: the next one looks at all of it once more. */
async function takeUpIfMoved(
  { from, to, place }: Transfer<CopyableEventStore>,
  subject: string,
): Promise<void> {
  const isMoved = (await from.barrier())?.kind === 'moved';
  if (!isMoved || (await to.barrier()) !== undefined || !(await holdsCopy({ from, to }))) return;
  if ((await sizeOf(to)) > (await sizeOf(from))) {
    throw new Error(
      `The log was moved to ${place} and has gone on there: start with its settings.`,
    );
  }
  await to.setBarrier(incomplete(subject));
}

interface Copying {
  readonly target: StoreCopy | undefined;
  readonly rules: LogRules;
  readonly journal: Journal;
}

/** Goes through the whole log, and at the end, unless it is ahead of it, closes the old place and opens the new one. */
async function pass(
  parts: MoveParts,
  options: MoveOptions,
  { target, rules, journal }: Copying,
): Promise<Moved> {
  const { store, documents, keys, oldDataDir, retentionMs } = parts;
  const log = new CheckedLog(store);
  const [holders, hash] = [new KeyHolders(), new LinesHash()];
  const targets = [
    ...(target ? [target] : []),
    hash,
    holders,
    checking(rules, oldDataDir),
    ...(documents ? [deleting(documents.to, journal.through)] : []),
  ];
  const head = await store.head();
  await copy<LogEntry>(log.rest(0n, options.onEvents), ...targets);
  const copied = keys && (await copyKeys(keys, holders, options.onKeys));
  const { accounts, lostKeys } = copied ?? { accounts: 0, lostKeys: [] };
  const moved =
    documents &&
    (await copyDocuments(rules.keptConversions(), {
      ...documents,
      store,
      journal,
      events: log.tree.size,
      retention: { now: options.now, retentionMs },
      onProgress: options.onDocuments,
    }));
  const totals = { ...endOf(log.tree), sha256: hash.hex(), checkpoint: log.newest ?? null };
  if (!options.ahead) {
    await target?.verify(totals);
    if ((await store.head()) !== head) {
      throw new Error(
        'The old event store was written to meanwhile: stop every node of this deployment, and repeat the command.',
      );
    }
    const lost = [...(moved?.lost ?? []), ...lostKeys.map(keyOf)];
    if (!options.leaveLost) refuseLost(lost, oldDataDir);
    await switchOver(parts, totals);
    journal.remove();
  }
  const found = target?.found ?? 0;
  return { ...totals, found, accounts, lostKeys, ...(moved && { documents: moved }) };
}

/** Refuses what no log has. */
function checking(rules: LogRules, dataDir: string): LogTarget<LogEntry> {
  let index = 0;
  const check = (event: LogEntry['event']): void => {
    try {
      rules.check(event, index);
      index += 1;
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      throw new Error(
        `The log is not as it must be (event of index ${index}: ${error.message}): ` +
          `\`${copyableCommand(dataDir, 'verify')}\` says more.`,
        { cause: error },
      );
    }
  };
  return { take: (entries) => entries.forEach(({ event }) => check(event)) };
}

/**
 * Deletes what was deleted since: an earlier pass may have copied it.
 * @param from the index of the first event that no pass has come to the end of
 */
function deleting(documents: BlobStore, from: number): LogTarget<Entry> {
  let index = 0;
  const take = async (entries: readonly Entry[]): Promise<void> => {
    for (const { event } of entries) {
      if (event.type === 'ConversionExpired' && index >= from) {
        const { conversionId } = event.data as { readonly conversionId: string };
        await documents.deleteAll(conversionId);
      }
      index += 1;
    }
  };
  return { take };
}

/** @throws {Error} one line: the old place lacks what the log names */
function refuseLost(lost: readonly string[], dataDir: string): void {
  if (lost.length === 0) return;
  throw new Error(
    `The old place lacks ${lost.length} of what the log names, or has it damaged (${lost.slice(0, 3).join(', ')}): ` +
      `restore it, or give --leave-lost to move without. \`${copyableCommand(dataDir, 'verify', '--documents')}\` says more.`,
  );
}

/** The order matters: each call that was killed on the way finds the old place closed. */
async function switchOver(
  { events, keys, movedRecord, place, keepCheckpoint }: MoveParts,
  { events: size, checkpoint }: Totals,
): Promise<void> {
  if (checkpoint !== null) await keepCheckpoint(checkpoint);
  await keys?.to.remove(movedRecord);
  await keys?.from.create(movedRecord, `${place}\n${size}`);
  await events?.from.setBarrier({ kind: 'moved', subject: place });
  await events?.to.setBarrier(undefined);
}

/** The key of an owner, in words. */
export const keyOf = (owner: string): string => `the key of ${owner}`;
