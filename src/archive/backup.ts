/**
 * Backs up a log and its documents, beside a running service. See docs/decisions/0045-backups.md.
 *
 * First the log up to its head, then the documents that it names: each was stored before its event. One that was
 * deleted in between is looked for until the log says so, and the backup then goes up to there.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { BlobStore } from '../documents/port.ts';
import type { BlobRef } from '../domain/event-fields.ts';
import { LOG_STREAM } from '../log/verify-log/checkpoints.ts';
import { Frontier } from '../transparency-log/merkle-tree.ts';
import { readLines, writeLines } from './blocks.ts';
import { CheckedLog, type LogReader, positionOf } from './checked-log.ts';
import { type CopyProgress, copy } from './copy.ts';
import { DocumentCopies, each } from './documents.ts';
import { isDeletionDue, KeptDocuments, MOST_PASSED_OVER } from './kept-documents.ts';
import { type Entry, endOf, parseEntry, UnusableArchive } from './log-lines.ts';
import { type Manifest, readManifest, type Segment, writeManifest } from './manifest.ts';
import type { BackupPlace } from './places/port.ts';

/** Events of a file. The last one may have fewer: the next call puts a longer one in its place. */
const SEGMENT = 10_000;
/** The wait for an event that says why a document is gone. */
const LOOKS = 20;
const LOOK_MS = 250;

export interface BackupSource {
  readonly store: LogReader;
  readonly blobs: Pick<BlobStore, 'read'>;
  /** The time that PDFs are kept. */
  readonly retentionMs: number;
}

export interface BackupOptions {
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** Looks for every document in the backup, and copies those that are missing there. */
  readonly recheck: boolean;
  readonly onEvents: (progress: CopyProgress) => void;
  readonly onDocuments: (done: number, total: number) => void;
}

export interface MadeBackup {
  readonly manifest: Manifest;
  /** Events and documents that this call has added. */
  readonly addedEvents: number;
  readonly addedDocuments: number;
  /** Conversions whose documents have left the backup. */
  readonly dropped: number;
  /** Documents that the service should have, and does not. */
  readonly lost: readonly BlobRef[];
}

/** @throws {UnusableArchive} @throws {Error} one line: the log is not as it was signed */
export async function makeBackup(
  source: BackupSource,
  place: BackupPlace,
  options: BackupOptions,
): Promise<MadeBackup> {
  return await (await Backup.begin(source, place, options)).run();
}

class Backup {
  readonly #source: BackupSource;
  readonly #place: BackupPlace;
  readonly #options: BackupOptions;
  readonly #before: Manifest;
  readonly #kept: KeptDocuments;
  readonly #log: CheckedLog;
  readonly #copies: DocumentCopies;
  readonly #segments: Segment[];
  /** The lines of the segment that is not full yet. */
  #tail: string[];
  #last: string | undefined;
  #logEvents: number;
  #added = 0;

  private constructor(
    source: BackupSource,
    place: BackupPlace,
    options: BackupOptions,
    state: {
      readonly before: Manifest;
      readonly kept: KeptDocuments;
      readonly lines: readonly string[];
    },
  ) {
    const { before, kept, lines } = state;
    this.#source = source;
    this.#place = place;
    this.#options = options;
    this.#before = before;
    this.#kept = kept;
    this.#copies = new DocumentCopies(source.blobs, place.documents);
    this.#last = lines.at(-1);
    this.#logEvents = before.logEvents;
    this.#segments = [...before.segments];
    this.#tail = [];
    if (lines.length < SEGMENT) {
      this.#segments.pop();
      this.#tail = [...lines];
    }
    const roots = before.subtrees.map((root) => Buffer.from(root, 'base64'));
    this.#log = new CheckedLog(source.store, new Frontier(before.events, roots));
    this.#log.newest = before.checkpoint ?? undefined;
  }

  static async begin(
    source: BackupSource,
    place: BackupPlace,
    options: BackupOptions,
  ): Promise<Backup> {
    const before = (await readManifest(place)) ?? (await beginPlace(place, options.now));
    const [segment] = before.segments.slice(-1);
    const lines = segment === undefined ? [] : await readLines(place, segment);
    const kept =
      before.index === null
        ? new KeptDocuments()
        : KeptDocuments.parse(await readLines(place, before.index));
    return new Backup(source, place, options, { before, kept, lines });
  }

  async run(): Promise<MadeBackup> {
    const { events, logEvents } = this.#before;
    // A call that was killed may have left them.
    await this.#drop();
    await this.#log.passOver(logEvents);
    let lost: readonly BlobRef[] = [];
    for (let look = 1; ; look += 1) {
      await this.#readOn();
      lost = await this.#copyDocuments(this.#options.recheck && look === 1);
      if (lost.length === 0 || look === LOOKS) break;
      await pause(LOOK_MS);
    }
    if (this.#log.tree.size === 0) {
      throw new Error('The log has no events: there is nothing to back up.');
    }
    await this.#removeLeftOver();
    const manifest = await this.#commit();
    const dropped = this.#kept.dropped.size;
    await this.#removeOld(manifest);
    return {
      manifest,
      addedEvents: manifest.events - events,
      addedDocuments: this.#added,
      dropped,
      lost,
    };
  }

