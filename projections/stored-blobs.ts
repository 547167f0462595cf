/** The conversions whose blobs are kept: what each and its account take, and a to-do list of what is to be deleted. */
import type { Database } from 'better-sqlite3';
import { type BlobKind, blobKey } from '../src/domain/blob-key.ts';
import { requestedRetentionMs } from '../src/domain/retention.ts';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';
import { present } from '../src/read-model/rows.ts';

/**
 * `hashes` names the blobs that events name, separated by spaces. `held`: by its account's row in `holds`. `deleted`:
 * its account has asked for that. `due_at`: the end of the retention that its client asked for, if it did, by `retention_seconds` in
 * the request or by cancelling. `stored_bytes.failed`: the part of `bytes` that is kept of failed conversions.
 */
const ddl = `
CREATE TABLE stored_blobs (
  conversion_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  hashes TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  failed INTEGER,
  ended_at INTEGER,
  ended_event_id TEXT,
  held INTEGER NOT NULL,
  deleted INTEGER NOT NULL DEFAULT 0,
  retention_seconds INTEGER,
  due_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX stored_blobs_by_end ON stored_blobs (failed, ended_at, conversion_id)
  WHERE ended_at IS NOT NULL AND held = 0 AND deleted = 0;
CREATE INDEX stored_blobs_by_due ON stored_blobs (due_at, conversion_id)
  WHERE due_at IS NOT NULL AND held = 0 AND deleted = 0;
CREATE INDEX stored_blobs_held_by_due ON stored_blobs (account_id, due_at)
  WHERE due_at IS NOT NULL AND held = 1 AND deleted = 0;
CREATE INDEX stored_blobs_deleted ON stored_blobs (conversion_id) WHERE deleted = 1;
CREATE INDEX stored_blobs_of_account ON stored_blobs (account_id, held, failed, ended_at);
CREATE TABLE holds (
  account_id TEXT PRIMARY KEY,
  until INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE stored_bytes (
  account_id TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL,
  failed INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX stored_bytes_with_failed ON stored_bytes (bytes) WHERE failed > 0;`;

/** The retention that a request asked for, in SQL: NULL where it asked for none. */
const requestedMs = (end: 'completed' | 'failed'): string =>
  `iif(retention_seconds = 0, ${requestedRetentionMs(0, end)}, retention_seconds * 1000)`;

export const storedBlobs: Projection = {
  name: 'stored-blobs',
  version: 7,
  tables: ['stored_blobs', 'holds', 'stored_bytes'],
  ddl,
  handlers(db) {
    const insert = db.prepare(
      `INSERT INTO stored_blobs (conversion_id, account_id, hashes, bytes, retention_seconds, held)
       VALUES (@conversionId, @accountId, @sha256, @bytes, @retentionSeconds,
         EXISTS (SELECT 1 FROM holds WHERE account_id = @accountId))`,
    );
    const complete = db.prepare(
      `UPDATE stored_blobs SET failed = 0, ended_at = ?, ended_event_id = ?, due_at = ? + ${requestedMs('completed')},
         hashes = hashes || ' ' || ? || ' ' || ?, bytes = bytes + ?
       WHERE conversion_id = ?`,
    );
    const fail = db
      .prepare<[number, string, number, number, string, number, string], number>(
        `UPDATE stored_blobs SET failed = 1, ended_at = ?, ended_event_id = ?, due_at = ? + iif(?, 0, ${requestedMs('failed')}),
           hashes = hashes || ?, bytes = bytes + ?
         WHERE conversion_id = ? RETURNING bytes`,
      )
      .pluck();
    const addFailed = db.prepare(
      'UPDATE stored_bytes SET failed = failed + ? WHERE account_id = ?',
    );
    const deleteSoon = db.prepare(
      'UPDATE stored_blobs SET deleted = 1, ended_event_id = ? WHERE conversion_id = ?',
    );
    const remove = db.prepare<[string], { bytes: number; failed: number | null }>(
      'DELETE FROM stored_blobs WHERE conversion_id = ? RETURNING bytes, failed',
    );
    const add = db.prepare(
      `INSERT INTO stored_bytes (account_id, bytes) VALUES (?, ?)
       ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes`,
    );
    const hold = db.prepare(
      `INSERT INTO holds (account_id, until) VALUES (?, ?)
       ON CONFLICT DO UPDATE SET until = excluded.until`,
    );
    const release = db.prepare('DELETE FROM holds WHERE account_id = ?');
    const mark = db.prepare('UPDATE stored_blobs SET held = ? WHERE account_id = ? AND held <> ?');
    return typedHandlers({
      ConversionRequested({ accountId, conversionId, request, retentionSeconds = null }) {
        const { sha256, bytes } = request;
        insert.run({ conversionId, accountId, sha256, bytes, retentionSeconds });
        add.run(accountId, bytes);
      },
      ConversionCompleted({ accountId, conversionId, document, manifest, completedAt }, event) {
        const bytes = document.bytes + manifest.bytes;
        const { sha256 } = document;
        const end = [completedAt, event.id, completedAt];
        complete.run(...end, sha256, manifest.sha256, bytes, conversionId);
        add.run(accountId, bytes);
      },
      ConversionFailed({ accountId, conversionId, code, failedAt, picture }, event) {
        const [hash, bytes] = picture ? [` ${picture.sha256}`, picture.bytes] : ['', 0];
        const end = [failedAt, event.id, failedAt, Number(code === 'cancelled')] as const;
        const kept = fail.get(...end, hash, bytes, conversionId) ?? 0;
        if (bytes > 0) add.run(accountId, bytes);
        addFailed.run(kept, accountId);
      },
      ConversionDeleted({ conversionId }, event) {
        deleteSoon.run(event.id, conversionId);
      },
      ConversionExpired({ accountId, conversionId }) {
        const { bytes = 0, failed } = remove.get(conversionId) ?? {};
        add.run(accountId, -bytes);
        if (failed === 1) addFailed.run(-bytes, accountId);
      },
      HoldPlaced({ accountId, until = null }) {
        hold.run(accountId, until);
        mark.run(1, accountId, 1);
      },
      HoldReleased({ accountId }) {
        release.run(accountId);
        mark.run(0, accountId, 0);
      },
    });
  },
};

