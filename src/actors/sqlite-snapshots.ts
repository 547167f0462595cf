import { rmSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import Sqlite, { type Database, type Statement } from 'better-sqlite3';
import type { Logger } from 'pino';
import type { Snapshot, SnapshotCache } from './snapshots.ts';

/** A cache is not worth waiting for: another process that writes costs us one miss. */
const BUSY_MS = 20;

const DDL = `CREATE TABLE IF NOT EXISTS snapshots (
  stream TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  json TEXT NOT NULL
) WITHOUT ROWID`;

interface Row extends Snapshot {
  readonly checksum: number;
}

interface Open {
  readonly db: Database;
  readonly get: Statement<[string, number], Row>;
  readonly put: Statement<[string, number, number, number, string]>;
}

const DAMAGE = new Set(['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_ERROR', 'SQLITE_CANTOPEN']);

/**
 * Snapshots in a file of the node that may be lost at any time. It is not synced, so a power cut may
 * damage it: each row carries a checksum, and a damaged file is deleted and made anew.
 */
export class SqliteSnapshots implements SnapshotCache {
  readonly #path: string;
  readonly #log: Logger | undefined;
  #open: Open | undefined;

  constructor(path: string, log?: Logger) {
    this.#path = path;
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
    return row.checksum === checksum(stream, version, revision, json)
      ? { revision, json }
      : undefined;
  }

  put(stream: string, version: number, revision: number, json: string): void {
    const sum = checksum(stream, version, revision, json);
    this.#attempt(({ put }) => put.run(stream, version, revision, sum, json));
  }

  close(): void {
    this.#open?.db.close();
    this.#open = undefined;
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

  /** Without the file at all, every stream is read from its beginning: slower, never wrong. */
  #startAnew(reason: unknown): void {
    this.#log?.warn({ err: reason, file: this.#path }, 'the snapshot cache is made anew');
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
      get: db.prepare(
        'SELECT revision, checksum, json FROM snapshots WHERE stream = ? AND version = ?',
      ),
      put: db.prepare('REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)'),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

function checksum(stream: string, version: number, revision: number, json: string): number {
  return crc32(json, crc32(`${stream}/${version}/${revision}/`));
}

function isDamage(error: unknown): boolean {
  return (
    error instanceof Sqlite.SqliteError &&
    [...DAMAGE].some((code) => error.code === code || error.code.startsWith(`${code}_`))
  );
}