  /** Reads the log up to its head. */
  async #readOn(): Promise<void> {
    const { store } = this.#source;
    const after = this.#last === undefined ? 0n : await positionOf(store, parseEntry(this.#last));
    if (after === undefined) {
      throw new UnusableArchive(
        'holds a backup of another log, or of events that this log no longer has: name another place.',
      );
    }
    await copy(this.#log.rest(after, this.#options.onEvents), this.#kept, {
      take: async (entries) => await this.#take(entries),
    });
  }

  async #take(entries: readonly Entry[]): Promise<void> {
    for (const { line, event } of entries) {
      if (event.stream === LOG_STREAM) this.#logEvents += 1;
      this.#tail.push(line);
      this.#last = line;
      if (this.#tail.length === SEGMENT) await this.#writeSegment();
    }
  }

  async #writeSegment(): Promise<void> {
    const lines = this.#tail;
    this.#tail = [];
    const [before] = this.#segments.slice(-1);
    const first = before === undefined ? 0 : before.first + before.events;
    const name = `${numbered(first)}-${numbered(first + lines.length - 1)}`;
    const written = await writeLines(this.#place, `log/${name}.jsonl.gz`, lines);
    this.#segments.push({ ...written, first, events: lines.length });
  }

  /**
   * @param recheck also looks for those that were copied before
   * @returns those that are neither there nor due for deletion
   */
  async #copyDocuments(recheck: boolean): Promise<readonly BlobRef[]> {
    const { now, onDocuments } = this.#options;
    const { retentionMs } = this.#source;
    const wanted = [...this.#kept.all()].filter(([, { isCopied }]) => recheck || !isCopied);
    const lost: BlobRef[] = [];
    let done = 0;
    await each(wanted, async ([conversion, document]) => {
      delete document.gone;
      const outcome = await this.#copies.attempt(document.ref);
      if (outcome === 'copied') this.#added += 1;
      if (outcome === 'copied' || outcome === 'was there') {
        document.isCopied = true;
      } else {
        delete document.isCopied;
        document.gone = isDeletionDue(conversion, { now, retentionMs }) ? 'due' : 'lost';
        if (document.gone === 'lost') lost.push(document.ref);
      }
      done += 1;
      onDocuments(done, wanted.length);
    });
    return lost;
  }

  async #commit(): Promise<Manifest> {
    const { tree } = this.#log;
    const { id } = this.#before;
    if (this.#tail.length > 0) {
      const before = this.#before.segments.at(-1);
      const isSame = before !== undefined && tree.size === before.first + before.events;
      if (isSame) this.#segments.push(before);
      else await this.#writeSegment();
    }
    const file = `documents-${randomUUID()}.jsonl.gz`;
    const index = await writeLines(this.#place, file, this.#kept.lines());
    const copied = [...this.#kept.all()].filter(([, { isCopied }]) => isCopied);
    const manifest: Manifest = {
      id,
      madeAt: this.#options.now,
      ...endOf(tree),
      subtrees: tree.subtrees.map((root) => root.toString('base64')),
      logEvents: this.#logEvents,
      checkpoint: this.#log.newest ?? null,
      segments: this.#segments,
      index: {
        ...index,
        documents: copied.length,
        bytes: copied.reduce((sum, [, { ref }]) => sum + ref.bytes, 0),
      },
    };
    const now = await readManifest(this.#place);
    // Each names a list of documents of its own, also where two end in one millisecond.
    if (now?.id !== id || now.index?.file !== this.#before.index?.file) {
      throw new Error(
        `Another backup to ${this.#place.name} has ended meanwhile: repeat this one.`,
      );
    }
    await writeManifest(this.#place, manifest);
    return manifest;
  }

  /** Removes what no manifest names: a call that was killed may have copied it. */
  async #removeLeftOver(): Promise<void> {
    const { documents } = this.#place;
    const { passedOver } = this.#kept;
    if (passedOver.size <= MOST_PASSED_OVER) {
      for (const id of passedOver) await documents.deleteAll(id);
      return;
    }
    for await (const { conversionId } of documents.list()) {
      if (!this.#kept.hasConversion(conversionId)) await documents.deleteAll(conversionId);
    }
  }

  /** Removes what the manifest no longer names. */
  async #removeOld({ segments, index }: Manifest): Promise<void> {
    const named = new Set(segments.map(({ file }) => file));
    const { segments: before, index: indexBefore } = this.#before;
    for (const { file } of before) if (!named.has(file)) await this.#place.delete(file);
    if (indexBefore !== null && indexBefore.file !== index?.file) {
      await this.#place.delete(indexBefore.file);
    }
    await this.#drop();
  }

  async #drop(): Promise<void> {
    const { dropped } = this.#kept;
    for (const id of dropped) await this.#place.documents.deleteAll(id);
    dropped.clear();
  }
}

/** @throws {UnusableArchive} something else lies there */
async function beginPlace(place: BackupPlace, now: number): Promise<Manifest> {
  for await (const _ of place.list()) {
    throw new UnusableArchive('holds something else than a backup: name an empty place.');
  }
  const manifest: Manifest = {
    id: randomUUID(),
    madeAt: now,
    events: 0,
    root: '',
    subtrees: [],
    logEvents: 0,
    checkpoint: null,
    segments: [],
    index: null,
  };
  await writeManifest(place, manifest);
  return manifest;
}

/** The digits of a number in a file's name: with so many, names sort as numbers do. */
const numbered = (number: number): string => String(number).padStart(12, '0');