export interface DeletionDue {
  readonly conversionId: string;
  readonly accountId: string;
  /** The event that causes the deletion: its end, or that its account asked for it. */
  readonly endedEventId: string;
  /** Its account has asked for it: a hold that was placed since does not keep it. */
  readonly isAskedFor: boolean;
  /** Keys of the blobs that events name. */
  readonly named: readonly string[];
}

interface StoredDue extends Omit<DeletionDue, 'named' | 'isAskedFor'> {
  readonly failed: number;
  readonly deleted: number;
  readonly hashes: string;
}

/** Kinds of blobs, in the order in which events name them. */
const KINDS_OF_COMPLETED = ['request', 'document', 'manifest'] as const;
const KINDS_OF_FAILED = ['request', 'picture'] as const;

function toDue({ hashes, failed, deleted, ...due }: StoredDue): DeletionDue {
  const all = hashes.split(' ');
  const kinds: readonly BlobKind[] = failed === 1 ? KINDS_OF_FAILED : KINDS_OF_COMPLETED;
  const named = kinds.flatMap((kind, n) => {
    const sha256 = all[n];
    return sha256 === undefined ? [] : blobKey(due.conversionId, kind, sha256);
  });
  return { ...due, isAskedFor: deleted === 1, named };
}

export interface KeptBlobs {
  /** SHA-256 of each blob that an event names, in hex. */
  readonly hashes: readonly string[];
  /** Milliseconds since the Unix epoch; absent until it has ended. */
  readonly endedAt?: number;
}

export interface StoredBlobQueries {
  /**
   * Those to be deleted, oldest first: what was asked for, what failed and what completed before these times, what its
   * request asked for until `now`, then the same of accounts whose hold has ended by `now`. Times are milliseconds since the Unix epoch.
   */
  due(
    now: number,
    before: { readonly completed: number; readonly failed: number },
    limit: number,
  ): readonly DeletionDue[];
  /** Those of failed conversions, oldest first, without which no account stores more than so many bytes. */
  crowdedOut(mostBytes: number, limit: number): readonly DeletionDue[];
  /** Those of an account that have ended. */
  ended(accountId: string, limit: number): readonly DeletionDue[];
  /** What there is to delete of a conversion that has ended. */
  deletionOf(conversionId: string): DeletionDue | undefined;
  /** Undefined if the conversion was never accepted, or its blobs are deleted. */
  of(conversionId: string): KeptBlobs | undefined;
  /** Bytes of all that is kept for an account. */
  bytesOf(accountId: string): number;
  /** The same without what would be crowded out. */
  lastingBytesOf(accountId: string): number;
}

