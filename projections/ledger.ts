/** Every grant, debit and refund of an account, each with the balance after it. */
import type { Database } from 'better-sqlite3';
import type { EventMetadata } from '../src/domain/event-metadata.ts';
import type { RecordedEvent } from '../src/event-store/port.ts';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';
import { countWhile, type Page, present, type Slice, type Stored } from '../src/read-model/rows.ts';

/** `number` counts an account's entries from 1, so that a page is found without skipping rows. */
const ddl = `
CREATE TABLE ledger_entries (
  account_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  amount INTEGER NOT NULL,
  balance INTEGER NOT NULL,
  conversion_id TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE ledger_balances (
  account_id TEXT PRIMARY KEY,
  entries INTEGER NOT NULL,
  balance INTEGER NOT NULL
) STRICT, WITHOUT ROWID;`;

export type LedgerEntryType = 'grant' | 'debit' | 'refund';

export const ledger: Projection = {
  name: 'ledger',
  version: 1,
  tables: ['ledger_entries', 'ledger_balances'],
  ddl,
  handlers(db) {
    const book = db.prepare<[string, number], { entries: number; balance: number }>(
      `INSERT INTO ledger_balances (account_id, entries, balance) VALUES (?, 1, ?)
       ON CONFLICT DO UPDATE SET entries = entries + 1, balance = balance + excluded.balance
       RETURNING entries, balance`,
    );
    const insert = db.prepare(
      `INSERT INTO ledger_entries
         (account_id, number, id, type, amount, balance, conversion_id, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    function enter(
      type: LedgerEntryType,
      accountId: string,
      amount: number,
      conversionId: string | null,
      event: RecordedEvent,
    ): void {
      const booked = book.get(accountId, amount);
      const { time } = event.metadata as EventMetadata;
      const id = `entry_${event.id.replaceAll('-', '')}`;
      const { entries, balance } = booked ?? {};
      insert.run(accountId, entries, id, type, amount, balance, conversionId, time);
    }
    return typedHandlers({
      CreditGranted({ accountId, amount }, event) {
        enter('grant', accountId, amount, null, event);
      },
      CreditDebited({ accountId, amount, conversionId }, event) {
        enter('debit', accountId, -amount, conversionId, event);
      },
      CreditRefunded({ accountId, amount, conversionId }, event) {
        enter('refund', accountId, amount, conversionId, event);
      },
    });
  },
};

export interface LedgerRow {
  /** `entry_` and the hex digits of its event's id. */
  readonly id: string;
  readonly accountId: string;
  readonly type: LedgerEntryType;
  /** Signed: a debit is negative. */
  readonly amount: number;
  /** After this entry. */
  readonly balance: number;
  readonly conversionId?: string;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
}

export interface LedgerQueries {
  /** Newest first; `total` counts all entries of the account. */
  page(accountId: string, page: Slice): Page<LedgerRow>;
  /** The sums of a time (milliseconds since the Unix epoch, `to` exclusive), and the balance before and after it. */
  inTime(accountId: string, from: number, to: number): LedgerSums;
}

export interface LedgerSums {
  readonly before: number;
  readonly after: number;
  /** Signed, as amounts are; absent: none. */
  readonly sums: Readonly<Partial<Record<LedgerEntryType, number>>>;
}

export function ledgerQueries(db: Database): LedgerQueries {
  const entries = db
    .prepare<[string], number>('SELECT entries FROM ledger_balances WHERE account_id = ?')
    .pluck();
  const newest = db.prepare<[string, number, number], Stored<LedgerRow>>(
    `SELECT id, account_id AS accountId, type, amount, balance, conversion_id AS conversionId,
       created_at AS createdAt
     FROM ledger_entries WHERE account_id = ? AND number <= ? ORDER BY number DESC LIMIT ?`,
  );
  const entryOf = db.prepare<[string, number], { balance: number; time: number }>(
    'SELECT balance, created_at AS time FROM ledger_entries WHERE account_id = ? AND number = ?',
  );
  const sumsOf = db.prepare<[string, number, number], { type: LedgerEntryType; sum: number }>(
    `SELECT type, sum(amount) AS sum FROM ledger_entries
     WHERE account_id = ? AND number > ? AND number <= ? GROUP BY type`,
  );
  return {
    inTime(accountId, from, to) {
      const total = entries.get(accountId) ?? 0;
      const countUpTo = (end: number): number =>
        countWhile(total, (number) => (entryOf.get(accountId, number)?.time ?? 0) < end);
      const [first, last] = [countUpTo(from), countUpTo(to)];
      const sums = sumsOf.all(accountId, first, last).map(({ type, sum }) => [type, sum] as const);
      return {
        before: entryOf.get(accountId, first)?.balance ?? 0,
        after: entryOf.get(accountId, last)?.balance ?? 0,
        sums: Object.fromEntries(sums),
      };
    },
    page(accountId, { offset, limit }) {
      const total = entries.get(accountId) ?? 0;
      return { rows: newest.all(accountId, total - offset, limit).map(present<LedgerRow>), total };
    },
  };
}
