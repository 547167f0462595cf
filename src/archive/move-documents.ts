/** Copies documents from one blob store to another, as encrypted as they are, and reads each back. */
import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { BlobDamaged, type BlobKind, BlobNotFound, type BlobStore } from '../blob-store/port.ts';
import { parseBlobKey } from '../domain/blob-key.ts';
import type { BlobRef } from '../domain/events.ts';
import type { EventStore } from '../event-store/port.ts';
import { isDeletedNow, isDeletionDue } from '../use-cases/verify-log/documents.ts';
import type { KeptConversion, NamedBlob } from '../use-cases/verify-log/rules.ts';
import type { Journal } from './move-journal.ts';

/** Conversions whose files are copied at a time. */
const AT_ONCE = 8;
/** Larger ones go by way of a file instead of memory. */
const SMALL_BYTES = 1024 * 1024;

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
  deps: Dependencies,
): Promise<MovedDocuments> {
  const { journal, events, onProgress } = deps;
  const moved: MovedDocuments = { copied: 0, found: 0, bytes: 0, lost: [] };
  const directory = journal.workDirectory();
  const copyAll = async (some: readonly KeptConversion[]): Promise<void> => {
    await Promise.all(some.map((kept) => copyConversion(kept, { ...deps, directory }, moved)));
    const lastId = some.at(-1)?.id;
    // The next call looks again for documents that are lost.
    if (lastId !== undefined && moved.lost.length === 0) journal.reached(events, lastId);
    onProgress(moved.copied + moved.found);
  };
  let some: KeptConversion[] = [];
  for (const kept of conversions) {
    some.push(kept);
    if (some.length < AT_ONCE) continue;
    await copyAll(some);
    some = [];
  }
  await copyAll(some);
  if (moved.lost.length === 0) journal.completed(events);
  return moved;
}

async function copyConversion(
  kept: KeptConversion,
  deps: Dependencies & { readonly directory: string },
  moved: MovedDocuments,
): Promise<void> {
  for (const { ref, at } of kept.conversion.blobs ?? ([] as readonly NamedBlob[])) {
    if (deps.journal.has(kept.id, Number(at['index']))) {
      moved.found += 1;
      continue;
    }
    try {
      if (await holds(deps.to, ref)) moved.found += 1;
      else {
        await copy(ref, deps);
        moved.copied += 1;
        moved.bytes += ref.bytes;
      }
    } catch (error) {
      if (error instanceof BlobNotFound) {
        const isGone =
          isDeletionDue(kept, deps.dueBefore) || (await isDeletedNow(kept, deps.store));
        if (!isGone) moved.lost.push(ref.key);
      } else if (error instanceof BlobDamaged) moved.lost.push(ref.key);
      else throw error;
    }
  }
}

/** @throws {BlobNotFound} @throws {BlobDamaged} the old place does not have it as its event says */
async function copy(
  ref: BlobRef,
  { from, to, directory }: Pick<Dependencies, 'from' | 'to'> & { readonly directory: string },
): Promise<void> {
  const { conversionId = '', name = '' } = parseBlobKey(ref.key) ?? {};
  const kind = name.slice(0, name.indexOf('-')) as BlobKind;
  // A damaged file at the new place stays until the content was read: both places may be one folder.
  if (ref.bytes <= SMALL_BYTES) {
    const content = await from.read(ref);
    await to.delete(ref.key);
    await to.stage(conversionId, kind, content).store();
  } else {
    const path = join(directory, randomUUID());
    const measured = new Measured();
    const content = measured.through((await from.open(ref)) as AsyncIterable<Buffer>);
    await pipeline(content, createWriteStream(path, { mode: 0o600 }));
    if (!measured.isOf(ref)) throw new BlobDamaged(`${ref.key} is damaged.`);
    await to.delete(ref.key);
    await to.adopt(conversionId, kind, { path, sha256: ref.sha256, bytes: ref.bytes });
  }
  if (!(await holds(to, ref))) {
    throw new Error(
      `${ref.key} does not read as it was written: the new place for documents cannot be used.`,
    );
  }
}

/** True if the whole content is there, as its event says. */
async function holds(blobs: BlobStore, ref: BlobRef): Promise<boolean> {
  try {
    if (!(await blobs.exists(ref))) return false;
    const measured = new Measured();
    for await (const chunk of (await blobs.open(ref)) as AsyncIterable<Buffer>) measured.add(chunk);
    return measured.isOf(ref);
  } catch (error) {
    if (error instanceof BlobDamaged || error instanceof BlobNotFound) return false;
    throw error;
  }
}

class Measured {
  readonly #hash = createHash('sha256');
  #bytes = 0;

  async *through(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of content) {
      this.add(chunk);
      yield chunk;
    }
  }

  add(chunk: Buffer): void {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
  }

  /** Is asked once, at the end. */
  isOf({ bytes, sha256 }: BlobRef): boolean {
    return this.#bytes === bytes && this.#hash.digest('hex') === sha256;
  }
}