export function storedBlobQueries(db: Database): StoredBlobQueries {
  const columns = `conversion_id AS conversionId, account_id AS accountId,
     ended_event_id AS endedEventId, hashes, failed, deleted`;
  const select = `SELECT ${columns} FROM stored_blobs`;
  const deleted = db.prepare<[number], StoredDue>(`${select} WHERE deleted = 1 LIMIT ?`);
  const one = db.prepare<[string], StoredDue>(
    `${select} WHERE conversion_id = ? AND ended_at IS NOT NULL`,
  );
  const ended = db.prepare<[number, number, number], StoredDue>(
    `${select} WHERE held = 0 AND deleted = 0 AND failed = ? AND ended_at < ?
     ORDER BY ended_at, conversion_id LIMIT ?`,
  );
  // What is in the list above is left out.
  const requested = `(failed = 0 AND ended_at >= ? OR failed = 1 AND ended_at >= ?)`;
  const requestedEnds = db.prepare<[number, number, number, number], StoredDue>(
    `${select} WHERE held = 0 AND deleted = 0 AND due_at <= ? AND ${requested}
     ORDER BY due_at, conversion_id LIMIT ?`,
  );
  const ofAccount = `${select} WHERE account_id = ?`;
  const endedHolds = db
    .prepare<[number], string>('SELECT account_id FROM holds WHERE until <= ?')
    .pluck();
  const formerlyHeld = db.prepare<[string, number, number, number], StoredDue>(
    `${ofAccount} AND held = 1 AND deleted = 0 AND failed = ? AND ended_at < ? ORDER BY ended_at LIMIT ?`,
  );
  const requestedFormerlyHeld = db.prepare<[string, number, number, number, number], StoredDue>(
    `${ofAccount} AND held = 1 AND deleted = 0 AND due_at <= ? AND ${requested} ORDER BY due_at LIMIT ?`,
  );
  const endedOf = db.prepare<[string, number], StoredDue>(
    `${ofAccount} AND ended_at IS NOT NULL LIMIT ?`,
  );
  const kept = db.prepare<[string], { hashes: string; endedAt: number | null }>(
    'SELECT hashes, ended_at AS endedAt FROM stored_blobs WHERE conversion_id = ?',
  );
  const bytes = db
    .prepare<[string], number>('SELECT bytes FROM stored_bytes WHERE account_id = ?')
    .pluck();
  const lasting = db
    .prepare<[string], number>(
      `SELECT iif(EXISTS (SELECT 1 FROM holds WHERE holds.account_id = stored_bytes.account_id),
         bytes, bytes - failed) FROM stored_bytes WHERE account_id = ?`,
    )
    .pluck();
  const crowded = db
    .prepare<[number], [string, number]>(
      'SELECT account_id, bytes FROM stored_bytes WHERE failed > 0 AND bytes > ?',
    )
    .raw();
  const failedOf = db.prepare<[string, number, number], StoredDue>(
    `SELECT conversionId, accountId, endedEventId, hashes, failed, deleted FROM (
       SELECT ${columns}, ended_at, sum(bytes) OVER (ORDER BY ended_at, conversion_id) - bytes AS before
       FROM stored_blobs WHERE account_id = ? AND held = 0 AND failed = 1
     ) WHERE before < ? ORDER BY ended_at, conversionId LIMIT ?`,
  );
  return {
    due(now, before, limit) {
      const { completed, failed } = before;
      const due = deleted.all(limit);
      due.push(...ended.all(1, failed, limit - due.length));
      due.push(...ended.all(0, completed, limit - due.length));
      due.push(...requestedEnds.all(now, completed, failed, limit - due.length));
      for (const accountId of due.length < limit ? endedHolds.all(now) : []) {
        due.push(...formerlyHeld.all(accountId, 1, failed, limit - due.length));
        due.push(...formerlyHeld.all(accountId, 0, completed, limit - due.length));
        const room = limit - due.length;
        due.push(...requestedFormerlyHeld.all(accountId, now, completed, failed, room));
        if (due.length >= limit) break;
      }
      return due.map(toDue);
    },
    crowdedOut(mostBytes, limit) {
      const due: StoredDue[] = [];
      for (const [accountId, taken] of crowded.all(mostBytes)) {
        due.push(...failedOf.all(accountId, taken - mostBytes, limit - due.length));
        if (due.length >= limit) break;
      }
      return due.map(toDue);
    },
    deletionOf(conversionId) {
      const due = one.get(conversionId);
      return due && toDue(due);
    },
    ended: (accountId, limit) => endedOf.all(accountId, limit).map(toDue),
    of(conversionId) {
      const row = kept.get(conversionId);
      if (row === undefined) return undefined;
      const { hashes, endedAt } = row;
      return present<KeptBlobs>({ hashes: hashes.split(' '), endedAt });
    },
    bytesOf: (accountId) => bytes.get(accountId) ?? 0,
    lastingBytesOf: (accountId) => lasting.get(accountId) ?? 0,
  };
}
