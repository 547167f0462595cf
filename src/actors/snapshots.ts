/** A node's cache of actor states: when they are saved, and the file that holds them. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import Sqlite, { type Database, type Statement } from 'better-sqlite3';
import type { Logger } from 'pino';
import type { SnapshotCodec } from '../domain/decider.ts';
import type { Version } from './command.ts';

/**
 * A node's cache of actor states. Never the truth: any entry may be missing or wrong about the stream,
 * and its user checks it against the log. No method throws.
 */
export interface SnapshotCache {
  /** The last one put for the stream, if it is of this codec version. */
  get(stream: string, version: number): Snapshot | undefined;
  put(stream: string, version: number, revision: number, json: string): void;
  close(): void;
}

export interface Snapshot {
  /** The revision of the last event in the state. */
  readonly revision: number;
  readonly json: string;
}

/**
 * Events that must come between two snapshots for each millisecond that making one takes: it then
 * costs at most 0.01 ms an event, and reading those events again about as long as making it.
 */
const EVENTS_PER_MS = 100;

interface Stored {
  /** The last event in the state: a stream that holds another one there is not the same stream. */
  readonly eventId: string;
  readonly state: unknown;
}

/** Decides when one stream's state is saved in the node's cache, and in which form. */
export class Snapshotter<State> {
  readonly #codec: SnapshotCodec<State>;
  readonly #cache: SnapshotCache | undefined;
  readonly #stream: string;
  #revision = -1;
  #lastCostMs = 0;

  constructor(codec: SnapshotCodec<State>, cache: SnapshotCache | undefined, stream: string) {
    this.#codec = codec;
    this.#cache = cache;
    this.#stream = stream;
  }

  /** The cached state, not yet checked against the stream; absent also where it cannot be read. */
  read(): Omit<Version<State>, 'position'> | undefined {
    const began = performance.now();
    const found = this.#cache?.get(this.#stream, this.#codec.version);
    if (found === undefined) return undefined;
    try {
      const { eventId, state } = JSON.parse(found.json) as Stored;
      const restored = { state: this.#codec.decode(state), revision: found.revision, eventId };
      this.#lastCostMs = performance.now() - began;
      return restored;
    } catch {
      return undefined;
    }
  }

  /** Told that the stream holds the last event of the state that `read` gave. */
  confirmed(revision: number): void {
    this.#revision = revision;
  }

  /** @param every fewest events since the last snapshot */
  isDue(revision: number, every: number): boolean {
    if (this.#cache === undefined) return false;
    return revision - this.#revision >= Math.max(every, this.#lastCostMs * EVENTS_PER_MS);
  }

  /** @throws what the codec throws */
  write({ state, revision, eventId }: Version<State>): void {
    if (eventId === undefined) return;
    const began = performance.now();
    this.#revision = revision;
    const stored: Stored = { eventId, state: this.#codec.encode(state) };
    const json = JSON.stringify(stored);
    this.#cache?.put(this.#stream, this.#codec.version, revision, json);
    this.#lastCostMs = performance.now() - began;
  }
}

/** A cache is not worth waiting for: another process that writes costs us one miss. */
const BUSY_MS = 20;

const DDL = `CREATE TABLE IF NOT EXISTS snapshots (
  stream TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  mac BLOB NOT NULL,
  json TEXT NOT NULL
) WITHOUT ROWID`;

interface Row extends Snapshot {
  readonly mac: Buffer;
}

interface Open {
  readonly db: Database;
  readonly get: Statement<[string, number], Row>;
  readonly put: Statement<[string, number, number, Buffer, string]>;
}

const DAMAGE = new Set(['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_ERROR', 'SQLITE_CANTOPEN']);

/**
 * Snapshots in a file of the node that may be lost at any time. It is not synced, so a power cut may damage it: a
 * damaged file is deleted and replaced. Each row carries a MAC, so a state that this deployment did not write is not used.
 */
export class SqliteSnapshots implements SnapshotCache {
  readonly #path: string;
  readonly #key: Buffer;
  readonly #log: Logger | undefined;
  #open: Open | undefined;

  /** @param key of the MACs, which only this deployment has */
  constructor(path: string, key: Buffer, log?: Logger) {
    this.#path = path;
    this.#key = key;
    this.#log = log;
    try {
      this.#open = open(path);
    } catch (error) {
      this.#startAnew(error);
    }
  }

  get(stream: string, version: number): Snapshot | undefined {
    const row = this.#attempt(({ get }) => get.get(stream, version));
    if (row === undefined) return undefined;
    const { revision, json } = row;
    const mac = this.#mac(stream, version, revision, json);
    const isOurs = mac.length === row.mac.length && timingSafeEqual(mac, row.mac);
    return isOurs ? { revision, json } : undefined;
  }

  put(stream: string, version: number, revision: number, json: string): void {
    const mac = this.#mac(stream, version, revision, json);
    this.#attempt(({ put }) => put.run(stream, version, revision, mac, json));
  }

  close(): void {
    this.#open?.db.close();
    this.#open = undefined;
  }

  #mac(stream: string, version: number, revision: number, json: string): Buffer {
    return createHmac('sha256', this.#key)
      .update(`${stream}/${version}/${revision}/`)
      .update(json)
      .digest();
  }

  #attempt<Result>(use: (open: Open) => Result): Result | undefined {
    if (this.#open === undefined) return undefined;
    try {
      return use(this.#open);
    } catch (error) {
      if (isDamage(error)) this.#startAnew(error);
      else this.#log?.debug({ err: error }, 'the snapshot cache was passed over');
      return undefined;
    }
  }

  /** Replaces a damaged cache. Without one, every stream is read from its beginning: slower, never wrong. */
  #startAnew(reason: unknown): void {
    this.#log?.warn({ err: reason, file: this.#path }, 'the snapshot cache is replaced');
    try {
      this.close();
      for (const suffix of ['', '-wal', '-shm']) rmSync(this.#path + suffix, { force: true });
      this.#open = open(this.#path);
    } catch (error) {
      this.#log?.warn({ err: error, file: this.#path }, 'there is no snapshot cache');
    }
  }
}

function open(path: string): Open {
  const db = new Sqlite(path, { timeout: BUSY_MS });
  try {
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = OFF');
    db.exec(DDL);
    return {
      db,
      get: db.prepare('SELECT revision, mac, json FROM snapshots WHERE stream = ? AND version = ?'),
      put: db.prepare('REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)'),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

function isDamage(error: unknown): boolean {
  return (
    error instanceof Sqlite.SqliteError &&
    [...DAMAGE].some((code) => error.code === code || error.code.startsWith(`${code}_`))
  );
}
