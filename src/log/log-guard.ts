/**
 * Compares the log with the newest checkpoint that is known: the one that this node signed or saw last, which is stored
 * outside the log and its read models, or the log's own, which only the holder of `MASTER_KEY` can have signed.
 */
import type { KeyObject } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { type LogTreeQueries, logTreeQueries } from '../../projections/log-tree.ts';
import type { ActorSystem } from '../actors/system.ts';
import { LOG_ID, logAggregate } from '../domain/log.ts';
import type { EventOf } from '../domain/events.ts';
import { errorMessage } from '../errors/error-message.ts';
import { type EventStore, LogDiffers, type RecordedEvent } from '../event-store/port.ts';
import type { TableGuard } from '../read-model/batch-writer.ts';
import { type Checkpoint, parseCheckpoint } from '../transparency-log/checkpoint.ts';
import { rootHash, type TreeHashes } from '../transparency-log/merkle-tree.ts';
import {
  ed25519Signer,
  openNote,
  type Signer,
  verifiedBy,
  verifierKey,
} from '../transparency-log/signed-note.ts';
import type { OpenedLog } from './log-origin.ts';

/** The checkpoint that this node signed or saw last, kept outside the log and its copies. */
export interface LastCheckpoint {
  /** Named in messages. */
  readonly path: string;
  /** The note; undefined before the first. */
  read(): string | undefined;
  /** Durable when it resolves. */
  write(note: string): Promise<void>;
}

/** The private key of a generation: the same one each time. */
export type SigningKeys = (generation: number) => KeyObject;

interface Known extends Pick<Checkpoint, 'size' | 'root'> {
  /** Where it is stored, for messages. */
  readonly place: string;
}

export class LogGuard {
  /** Rejects with {@link LogDiffers}, for good; never resolves. */
  readonly differs: Promise<never>;
  readonly #file: LastCheckpoint;
  #reject: (error: LogDiffers) => void = () => {};
  #newest: Known | undefined;
  #isFileRead = false;
  #hasDiffered = false;

  constructor(file: LastCheckpoint) {
    this.#file = file;
    this.differs = new Promise((_, reject) => {
      this.#reject = reject;
    });
    this.differs.catch(() => {});
  }

  /** Takes in the log's own newest checkpoint. @throws {LogDiffers} the log's key has not signed it */
  async learn(
    { actors, store }: { readonly actors: ActorSystem; readonly store: Streams },
    log: OpenedLog,
    signingKey: SigningKeys,
  ): Promise<void> {
    this.last(log);
    const { revision } = await actors.read(logAggregate, LOG_ID);
    const event = await newestCheckpoint(store, revision);
    if (event === undefined) return;
    const { note } = event.data as EventOf<'CheckpointSigned'>['data'];
    const keys = signersOf(log, signingKey).map(({ publicKey }) =>
      verifierKey(log.origin, publicKey),
    );
    const checkpoint = signedBy(note, log.origin, keys);
    if (checkpoint === undefined) {
      this.refuse(
        `The log's newest checkpoint (event ${event.id}, position ${event.position}) is not signed by the log's key: it was changed.`,
      );
    }
    this.#know({ ...checkpoint, place: `event ${event.id} of the log` });
  }

