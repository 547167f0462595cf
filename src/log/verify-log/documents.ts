/** Checks the files of the blob store against the events that name them. */
import { createHash } from 'node:crypto';
import { BlobDamaged, BlobNotFound, type BlobStore } from '../../documents/port.ts';
import { accountStream } from '../../domain/account.ts';
import { conversionStream } from '../../domain/conversion.ts';
import type { BlobRef } from '../../domain/event-fields.ts';
import { requestedRetentionMs } from '../../domain/retention.ts';
import type { EventStore } from '../../event-store/port.ts';
import { Difference } from './difference.ts';
import type { KeptConversion, NamedBlob } from './states.ts';

/** Conversions whose files are read at a time. */
const AT_ONCE = 8;

export interface VerifiedDocuments {
  readonly files: number;
  readonly bytes: number;
  /** Files that are gone because they were due for deletion, though no event says so yet. */
  readonly deletions_unrecorded: number;
}

export interface Retention {
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** The files of a completed conversion are kept so long, unless its request asked for less. */
  readonly retentionMs: number;
}

interface DocumentDependencies {
  readonly blobs: Pick<BlobStore, 'open'>;
  readonly store: Pick<EventStore, 'readStream'>;
  readonly retention: Retention;
  readonly onProgress: (files: number) => void;
}

/** @throws {Difference} a file is missing or not what its event says */
export async function verifyDocuments(
  conversions: Iterable<KeptConversion>,
  deps: DocumentDependencies,
): Promise<VerifiedDocuments> {
  const counts = { files: 0, bytes: 0, deletions_unrecorded: 0 };
  const verify = async (kept: KeptConversion): Promise<Difference | undefined> => {
    for (const blob of kept.conversion.blobs ?? []) {
      const outcome = await checkFile(blob, deps.blobs);
      if (outcome instanceof Difference) return outcome;
      if (outcome === undefined) {
        counts.files += 1;
        counts.bytes += blob.ref.bytes;
      } else if (isDeletionDue(kept, deps.retention)) {
        counts.deletions_unrecorded += 1;
      } else {
        return (await isDeletedNow(kept, deps.store)) ? undefined : missing(blob);
      }
    }
    return undefined;
  };
  for (const some of groupsOf(conversions)) {
    const found = await Promise.all(some.map(verify));
    const first = found.find((each) => each !== undefined);
    if (first !== undefined) throw first;
    deps.onProgress(counts.files);
  }
  return counts;
}

/** The conversions in groups whose files are read at a time; the last one may be empty. */
export function* groupsOf(
  conversions: Iterable<KeptConversion>,
): Generator<readonly KeptConversion[]> {
  let group: KeptConversion[] = [];
  for (const conversion of conversions) {
    group.push(conversion);
    if (group.length < AT_ONCE) continue;
    yield group;
    group = [];
  }
  yield group;
}

/** Reads a file as it is stored. @throws {BlobNotFound} @throws {BlobDamaged} @throws {BlobStoreUnavailable} */
export async function contentIn(
  blobs: Pick<BlobStore, 'open'>,
  ref: BlobRef,
): Promise<Pick<BlobRef, 'bytes' | 'sha256'>> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of (await blobs.open(ref)) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Returns undefined if the document is intact. */
async function checkFile(
  { ref, at }: NamedBlob,
  blobs: Pick<BlobStore, 'open'>,
): Promise<Difference | 'missing' | undefined> {
  const place = { file: ref.key, ...at };
  try {
    const found = await contentIn(blobs, ref);
    if (found.bytes === ref.bytes && found.sha256 === ref.sha256) return undefined;
    return new Difference(place, contentOf(ref), contentOf(found));
  } catch (error) {
    if (error instanceof BlobNotFound) return 'missing';
    if (error instanceof BlobDamaged) return new Difference(place, contentOf(ref), error.message);
    throw error;
  }
}

const contentOf = ({ bytes, sha256 }: Pick<BlobRef, 'bytes' | 'sha256'>): string =>
  `${bytes} bytes with the SHA-256 ${sha256}`;

const missing = ({ ref, at }: NamedBlob): Difference =>
  new Difference({ file: ref.key, ...at }, contentOf(ref), 'no such file');

/**
 * The files of a failure may go at any time, those that their account wants deleted at once, and others with their
 * retention; the event follows the deletion.
 */
export const isDeletionDue = (
  { conversion: { end, state, retentionSeconds } }: KeptConversion,
  { now, retentionMs }: Retention,
): boolean => {
  const keptMs = Math.min(retentionMs, requestedRetentionMs(retentionSeconds, 'completed'));
  if (state.deleted || end?.type === 'ConversionFailed') return true;
  return end !== undefined && end.at + keptMs <= now;
};

/** Says whether a service that runs has deleted it since its events were read. */
export async function isDeletedNow(
  { id, revision, conversion: { accountId }, accountRevision }: KeptConversion,
  store: Pick<EventStore, 'readStream'>,
): Promise<boolean> {
  const newer = [
    ...(await store.readStream(conversionStream(id), { from: revision + 1 })),
    ...(await store.readStream(accountStream(accountId), { from: accountRevision + 1 })),
  ];
  const deletions = ['ConversionDeleted', 'ConversionExpired', 'AccountErased'];
  return newer.some(({ type }) => deletions.includes(type));
}
