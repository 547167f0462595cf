/** Copies the documents of a move, and goes on where the journal says that an earlier call has come to. */
import type { BlobStore } from '../documents/port.ts';
import type { EventStore } from '../event-store/port.ts';
import { groupsOf, isDeletedNow, isDeletionDue } from '../log/verify-log/documents.ts';
import type { KeptConversion } from '../log/verify-log/states.ts';
import { DocumentCopies } from './documents.ts';
import type { Journal } from './move-journal.ts';

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
  readonly dueBefore: number;
  readonly onProgress: (files: number) => void;
}

export async function copyDocuments(
  conversions: Iterable<KeptConversion>,
  { from, to, store, journal, events, dueBefore, onProgress }: Dependencies,
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
          (isDeletionDue(kept, dueBefore) || (await isDeletedNow(kept, store)));
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
