/** The open accounts: plan, balance and the sealed address of sign-in. */
import type { Database } from 'better-sqlite3';
import type { EventMetadata } from '../src/domain/event-metadata.ts';
import type { Plan } from '../src/domain/events.ts';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';

/** `position` is that of AccountOpened: the order in which accounts were opened. */
const ddl = `
CREATE TABLE accounts (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  email TEXT NOT NULL,
  plan TEXT NOT NULL,
  credits INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;`;

export const accounts: Projection = {
  name: 'accounts',
  version: 1,
  tables: ['accounts'],
  ddl,
  handlers(db) {
    const insert = db.prepare(
      'INSERT INTO accounts (position, id, email, plan, created_at) VALUES (?, ?, ?, ?, ?)',
    );
    const setPlan = db.prepare('UPDATE accounts SET plan = ? WHERE id = ?');
    const addCredits = db.prepare('UPDATE accounts SET credits = credits + ? WHERE id = ?');
    const remove = db.prepare('DELETE FROM accounts WHERE id = ?');
    return typedHandlers({
      AccountOpened({ accountId, email, plan }, event) {
        const { time } = event.metadata as EventMetadata;
        insert.run(event.position, accountId, email, plan, time);
      },
      PlanChanged({ accountId, plan }) {
        setPlan.run(plan, accountId);
      },
      CreditGranted({ accountId, amount }) {
        addCredits.run(amount, accountId);
      },
      CreditDebited({ accountId, amount }) {
        addCredits.run(-amount, accountId);
      },
      CreditRefunded({ accountId, amount }) {
        addCredits.run(amount, accountId);
      },
      AccountErased({ accountId }) {
        remove.run(accountId);
      },
    });
  },
};

export interface AccountRow {
  readonly id: string;
  /** Sealed: the keyring's `unseal` reads it. */
  readonly email: string;
  readonly plan: Plan;
  readonly credits: number;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
}

export interface AccountQueries {
  byId(id: string): AccountRow | undefined;
  /** Oldest first. */
  all(page: { readonly offset: number; readonly limit: number }): readonly AccountRow[];
  /** The oldest account that is still open. */
  first(): AccountRow | undefined;
}

export function accountQueries(db: Database): AccountQueries {
  const select = 'SELECT id, email, plan, credits, created_at AS createdAt FROM accounts';
  const byId = db.prepare<[string], AccountRow>(`${select} WHERE id = ?`);
  const all = db.prepare<[number, number], AccountRow>(
    `${select} ORDER BY position LIMIT ? OFFSET ?`,
  );
  return {
    byId: (id) => byId.get(id),
    all: ({ offset, limit }) => all.all(limit, offset),
    first: () => all.get(1, 0),
  };
}
