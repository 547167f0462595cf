/** A to-do list: accounts that are erased by the log, while something of them is left to destroy. */
import type { Database } from 'better-sqlite3';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';

/** `position` and `event_id` are those of AccountErased. */
const ddl = `
CREATE TABLE erasures (
  account_id TEXT PRIMARY KEY,
  position INTEGER NOT NULL,
  event_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;`;

export const erasures: Projection = {
  name: 'erasures',
  version: 1,
  tables: ['erasures'],
  ddl,
  handlers(db) {
    const insert = db.prepare(
      'INSERT INTO erasures (account_id, position, event_id) VALUES (?, ?, ?)',
    );
    const remove = db.prepare('DELETE FROM erasures WHERE account_id = ?');
    return typedHandlers({
      AccountErased({ accountId }, { position, id }) {
        insert.run(accountId, position, id);
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

export interface ErasureQueries {
  /** The oldest first. */
  all(): readonly ErasureDue[];
  of(accountId: string): ErasureDue | undefined;
}

export function erasureQueries(db: Database): ErasureQueries {
  const select = 'SELECT account_id AS accountId, event_id AS erasedEventId FROM erasures';
  const all = db.prepare<[], ErasureDue>(`${select} ORDER BY position`);
  const of = db.prepare<[string], ErasureDue>(`${select} WHERE account_id = ?`);
  return { all: () => all.all(), of: (accountId) => of.get(accountId) };
}
