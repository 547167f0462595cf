/**
 * Moves a log with its documents and keys to other places. Each call goes through the whole log, copies what is not
 * there yet and compares what is. See docs/decisions/0039-moving.md.
 */
import type { BlobStore } from '../blob-store/port.ts';
import { copyableCommand } from '../copyable-command.ts';
import type { CopyableEventStore } from '../event-store/port.ts';
import type { KeyRecords } from '../keyring/port.ts';
import { Broken } from '../use-cases/verify-log/difference.ts';
import { LogRules } from '../use-cases/verify-log/rules.ts';
import { CheckedLog, type LogEntry } from './checked-log.ts';
import { type CopyProgress, copy } from './copy.ts';
import { copyIdentity, copyKey, eraseKey } from './keys.ts';
import { endOf, LinesHash, type Totals } from './log-lines.ts';
import { copyDocuments, type MovedDocuments } from './move-documents.ts';
import { Journal } from './move-journal.ts';
import { firstOf, holdsCopy, sizeOf, subjectOf } from './move-marks.ts';
import { incomplete, StoreCopy } from './store-copy.ts';
import { KeyHolders } from './verify-keyring.ts';

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
  const log = events && (await StoreCopy.begin(events.to, subject));
  if (documents && !(await documents.to.claim(first.id))) {
    throw new Error(
      `The documents in ${documents.place} belong to another log: name an empty place.`,
    );
  }
  if (keys) await copyIdentity(keys.from, keys.to, keys.place);
  // The old event store takes nothing from here on, also from a service that has it open.
  if (!options.ahead) await events?.from.setBarrier({ kind: 'moving', subject: parts.place });
  const journal = new Journal(parts.dataDir, `${subject}, to ${documents?.place}`);
  const pass = new Pass(parts, options, journal, log);
  try {
    return await pass.run();
  } finally {
    pass.close();
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

class Pass {
  readonly #parts: MoveParts;
  readonly #options: MoveOptions;
  readonly #journal: Journal;
  readonly #log: CheckedLog;
  readonly #rules: LogRules;
  readonly #copy: StoreCopy | undefined;
  readonly #holders = new KeyHolders();
  readonly #hash = new LinesHash();

  constructor(
    parts: MoveParts,
    options: MoveOptions,
    journal: Journal,
    target: StoreCopy | undefined,
  ) {
    this.#parts = parts;
    this.#options = options;
    this.#journal = journal;
    this.#log = new CheckedLog(parts.store);
    this.#rules = new LogRules({ keepsBlobs: parts.documents !== undefined });
    this.#copy = target;
  }

  async run(): Promise<Moved> {
    const { store } = this.#parts;
    const { ahead, onEvents } = this.#options;
    const head = await store.head();
    await copy<LogEntry>(
      this.#log.rest(0n, onEvents),
      ...(this.#copy ? [this.#copy] : []),
      this.#hash,
      {
        take: async (entries) => await this.#take(entries),
      },
    );
    const { accounts, lostKeys } = await this.#copyKeys();
    const documents = await this.#copyDocuments();
    const { tree, newest: checkpoint = null } = this.#log;
    const totals = { ...endOf(tree), sha256: this.#hash.hex(), checkpoint };
    if (!ahead) await this.#copy?.verify(totals);
    if (!ahead && (await store.head()) !== head) {
      throw new Error(
        'The old event store was written to meanwhile: stop every node of this deployment, and repeat the command.',
      );
    }
    if (!ahead) await this.#switchOver([...(documents?.lost ?? []), ...lostKeys.map(keyOf)]);
    const found = this.#copy?.found ?? 0;
    return { ...totals, found, accounts, lostKeys, ...(documents && { documents }) };
  }

  close(): void {
    this.#rules.close();
  }

  async #take(entries: readonly LogEntry[]): Promise<void> {
    const before = this.#log.tree.size - entries.length;
    const { documents } = this.#parts;
    for (const [index, { event }] of entries.entries()) {
      this.#check(event, before + index);
      this.#holders.take(event);
      // An earlier pass may have copied what was deleted since.
      if (
        event.type === 'ConversionExpired' &&
        documents &&
        before + index >= this.#journal.through
      ) {
        const { conversionId } = event.data as { readonly conversionId: string };
        await documents.to.deleteAll(conversionId);
      }
    }
  }

  #check(event: LogEntry['event'], index: number): void {
    try {
      this.#rules.check(event, index);
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      throw new Error(
        `The log is not as it must be (event of index ${index}: ${error.message}): ` +
          `\`${copyableCommand(this.#parts.oldDataDir, 'verify')}\` says more.`,
        { cause: error },
      );
    }
  }

  /** The log decides who is erased: the old keyring may be a copy from before the erasure. */
  async #copyKeys(): Promise<{ readonly accounts: number; readonly lostKeys: readonly string[] }> {
    const { keys } = this.#parts;
    const { open, erased } = this.#holders;
    const lostKeys: string[] = [];
    if (keys === undefined) return { accounts: 0, lostKeys };
    for (const account of erased) await eraseKey(keys.to, account);
    for (const account of open) {
      if (!(await copyKey(keys.from, keys.to, account))) lostKeys.push(account);
    }
    return { accounts: open.size + erased.size, lostKeys };
  }

  async #copyDocuments(): Promise<MovedDocuments | undefined> {
    const { documents, store, retentionMs } = this.#parts;
    if (documents === undefined) return undefined;
    return await copyDocuments(this.#rules.keptConversions(), {
      ...documents,
      store,
      journal: this.#journal,
      events: this.#log.tree.size,
      dueBefore: this.#options.now - retentionMs,
      onProgress: this.#options.onDocuments,
    });
  }

  /** @param lost what the log names and the old place lacks */
  async #switchOver(lost: readonly string[]): Promise<void> {
    const { events, keys, movedRecord, place, keepCheckpoint, oldDataDir } = this.#parts;
    if (lost.length > 0 && !this.#options.leaveLost) {
      throw new Error(
        `The old place lacks ${lost.length} of what the log names, or has it damaged (${lost.slice(0, 3).join(', ')}): ` +
          `restore it, or give --leave-lost to move without. \`${copyableCommand(oldDataDir, 'verify', '--documents')}\` says more.`,
      );
    }
    if (this.#log.newest !== undefined) await keepCheckpoint(this.#log.newest);
    await keys?.to.remove(movedRecord);
    await keys?.from.create(movedRecord, `${place}\n${this.#log.tree.size}`);
    await events?.from.setBarrier({ kind: 'moved', subject: place });
    await events?.to.setBarrier(undefined);
    this.#journal.remove();
  }
}

/** The key of an account, in words. */
export const keyOf = (accountId: string): string => `the key of ${accountId}`;
