/**
 * Reads the whole log once and checks it against itself, against every checkpoint that was signed, and
 * against those that were kept elsewhere. See docs/verification.md. It needs no key of the service, and
 * memory that does not grow with the log.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LogTreeQueries } from '../../projections/log-tree.ts';
import type { BlobStore } from '../documents/port.ts';
import { errorMessage } from '../errors/error-message.ts';
import {
  EventDamaged,
  type EventStore,
  type HiddenFault,
  type RecordedEvent,
  type SchemaFault,
} from '../event-store/port.ts';
import { canonicalEvent } from '../transparency-log/canonical-event.ts';
import { Frontier, leafHash } from '../transparency-log/merkle-tree.ts';
import { LOG_STREAM, SignedCheckpoints } from './verify-log/checkpoints.ts';
import { Broken, Difference, type Place, placeOf } from './verify-log/difference.ts';
import { type VerifiedDocuments, verifyDocuments } from './verify-log/documents.ts';
import { type GivenNote, KeptCheckpoint, KeptHashes } from './verify-log/kept.ts';
import { LogRules } from './verify-log/rules.ts';

/** Events read and checked at once. */
const BATCH = 5_000;

/** A log, and what lies beside it, as it is: nothing of it is changed. */
export interface StoredLog {
  readonly store: Pick<EventStore, 'head' | 'readAll' | 'readStream'>;
  /** Opens the tree that the read models keep, if any. */
  readonly openTree?: () => LogTreeQueries | undefined;
  /** The checkpoint that this node signed or saw last, if any. */
  readonly lastCheckpoint?: GivenNote;
  /** Tells of what reading the log does not show, where the store can have such. */
  readonly hiddenFault?: () => HiddenFault | undefined;
  /** The files, where they are to be checked. */
  readonly blobs?: BlobStore;
  /** The time that PDFs are kept. */
  readonly retentionMs: number;
}

export interface VerifyOptions {
  /** Checkpoints that were kept elsewhere. */
  readonly checkpoints?: readonly GivenNote[];
  /** Verifier keys that are trusted instead of the log's own. */
  readonly keys?: readonly string[];
  readonly onProgress?: (progress: VerifyProgress) => void;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

export interface VerifyProgress {
  /** Events, or files, that are checked. */
  readonly done: number;
  /** Events that there are; absent for files. */
  readonly total?: number;
  /** The total follows from positions, which have gaps where others use the server too. */
  readonly isEstimate?: boolean;
  /** Since the beginning of this part. */
  readonly perSecond: number;
}

export interface Verified {
  readonly ok: true;
  readonly origin: string | undefined;
  readonly events: number;
  /** The tree of all these events: its size, and its root hash in base64. */
  readonly size: number;
  readonly root: string;
  /** Checkpoints whose root the log has, and the size of the newest; 0 without any. */
  readonly checkpoints: number;
  readonly covered: number;
  /** Conversions without an end, and failures without a refund, so far. */
  readonly unfinished: number;
  readonly refunds_due: number;
  readonly documents?: VerifiedDocuments;
}

export interface Differs {
  readonly ok: false;
  readonly at: Place;
  readonly expected: string;
  readonly found: string;
}

/** @throws {EventStoreUnavailable} @throws {BlobStoreUnavailable} */
export async function verifyLog(
  log: StoredLog,
  options: VerifyOptions,
): Promise<Verified | Differs> {
  let verification: Verification | undefined;
  try {
    verification = new Verification(log, options);
    return await verification.run();
  } catch (error) {
    if (!(error instanceof Difference)) throw error;
    const { at, expected, found } = error;
    return { ok: false, at, expected, found };
  } finally {
    verification?.close();
  }
}

/** The difference of a database whose schema is not as the service makes it. */
export const schemaDifference = ({
  schema: { object, expected },
  found,
}: SchemaFault): Difference => new Difference({ object }, expected, found);

class Verification {
  readonly #log: StoredLog;
  readonly #options: VerifyOptions;
  readonly #tree = new Frontier();
  readonly #rules: LogRules;
  readonly #signed: SignedCheckpoints;
  readonly #given: readonly KeptCheckpoint[];
  readonly #kept: KeptHashes | undefined;
  readonly #startedAt = performance.now();
  #position = 0n;
  #batch = BATCH;
  /** The next size of the tree at which its root is compared or kept. */
  #stop = 0;

  constructor(log: StoredLog, options: VerifyOptions) {
    const { lastCheckpoint } = log;
    const tree = log.openTree?.();
    this.#log = log;
    this.#options = options;
    this.#rules = new LogRules({ keepsBlobs: log.blobs !== undefined });
    this.#signed = new SignedCheckpoints(log.store, options.keys ?? []);
    const given = [...(lastCheckpoint ? [lastCheckpoint] : []), ...(options.checkpoints ?? [])];
    this.#given = given.map((note) => new KeptCheckpoint(note));
    this.#kept = tree && new KeptHashes(tree);
  }

  async run(): Promise<Verified> {
    const head = await this.#log.store.head();
    try {
      await this.#readLog(head);
      this.#checkEnd();
    } catch (error) {
      throw error instanceof Difference ? this.#earlier(error) : error;
    }
    const documents = await this.#checkDocuments();
    const { size } = this.#tree;
    return {
      ok: true,
      origin: this.#signed.origin,
      events: size,
      size,
      root: this.#tree.root().toString('base64'),
      checkpoints: this.#signed.count,
      covered: this.#signed.newest?.size ?? 0,
      unfinished: this.#rules.unfinished,
      refunds_due: this.#rules.refundsDue,
      ...(documents && { documents }),
    };
  }

  close(): void {
    this.#rules.close();
  }

