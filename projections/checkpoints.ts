/** The checkpoints that were signed, with what witnesses and timestamps added, and the keys in force. */
import type { Database } from 'better-sqlite3';
import { KEYS_IN_FORCE, type SigningKey } from '../src/domain/log.ts';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';
import { type Page, present, type Slice, type Stored } from '../src/read-model/rows.ts';

/** `number` counts from 1, so that a page is found without skipping rows. */
const ddl = `
CREATE TABLE signed_checkpoints (
  size INTEGER PRIMARY KEY,
  number INTEGER NOT NULL UNIQUE,
  root BLOB NOT NULL,
  note TEXT NOT NULL,
  signed_at INTEGER NOT NULL,
  timestamp BLOB,
  timestamped_at INTEGER
) STRICT;
CREATE TABLE signing_keys (generation INTEGER PRIMARY KEY, verifier_key TEXT NOT NULL) STRICT;`;

export const checkpoints: Projection = {
  name: 'checkpoints',
  version: 2,
  tables: ['signed_checkpoints', 'signing_keys'],
  ddl,
  handlers(db) {
    const insert = db.prepare(
      `INSERT INTO signed_checkpoints (size, number, root, note, signed_at)
       VALUES (?, (SELECT coalesce(max(number), 0) + 1 FROM signed_checkpoints), ?, ?, ?)`,
    );
    const cosign = db.prepare('UPDATE signed_checkpoints SET note = note || ? WHERE size = ?');
    const timestamp = db.prepare(
      'UPDATE signed_checkpoints SET timestamp = ?, timestamped_at = ? WHERE size = ?',
    );
    const addKey = db.prepare('INSERT INTO signing_keys (generation, verifier_key) VALUES (?, ?)');
    const removeAll = db.prepare('DELETE FROM signed_checkpoints');
    const voidKeys = db.prepare('DELETE FROM signing_keys');
    return typedHandlers({
      LogRenamed() {
        voidKeys.run();
      },
      LogContinued() {
        // No key in force has signed them. The events stay, and what was published of them.
        voidKeys.run();
        removeAll.run();
      },
      SigningKeyAdded({ generation, verifierKey }) {
        addKey.run(generation, verifierKey);
      },
      CheckpointSigned({ size, root, note, signedAt }) {
        insert.run(size, Buffer.from(root, 'base64'), note, signedAt);
      },
      CheckpointCosigned({ size, signatures }) {
        cosign.run(signatures.map((line) => `${line}\n`).join(''), size);
      },
      CheckpointTimestamped({ size, token, at }) {
        timestamp.run(Buffer.from(token, 'base64'), at, size);
      },
    });
  },
};

export interface StoredCheckpoint {
  /** The number of events that it covers. */
  readonly size: number;
  readonly root: Buffer;
  /** The signed note, with the cosignatures of witnesses. */
  readonly note: string;
  /** Milliseconds since the Unix epoch. */
  readonly signedAt: number;
  /** An RFC 3161 token, DER. */
  readonly timestamp?: Buffer;
}

/** A checkpoint as a list shows it. */
export interface ListedCheckpoint
  extends Pick<StoredCheckpoint, 'size' | 'root' | 'note' | 'signedAt'> {
  /** The time when its timestamp was recorded, in milliseconds since the Unix epoch. */
  readonly timestampedAt: number | null;
}

export interface CheckpointQueries {
  newest(): StoredCheckpoint | undefined;
  /** The oldest that covers so many events. */
  covering(size: number): StoredCheckpoint | undefined;
  /** The oldest first. */
  all(afterSize: number, limit: number): readonly StoredCheckpoint[];
  /** The newest first. */
  page(page: Slice): Page<ListedCheckpoint>;
  /** The keys in force, the newest first. */
  keys(): readonly SigningKey[];
}

const COLUMNS = 'size, root, note, signed_at AS signedAt, timestamp';

export function checkpointQueries(db: Database): CheckpointQueries {
  const newest = db.prepare<[], Stored<StoredCheckpoint>>(
    `SELECT ${COLUMNS} FROM signed_checkpoints ORDER BY size DESC LIMIT 1`,
  );
  const after = db.prepare<[number, number], Stored<StoredCheckpoint>>(
    `SELECT ${COLUMNS} FROM signed_checkpoints WHERE size > ? ORDER BY size LIMIT ?`,
  );
  const last = db.prepare<[], number | null>('SELECT max(number) FROM signed_checkpoints').pluck();
  const listed = db.prepare<[number, number], ListedCheckpoint>(
    `SELECT size, root, note, signed_at AS signedAt, timestamped_at AS timestampedAt
     FROM signed_checkpoints WHERE number <= ? ORDER BY number DESC LIMIT ?`,
  );
  const keys = db.prepare<[number], SigningKey>(
    `SELECT generation, verifier_key AS verifierKey FROM signing_keys
     ORDER BY generation DESC LIMIT ?`,
  );
  const all = (afterSize: number, limit: number): readonly StoredCheckpoint[] =>
    after.all(afterSize, limit).map(present<StoredCheckpoint>);
  return {
    newest: () => newest.all().map(present<StoredCheckpoint>)[0],
    covering: (size) => all(size - 1, 1)[0],
    all,
    page({ offset, limit }) {
      const total = last.get() ?? 0;
      return { rows: listed.all(total - offset, limit), total };
    },
    keys: () => keys.all(KEYS_IN_FORCE),
  };
}
