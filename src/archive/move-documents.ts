/**
 * Copies the documents of a move, and resumes where an earlier call has come to: a journal in the new data directory
 * says so.
 */

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BlobStore } from '../documents/port.ts';
import type { EventStore } from '../event-store/port.ts';
import {
  groupsOf,
  isDeletedNow,
  isDeletionDue,
  type Retention,
} from '../log/verify-log/documents.ts';
import type { KeptConversion } from '../log/verify-log/states.ts';
import { DocumentCopies } from './documents.ts';

export interface MovedDocuments {
  /** Files that this call has copied, and those that were there. */
  copied: number;
  found: number;
  bytes: number;
  /** Keys of files that the log names, that are not due for deletion, and that the old place lacks or has damaged. */
  readonly lost: string[];
}

interface Dependencies {
  readonly from: BlobStore;
  readonly to: BlobStore;
  readonly store: Pick<EventStore, 'readStream'>;
  readonly journal: Journal;
  /** Number of the log's events that were read. */
  readonly events: number;
  readonly retention: Retention;
  readonly onProgress: (files: number) => void;
}

export async function copyDocuments(
  conversions: Iterable<KeptConversion>,
  { from, to, store, journal, events, retention, onProgress }: Dependencies,
): Promise<MovedDocuments> {
  const moved: MovedDocuments = { copied: 0, found: 0, bytes: 0, lost: [] };
  const copies = new DocumentCopies(from, to, { readsBack: true });
  const copyOne = async (kept: KeptConversion): Promise<void> => {
    for (const { ref, at } of kept.conversion.blobs ?? []) {
      const isDone = journal.has(kept.id, Number(at['index']));
      const outcome = isDone ? 'was there' : await copies.attempt(ref);
      if (outcome === 'was there') moved.found += 1;
      else if (outcome === 'copied') {
        moved.copied += 1;
        moved.bytes += ref.bytes;
      } else {
        const isGone =
          outcome === 'missing' &&
          (isDeletionDue(kept, retention) || (await isDeletedNow(kept, store)));
        if (!isGone) moved.lost.push(ref.key);
      }
    }
  };
  for (const some of groupsOf(conversions)) {
    await Promise.all(some.map(copyOne));
    const lastId = some.at(-1)?.id;
    // The next call looks again for documents that are lost.
    if (lastId !== undefined && moved.lost.length === 0) journal.reached(events, lastId);
    onProgress(moved.copied + moved.found);
  }
  if (moved.lost.length === 0) journal.completed(events);
  return moved;
}

interface Done {
  /** Names the log and both places: the journal of another move does not count. */
  readonly subject: string;
  /** All files that the log's first events name were copied and read back, so many events. */
  readonly through: number;
  /** The same of so many events, for the conversions up to this id alone: how far the last pass has come. */
  readonly pass?: { readonly events: number; readonly lastId: string };
}

export class Journal {
  readonly #directory: string;
  readonly #path: string;
  #done: Done;

  constructor(dataDir: string, subject: string) {
    this.#directory = join(dataDir, 'move');
    this.#path = join(this.#directory, 'documents.json');
    const known = read(this.#path);
    this.#done = known?.subject === subject ? known : { subject, through: 0 };
  }

  get through(): number {
    return this.#done.through;
  }

  /** @param number of the event that names the file */
  has(conversionId: string, number: number): boolean {
    const { through, pass } = this.#done;
    if (number < through) return true;
    return pass !== undefined && number < pass.events && conversionId <= pass.lastId;
  }

  /** The files of conversions up to this one are done, of the log's first events. */
  reached(events: number, lastId: string): void {
    this.#write({ ...this.#done, pass: { events, lastId } });
  }

  completed(events: number): void {
    const { subject } = this.#done;
    this.#write({ subject, through: events });
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #write(done: Done): void {
    this.#done = done;
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    // Not synced: after a power failure, the files that it no longer names are copied or read once more.
    writeFileSync(`${this.#path}.new`, JSON.stringify(done), { mode: 0o600 });
    renameSync(`${this.#path}.new`, this.#path);
  }
}

function read(path: string): Done | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Done;
  } catch {
    return undefined;
  }
}
