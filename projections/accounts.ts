/** The open accounts: plan, balance and the sealed address of sign-in. */
import type { Database } from 'better-sqlite3';
import type { Plan } from '../src/domain/event-fields.ts';
import type { EventMetadata } from '../src/domain/event-metadata.ts';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';
import type { Slice } from '../src/read-model/rows.ts';

/** `position` is that of AccountOpened: the order in which accounts were opened. */
const ddl = `
CREATE TABLE accounts (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  email TEXT NOT NULL,
  plan TEXT NOT NULL,
  public_name TEXT,
  credits INTEGER NOT NULL DEFAULT 0,
  renewed_month TEXT NOT NULL DEFAULT '',
  operator INTEGER NOT NULL DEFAULT 0,
  suspended INTEGER NOT NULL DEFAULT 0,
  must_change_password INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;`;

export const accounts: Projection = {
  name: 'accounts',
  version: 7,
  tables: ['accounts'],
  ddl,
  handlers(db) {
    const insert = db.prepare(
      `INSERT INTO accounts (position, id, email, plan, must_change_password, created_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
    );
    const setPlan = db.prepare('UPDATE accounts SET plan = ? WHERE id = ?');
    const setPublicName = db.prepare('UPDATE accounts SET public_name = ? WHERE id = ?');
    const addCredits = db.prepare('UPDATE accounts SET credits = credits + ? WHERE id = ?');
    const setRenewed = db.prepare('UPDATE accounts SET renewed_month = ? WHERE id = ?');
    const setOperator = db.prepare('UPDATE accounts SET operator = ? WHERE id = ?');
    const setSuspended = db.prepare('UPDATE accounts SET suspended = ? WHERE id = ?');
    const setPasswordChanged = db.prepare(
      'UPDATE accounts SET must_change_password = 0 WHERE id = ?',
    );
    const setEmail = db.prepare('UPDATE accounts SET email = ? WHERE id = ?');
    const remove = db.prepare('DELETE FROM accounts WHERE id = ?');
    return typedHandlers({
      AccountOpened({ accountId, email, plan, mustChangePassword = false }, event) {
        const { time } = event.metadata as EventMetadata;
        insert.run(event.position, accountId, email, plan, Number(mustChangePassword), time);
      },
      PlanChanged({ accountId, plan }) {
        setPlan.run(plan, accountId);
      },
      PublicNameChanged({ accountId, name = null }) {
        setPublicName.run(name, accountId);
      },
      CreditGranted({ accountId, amount, month }) {
        addCredits.run(amount, accountId);
        if (month !== undefined) setRenewed.run(month, accountId);
      },
      CreditDebited({ accountId, amount }) {
        addCredits.run(-amount, accountId);
      },
      CreditRefunded({ accountId, amount }) {
        addCredits.run(amount, accountId);
      },
      OperatorGranted({ accountId }) {
        setOperator.run(1, accountId);
      },
      OperatorRevoked({ accountId }) {
        setOperator.run(0, accountId);
      },
      AccountSuspended({ accountId }) {
        setSuspended.run(1, accountId);
      },
      AccountResumed({ accountId }) {
        setSuspended.run(0, accountId);
      },
      PasswordChanged({ accountId }) {
        setPasswordChanged.run(accountId);
      },
      EmailChanged({ accountId, email }) {
        setEmail.run(email, accountId);
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
  /** The name that strangers are told who check a PDF of it; null: none. Sealed. */
  readonly publicName: string | null;
  readonly credits: number;
  /** It may act for the service, unless `mustChangePassword`. */
  readonly isOperator: boolean;
  /** Nothing new is accepted of it. */
  readonly isSuspended: boolean;
  /** It has the password that the first start printed. */
  readonly mustChangePassword: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
}

export interface AccountQueries {
  byId(id: string): AccountRow | undefined;
  /** Oldest first. */
  all(page: Slice): readonly AccountRow[];
  /** Newest first. */
  newest(page: Slice): readonly AccountRow[];
  count(): number;
  /** Accounts on one of the plans that have got no credits for the month yet, but for suspended ones. */
  renewalsDue(
    plans: readonly string[],
    month: string,
    limit: number,
  ): readonly Pick<AccountRow, 'id' | 'plan'>[];
  /** The ids of open accounts that are operators. */
  operators(): readonly string[];
  /** The oldest account that is still open. */
  first(): AccountRow | undefined;
}

interface Stored extends Omit<AccountRow, 'isOperator' | 'isSuspended' | 'mustChangePassword'> {
  readonly operator: number;
  readonly suspended: number;
  readonly mustChangePassword: number;
}

const rowOf = ({ operator, suspended, mustChangePassword, ...row }: Stored): AccountRow => ({
  ...row,
  isOperator: operator === 1,
  isSuspended: suspended === 1,
  mustChangePassword: mustChangePassword === 1,
});

export function accountQueries(db: Database): AccountQueries {
  const select = `SELECT id, email, plan, public_name AS publicName, credits, operator, suspended, must_change_password AS mustChangePassword,
    created_at AS createdAt FROM accounts`;
  const byId = db.prepare<[string], Stored>(`${select} WHERE id = ?`);
  const all = db.prepare<[number, number], Stored>(`${select} ORDER BY position LIMIT ? OFFSET ?`);
  const newest = db.prepare<[number, number], Stored>(
    `${select} ORDER BY position DESC LIMIT ? OFFSET ?`,
  );
  const count = db.prepare<[], number>('SELECT count(*) FROM accounts').pluck();
  // The sum keeps SQLite from recompiling the statement for each limit that is bound.
  const renewalsDue = db.prepare<[string, string, number], Pick<AccountRow, 'id' | 'plan'>>(
    `SELECT id, plan FROM accounts WHERE plan IN (SELECT value FROM json_each(?)) AND suspended = 0
       AND renewed_month < ? ORDER BY position LIMIT ? + 0`,
  );
  const operators = db.prepare<[], string>('SELECT id FROM accounts WHERE operator = 1').pluck();
  const page = ({ offset, limit }: Slice) => all.all(limit, offset).map(rowOf);
  return {
    byId: (id) => byId.all(id).map(rowOf)[0],
    all: page,
    newest: ({ offset, limit }) => newest.all(limit, offset).map(rowOf),
    renewalsDue: (plans, month, limit) => renewalsDue.all(JSON.stringify(plans), month, limit),
    operators: () => operators.all(),
    count: () => count.get() ?? 0,
    first: () => page({ offset: 0, limit: 1 })[0],
  };
}
