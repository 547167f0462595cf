/** A deployment on one machine with a long past, and moves of it that are killed in the middle. */
import { createHash } from 'node:crypto';
import { existsSync, globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { appendSteps } from '../../bench/made-up-log.ts';
import { EmbeddedBlobStore } from '../../src/documents/embedded.ts';
import { FileBlobStore } from '../../src/documents/files.ts';
import { fileKeyring } from '../../src/documents/keys/file-records.ts';
import { loadMasterKey } from '../../src/documents/keys/master-key.ts';
import type { StagedBlob } from '../../src/documents/port.ts';
import type { BlobKind } from '../../src/domain/blob-key.ts';
import type { DomainEvent } from '../../src/domain/events.ts';
import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import { cliJson } from './cli.ts';
import {
  completion,
  expiry,
  failure,
  opening,
  refund,
  request,
  type Step,
  start,
} from './history.ts';
import { killCommand, LONG_MS } from './killed-command.ts';
import type { Place } from './place.ts';
import { accountId, conversionId } from './samples.ts';

const EVENTS_PER_CONVERSION = 5;
const ACCOUNTS = 20;
const FAILED_OF = 20;
/** One document of so many is large. */
const LARGE_OF = 50;
const LARGE_BYTES = 1_500_000;
/** Nothing of the past is due for deletion. */
export const KEPT = { RETENTION_SECONDS: '3153600000' };

export interface Verified {
  readonly events: number;
  readonly root: string;
  readonly checkpoints: number;
  readonly seconds: number;
  readonly documents: { readonly files: number; readonly bytes: number };
}

/** Bytes that follow from the number and kind alone. */
function contentOf(n: number, kind: BlobKind): Buffer {
  const seed = createHash('sha512').update(`${kind} ${n}`).digest();
  const large = n % LARGE_OF === 0 ? LARGE_BYTES : 20_000 + 37 * (n % 1000);
  return Buffer.alloc(kind === 'document' ? large : 700, seed);
}

function* stepsOf(conversions: number, documents: number): Generator<Step> {
  for (let n = 1; n <= ACCOUNTS; n += 1) yield opening(n, conversions);
  for (let n = 1; n <= conversions; n += 1) {
    const account = 1 + (n % ACCOUNTS);
    yield request(n, account);
    yield start(n, account);
    if (n > documents && n % FAILED_OF === 0) {
      yield failure(n, account);
      yield refund(n, account);
    } else yield completion(n, account);
    if (n > documents) yield expiry(n, account);
  }
}

/** A log of about so many events, signed, with so many conversions that have all their documents. */
export async function makeMovable(
  place: Place,
  events: number,
  documents: number,
): Promise<Verified> {
  await cliJson(place, ['account', 'create', 'ann@example.com']);
  const keyring = fileKeyring(join(place.dataDir, 'keyring'), loadMasterKey(place.dataDir));
  for (let n = 1; n <= ACCOUNTS; n += 1) await keyring.makeKey(accountId(n));
  const database = openEmbeddedDatabase(join(place.dataDir, 'pressledger.db'));
  const store = new SqliteEventStore(database);
  const blobs = new EmbeddedBlobStore(
    database,
    await FileBlobStore.open(join(place.dataDir, 'blobs')),
  );
  const numbers = new Map(
    Array.from({ length: documents }, (_, n) => [conversionId(n + 1), n + 1]),
  );
  const staged: StagedBlob[] = [];
  const stage = (n: number, kind: BlobKind): StagedBlob => {
    const blob = blobs.stage(conversionId(n), kind, contentOf(n, kind));
    staged.push(blob);
    return blob;
  };
  const withContent = (event: DomainEvent): DomainEvent => {
    const n = 'conversionId' in event.data ? numbers.get(event.data.conversionId) : undefined;
    if (n === undefined) return event;
    if (event.type === 'ConversionRequested') {
      return { ...event, data: { ...event.data, request: stage(n, 'request').ref } };
    }
    if (event.type !== 'ConversionCompleted') return event;
    const [document, manifest] = [stage(n, 'document').ref, stage(n, 'manifest').ref];
    return { ...event, data: { ...event.data, document, manifest } };
  };
  function* steps(): Generator<Step> {
    for (const { events: made, ...step } of stepsOf(
      Math.round(events / EVENTS_PER_CONVERSION),
      documents,
    )) {
      yield { ...step, events: (position) => made(position).map(withContent) };
    }
  }
  appendSteps(database, steps());
  while (staged.length > 0) await Promise.all(staged.splice(-100).map((blob) => blob.store()));
  await store.close();
  database.close();
  await rebuild(place);
  await cliJson(place, ['tlog', 'checkpoint']);
  return await verified(place);
}

/** Builds the read models, for which commands wait only so long. */
export async function rebuild(place: Place): Promise<void> {
  await cliJson(place, ['projections', 'rebuild'], { withinMs: LONG_MS });
}

export async function verified(place: Place): Promise<Verified> {
  const result = await cliJson(place, ['verify', '--documents'], { withinMs: LONG_MS });
  return result as Verified;
}

/** The bytes of files below a directory: they grow while something is written there. */
export function bytesBelow(directory: string): number {
  if (!existsSync(directory)) return 0;
  const files = globSync(join(directory, '**/*'));
  return files.reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

/** The share of the time that may go into looking how far a move is: servers of the test run in this process. */
const LOOKING = 0.1;

/** Looks whether so much has come, as seldom as a look takes long. */
function isReached(written: () => number, bytes: number): () => boolean {
  let nextAt = 0;
  return () => {
    const began = performance.now();
    if (began < nextAt) return false;
    const reached = written() > bytes;
    const ended = performance.now();
    nextAt = ended + (ended - began) / LOOKING;
    return reached;
  };
}

/**
 * Runs a move that is killed each time that so much more has come to its new place, and once more to its end.
 * @param written what has come there, as a number that grows; also for what a move does that copies nothing
 * @param most it is left alone after so many kills
 * @returns how often it was killed, and the seconds of the last run
 * @throws {Error} the last run failed
 */
export async function killedMove(
  place: Place,
  args: readonly string[],
  written: () => number,
  step: number,
  most: number,
): Promise<{ readonly kills: number; readonly seconds: number }> {
  for (let kills = 0; ; kills += 1) {
    const [before, began] = [written(), performance.now()];
    const isDue = kills < most ? isReached(written, before + step) : () => false;
    const wasKilled = await killCommand(place, ['move', ...args], isDue);
    if (!wasKilled) return { kills, seconds: (performance.now() - began) / 1000 };
  }
}
