/** The balance of each account beside the limit below which its owners are told by mail: once for each time it falls there. */
import type { Database } from 'better-sqlite3';
import type { RecordedEvent } from '../src/event-store/port.ts';
import type { typedHandlers } from '../src/read-model/projection.ts';

/** Without a limit of its own, credits of an account are low below this part of what was granted last. */
const LOW_PART = 10;

interface Low {
  readonly kind: 'credits_low';
  readonly accountId: string;
  readonly facts: { readonly balance: number; readonly below: number };
}

interface Row {
  readonly balance: number;
  readonly lastGrant: number;
  readonly below: number | null;
  readonly isLow: number;
}

/** @param tell called for the debit that a balance falls below the limit with */
export function lowCreditHandlers(
  db: Database,
  tell: (low: Low, event: RecordedEvent) => void,
): {
  readonly handlers: Parameters<typeof typedHandlers>[0];
  readonly close: (accountId: string) => void;
} {
  const returning = 'RETURNING balance, last_grant AS lastGrant, below, is_low AS isLow';
  const grant = db.prepare<[string, number, number], Row>(
    `INSERT INTO mail_credits (account_id, balance, last_grant) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET balance = balance + excluded.balance, last_grant = excluded.last_grant ${returning}`,
  );
  const add = db.prepare<[number, string], Row>(
    `UPDATE mail_credits SET balance = balance + ? WHERE account_id = ? ${returning}`,
  );
  const limit = db.prepare<[string, number | null], Row>(
    `INSERT INTO mail_credits (account_id, balance, last_grant, below) VALUES (?, 0, 0, ?)
     ON CONFLICT DO UPDATE SET below = excluded.below ${returning}`,
  );
  const mark = db.prepare('UPDATE mail_credits SET is_low = ? WHERE account_id = ?');
  const remove = db.prepare('DELETE FROM mail_credits WHERE account_id = ?');
  /** The limit, as whole credits: below it they are low. */
  const limitOf = ({ below, lastGrant }: Row): number => below ?? Math.ceil(lastGrant / LOW_PART);
  /** @returns whether they have fallen below it */
  const judge = (accountId: string, row: Row | undefined): row is Row => {
    if (row === undefined) return false;
    const isLow = row.balance < limitOf(row);
    if (isLow !== (row.isLow === 1)) mark.run(Number(isLow), accountId);
    return isLow && row.isLow === 0;
  };
  const handlers: Parameters<typeof typedHandlers>[0] = {
    CreditGranted({ accountId, amount }) {
      judge(accountId, grant.get(accountId, amount, amount));
    },
    CreditDebited({ accountId, amount }, event) {
      const row = add.get(-amount, accountId);
      if (!judge(accountId, row)) return;
      const facts = { balance: row.balance, below: limitOf(row) };
      tell({ kind: 'credits_low', accountId, facts }, event);
    },
    CreditRefunded({ accountId, amount }) {
      judge(accountId, add.get(amount, accountId));
    },
    // Whoever sets a limit sees the balance.
    LowCreditsChanged({ accountId, below = null }) {
      judge(accountId, limit.get(accountId, below));
    },
  };
  return { handlers, close: (accountId) => void remove.run(accountId) };
}