  async #readLog(head: bigint): Promise<void> {
    for (;;) {
      const events = await this.#read();
      await this.#signed.readThrough(this.#tree.size + events.length);
      this.#setStop();
      for (const event of events) {
        // Events that are appended meanwhile are left out, but an append is read to its end. A checkpoint among
        // them may be of a size that was passed before it could be read ahead.
        if (event.position > head && !this.#rules.isWithinAppend) return;
        this.#take(event);
      }
      this.#report(head);
      if (events.length < this.#batch && !(events.length > 0 && this.#rules.isWithinAppend)) return;
      await nextTurn();
    }
  }

  /** @throws {Difference} the next event cannot be read */
  async #read(): Promise<readonly RecordedEvent[]> {
    try {
      return await this.#log.store.readAll({ after: this.#position, limit: this.#batch });
    } catch (error) {
      if (!(error instanceof EventDamaged)) throw error;
      if (this.#batch === 1) {
        const at = { index: this.#tree.size, ...placeOf(error.event) };
        throw new Difference(at, 'an event', errorMessage(error));
      }
      // One by one: those before it are checked first.
      this.#batch = 1;
      return await this.#read();
    }
  }

  #take(event: RecordedEvent): void {
    const index = this.#tree.size;
    try {
      const leaf = leafOf(event);
      this.#kept?.compare(event, index, leaf);
      if (event.position <= this.#position) {
        throw new Broken(`a position after ${this.#position}`, `${event.position}`);
      }
      this.#rules.check(event, index);
      if (event.stream === LOG_STREAM) this.#signed.meet(event, index);
      this.#position = event.position;
      this.#tree.add(leaf);
    } catch (error) {
      if (error instanceof Difference || !(error instanceof Broken)) throw error;
      throw new Difference(placeOf(event, index), error.expected, error.found);
    }
    if (this.#tree.size === this.#stop) this.#compareRoots();
  }

  #compareRoots(): void {
    const { size } = this.#tree;
    const root = this.#tree.root();
    for (const given of this.#given) given.see(size, root);
    const { due, newest } = this.#signed;
    if (due?.size === size) {
      if (!due.root.equals(root)) throw this.#otherRoot(due, root, newest?.size ?? 0);
      this.#signed.confirm();
    }
    this.#setStop();
  }

  #setStop(): void {
    const sizes = [this.#signed.due, ...this.#given].map((each) => each?.size ?? 0);
    this.#stop = Math.min(...sizes.filter((size) => size > this.#tree.size));
  }

  #otherRoot(
    { at, size, root }: { readonly at: Place; readonly size: number; readonly root: Buffer },
    found: Buffer,
    covered: number,
  ): Difference {
    const first = this.#kept?.first;
    const signed = `the root ${root.toString('base64')} of the first ${size} events, as signed`;
    if (first !== undefined && first.index < size && this.#kept?.haveRoot(size, root)) {
      const { at: place, expected, found: there } = first.difference;
      return new Difference(
        place,
        `${expected}, which a checkpoint of ${size} events signs`,
        there,
      );
    }
    const range = `something in the events of index ${covered} to ${size - 1} is not as it was`;
    return new Difference(at, signed, `the root ${found.toString('base64')}: ${range}`);
  }

  /** The difference that was found, unless the hashes of the read models say that an earlier event is another one. */
  #earlier(difference: Difference): Difference {
    const first = this.#kept?.first;
    const { index } = difference.at;
    if (first === undefined || (typeof index === 'number' && index < first.index)) {
      return difference;
    }
    if (index === first.index && difference.at === first.difference.at) return difference;
    const { at, expected, found } = first.difference;
    return new Difference(at, expected, `${found} (${difference.message})`);
  }

  #checkEnd(): void {
    this.#rules.checkEnd();
    this.#signed.checkEnd(this.#position);
    const { size } = this.#tree;
    for (const given of this.#given) given.check(size, this.#signed);
    this.#kept?.checkEnd(size, this.#signed.newest?.size ?? 0);
    this.#checkHidden(size);
  }

  #checkHidden(size: number): void {
    const { found, schema, event } = this.#log.hiddenFault?.() ?? {};
    if (found === undefined) return;
    if (event === undefined) {
      if (schema !== undefined) throw schemaDifference({ schema, found });
      throw new Difference({ index: size }, 'no events that the log does not show', found);
    }
    throw new Difference(
      placeOf(event, event.index),
      'an event in the form that the service writes',
      found,
    );
  }

  async #checkDocuments(): Promise<VerifiedDocuments | undefined> {
    const { blobs, store, retentionMs } = this.#log;
    if (blobs === undefined) return undefined;
    const startedAt = performance.now();
    const onProgress = (done: number): void =>
      this.#options.onProgress?.({ done, perSecond: perSecond(done, startedAt) });
    const retention = { now: this.#options.now, retentionMs };
    const deps = { blobs, store, retention, onProgress };
    return await verifyDocuments(this.#rules.keptConversions(), deps);
  }

  #report(head: bigint): void {
    const done = this.#tree.size;
    const share = head > this.#position ? Number(this.#position) / Number(head) : 1;
    const total = Math.round(done / share);
    const isEstimate = this.#position !== BigInt(done);
    const rate = perSecond(done, this.#startedAt);
    this.#options.onProgress?.({ done, total, isEstimate, perSecond: rate });
  }
}

const perSecond = (done: number, startedAt: number): number =>
  (done * 1000) / (performance.now() - startedAt);

/** @throws {Broken} it holds what JSON does not have */
function leafOf(event: RecordedEvent): Buffer {
  try {
    return leafHash(canonicalEvent(event));
  } catch (error) {
    throw new Broken('an event that can be hashed', errorMessage(error));
  }
}