  /** Compares the tree of a generation with the newest checkpoint, as soon as the tree has grown to its size. */
  readonly ofTables = (db: Database): TableGuard => {
    // Before anything of the log is read: a checkpoint that is signed meanwhile may cover more than will be read.
    this.#newestKnown();
    const { hashes } = logTreeQueries(db);
    let compared = 0;
    const compareOnce = (isEnd: boolean): void => {
      const newest = this.#newestKnown();
      if (newest === undefined || newest.size <= compared) return;
      if (!isEnd && hashes.size < newest.size) return;
      this.compare(hashes, newest);
      compared = newest.size;
    };
    return {
      check: () => compareOnce(false),
      isBehind: () => hashes.size < (this.#newestKnown()?.size ?? 0),
      checkEnd: () => compareOnce(true),
    };
  };

  /**
   * Has the events at the newest checkpoint, and at half of it, compared: another log is noticed before it is used.
   * @param store compares what it reads
   * @throws {LogDiffers} @throws {EventStoreUnavailable}
   */
  async checkEvents(
    { hashes, positionOf }: LogTreeQueries,
    store: Pick<EventStore, 'readAll'>,
  ): Promise<void> {
    const size = Math.min(this.#newestKnown()?.size ?? 0, hashes.size);
    if (size === 0) return;
    for (const index of new Set([size - 1, Math.floor(size / 2)])) {
      await store.readAll({ after: positionOf(index - 1) ?? 0n, limit: 1 });
    }
  }

  /** @throws {LogDiffers} the log does not continue the checkpoint */
  compare(hashes: TreeHashes, { size, root, place }: Known): void {
    if (hashes.size < size) {
      this.refuse(
        `The log holds ${hashes.size} events, and this node has signed or seen a checkpoint of ${size} (${place}): an older log was put back.`,
      );
    }
    if (!rootHash(hashes, size).equals(root)) {
      this.refuse(
        `The log's first ${size} events are not those of the checkpoint of ${size} events that was signed (${place}): events were changed.`,
      );
    }
  }

  /** The checkpoint in the file. @throws {LogDiffers} it is of another log, or damaged */
  last({ origin }: OpenedLog): (Checkpoint & Known) | undefined {
    const last = this.#inFile();
    if (last === undefined || last.origin === origin) return last;
    return this.refuse(
      `${this.#file.path} is a checkpoint of the log ${last.origin}, and this log is ${origin}: restore that log, or give this one another DATA_DIR.`,
    );
  }

  /** Keeps a checkpoint of this log that this node has signed or seen. */
  async keep(note: string): Promise<void> {
    await this.#file.write(note);
    this.#know({ ...parseCheckpoint(openNote(note).text), place: this.#file.path });
  }

  /** Reports a difference, and throws it. */
  refuse(found: string): never {
    const error = new LogDiffers(found);
    this.report(error);
    throw error;
  }

  /** True once a difference was reported. */
  get hasDiffered(): boolean {
    return this.#hasDiffered;
  }

  report(error: LogDiffers): void {
    this.#hasDiffered = true;
    this.#reject(error);
  }

  #newestKnown(): Known | undefined {
    if (!this.#isFileRead) {
      const last = this.#inFile();
      this.#isFileRead = true;
      if (last !== undefined) this.#know(last);
    }
    return this.#newest;
  }

  #know(known: Known): void {
    if (this.#newest === undefined || this.#newest.size < known.size) this.#newest = known;
  }

  #inFile(): (Checkpoint & Known) | undefined {
    const note = this.#file.read();
    if (note === undefined) return undefined;
    try {
      return { ...parseCheckpoint(openNote(note).text), place: this.#file.path };
    } catch (error) {
      return this.refuse(
        `${this.#file.path} is damaged, so nobody knows what this node has signed: restore it, or remove it where a later checkpoint is known to be in the log (${errorMessage(error)}).`,
      );
    }
  }
}

/** Makes the signers of the keys in force. @throws {Error} one line: MASTER_KEY is not the one of this log */
export function signersOf(
  { origin, keys }: Pick<OpenedLog, 'origin' | 'keys'>,
  signingKey: SigningKeys,
): readonly Signer[] {
  return keys.toReversed().map(({ generation, verifierKey: expected }) => {
    const signer = ed25519Signer(origin, signingKey(generation));
    if (verifierKey(origin, signer.publicKey) === expected) return signer;
    throw new Error(
      `Signing key ${generation} of the log does not follow from MASTER_KEY: set the MASTER_KEY that this log was begun with.`,
    );
  });
}

function signedBy(note: string, origin: string, keys: readonly string[]): Checkpoint | undefined {
  try {
    const checkpoint = parseCheckpoint(openNote(note).text);
    const isSigned = checkpoint.origin === origin && verifiedBy(note, keys).length > 0;
    return isSigned ? checkpoint : undefined;
  } catch {
    return undefined;
  }
}

type Streams = Pick<EventStore, 'readStream'>;

const PAGE = 1_000;
/** Events at the end of the log's own stream that hardly lack a checkpoint. */
const TAIL = 64;

/**
 * Finds the log's newest checkpoint under its present name, in the store itself: what is cached may be anything.
 * @param revision the last of the log's stream, or one before it
 */
async function newestCheckpoint(
  store: Streams,
  revision: number,
): Promise<RecordedEvent | undefined> {
  for (let back = TAIL; ; back *= PAGE) {
    const from = Math.max(0, revision - back);
    const found = await newestFrom(store, from);
    if (found !== undefined || from === 0) return found;
  }
}

async function newestFrom(store: Streams, from: number): Promise<RecordedEvent | undefined> {
  let newest: RecordedEvent | undefined;
  for (let next = from; ; next += PAGE) {
    const events = await store.readStream(logAggregate.stream(LOG_ID), { from: next, limit: PAGE });
    for (const event of events) {
      if (event.type === 'CheckpointSigned') newest = event;
      // What was signed before is of another name.
      if (event.type === 'LogContinued') newest = undefined;
    }
    if (events.length < PAGE) return newest;
  }
}
