/** The balance of each account beside what was granted last, for its webhooks: credits are low once for each grant. */
import type { Database } from 'better-sqlite3';
import type { RecordedEvent } from '../src/event-store/port.ts';
import type { typedHandlers } from '../src/read-model/projection.ts';

/** Below this part of what was granted last, credits are low. */
const LOW_PART = 10;

/** @param tellLow called for the debit that a balance falls below a tenth with */
export function creditHandlers(
  db: Database,
  tellLow: (accountId: string, event: RecordedEvent) => void,
): Parameters<typeof typedHandlers>[0] {
  const grant = db.prepare(
    `INSERT INTO webhook_credits (account_id, balance, last_grant, told) VALUES (?, ?, ?, 0)
     ON CONFLICT DO UPDATE SET balance = balance + excluded.balance, last_grant = excluded.last_grant, told = 0`,
  );
  const add = db.prepare<
    [number, string],
    { readonly balance: number; readonly lastGrant: number; readonly told: number }
  >(
    `UPDATE webhook_credits SET balance = balance + ? WHERE account_id = ?
     RETURNING balance, last_grant AS lastGrant, told`,
  );
  const told = db.prepare('UPDATE webhook_credits SET told = 1 WHERE account_id = ?');
  return {
    CreditGranted({ accountId, amount }) {
      grant.run(accountId, amount, amount);
    },
    CreditDebited({ accountId, amount }, event) {
      const credits = add.get(-amount, accountId);
      if (credits?.told !== 0 || credits.balance * LOW_PART >= credits.lastGrant) return;
      told.run(accountId);
      tellLow(accountId, event);
    },
    CreditRefunded({ accountId, amount }) {
      add.get(amount, accountId);
    },
  };
}
