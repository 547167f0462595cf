/**
 * A to-do list: accounts that are erased by the log, while something of them is left to destroy, and certificates that sign
 * no more by the log, while their data keys are there.
 */
import type { Database } from 'better-sqlite3';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';

/** `position` and `event_id` are those of the event that makes it due; of a certificate that signs there are none. */
const ddl = `
CREATE TABLE erasures (
  account_id TEXT PRIMARY KEY,
  position INTEGER NOT NULL,
  event_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE certificate_keys (
  certificate_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  position INTEGER,
  event_id TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX certificate_keys_by_account ON certificate_keys (account_id);
CREATE INDEX certificate_keys_due ON certificate_keys (position) WHERE position IS NOT NULL;`;

export const erasures: Projection = {
  name: 'erasures',
  version: 2,
  tables: ['erasures', 'certificate_keys'],
  ddl,
  handlers(db) {
    const insert = db.prepare(
      'INSERT INTO erasures (account_id, position, event_id) VALUES (?, ?, ?)',
    );
    const remove = db.prepare('DELETE FROM erasures WHERE account_id = ?');
    const add = db.prepare(
      'INSERT INTO certificate_keys (certificate_id, account_id) VALUES (?, ?)',
    );
    const due = db.prepare(
      'UPDATE certificate_keys SET position = ?, event_id = ? WHERE account_id = ? AND position IS NULL',
    );
    const destroyed = db.prepare('DELETE FROM certificate_keys WHERE certificate_id = ?');
    return typedHandlers({
      SignatureSet({ accountId, certificateId }, { position, id }) {
        due.run(position, id, accountId);
        if (certificateId !== undefined) add.run(certificateId, accountId);
      },
      SignatureRemoved({ accountId }, { position, id }) {
        due.run(position, id, accountId);
      },
      SignatureKeyDestroyed({ certificateId }) {
        destroyed.run(certificateId);
      },
      AccountErased({ accountId }, { position, id }) {
        insert.run(accountId, position, id);
        due.run(position, id, accountId);
      },
      ErasureCompleted({ accountId }) {
        remove.run(accountId);
      },
    });
  },
};

export interface ErasureDue {
  readonly accountId: string;
  /** The event that causes all the rest. */
  readonly erasedEventId: string;
}

export interface KeyDue {
  readonly certificateId: string;
  readonly accountId: string;
  /** The event since which it signs no more. */
  readonly endedEventId: string;
}

export interface ErasureQueries {
  /** The oldest first. */
  all(): readonly ErasureDue[];
  of(accountId: string): ErasureDue | undefined;
  /** Certificates that sign no more, the oldest first. @param accountId of this account alone */
  keys(accountId?: string): readonly KeyDue[];
}

export function erasureQueries(db: Database): ErasureQueries {
  const select = 'SELECT account_id AS accountId, event_id AS erasedEventId FROM erasures';
  const all = db.prepare<[], ErasureDue>(`${select} ORDER BY position`);
  const of = db.prepare<[string], ErasureDue>(`${select} WHERE account_id = ?`);
  const due =
    'SELECT certificate_id AS certificateId, account_id AS accountId, event_id AS endedEventId ' +
    'FROM certificate_keys WHERE position IS NOT NULL';
  const keys = db.prepare<[], KeyDue>(`${due} ORDER BY position`);
  const keysOf = db.prepare<[string], KeyDue>(`${due} AND account_id = ? ORDER BY position`);
  return {
    all: () => all.all(),
    of: (accountId) => of.get(accountId),
    keys: (accountId) => (accountId === undefined ? keys.all() : keysOf.all(accountId)),
  };
}
