/** What is asked of the tables in `mails.ts`. */
import type { Database } from 'better-sqlite3';
import type { MailKind } from '../src/domain/choices.ts';
import { present, type Stored } from '../src/read-model/rows.ts';

/** A mail that is to be sent. */
export interface MailRow {
  readonly id: string;
  readonly kind: MailKind;
  readonly accountId?: string;
  readonly personId: string;
  /** The event that it tells of. */
  readonly eventId: string;
  /** The id of what it is about. */
  readonly about?: string;
  /** Sealed. */
  readonly email?: string;
  /** Texts in it are sealed. */
  readonly facts: Readonly<Record<string, string | number>>;
  /** The time from which there is something to tell, in milliseconds since the Unix epoch. */
  readonly since: number;
  /** The tries so far. */
  readonly attempt: number;
}

/** Times are milliseconds since the Unix epoch. */
export interface MailTotals {
  /** None while the service sends no mail. */
  readonly waiting: number;
  readonly oldestAt: number | undefined;
  readonly sent: number;
  readonly lastSentAt: number | undefined;
  /** Those that nobody tries any more. */
  readonly failed: number;
  readonly lastFailedAt: number | undefined;
}

export interface MailQueries {
  /** Addresses, as HMACs, that links were asked for until then and not followed, the oldest first. */
  resetAsks(
    until: number,
    limit: number,
  ): readonly { readonly address: string; readonly askedAt: number }[];
  /** Those whose time has come, the longest due first. */
  due(now: number, limit: number): readonly MailRow[];
  /** Those that were to be told before a time. */
  olderThan(time: number, limit: number): readonly MailRow[];
  /** The time when the next one is due that is not due yet. */
  nextAt(now: number): number | undefined;
  isWaiting(id: string): boolean;
  totals(now: number): MailTotals;
}

type StoredMail = Stored<Omit<MailRow, 'facts'>> & { readonly facts: string };

const rowOf = ({ facts, ...row }: StoredMail): MailRow => ({
  ...present<Omit<MailRow, 'facts'>>(row),
  facts: JSON.parse(facts) as MailRow['facts'],
});

export function mailQueries(db: Database): MailQueries {
  const select = `SELECT id, kind, account_id AS accountId, person_id AS personId, event_id AS eventId, about, email,
    facts, since, attempt FROM mails`;
  const due = db.prepare<[number, number], StoredMail>(
    `${select} WHERE next_at <= ? ORDER BY next_at, number LIMIT ?`,
  );
  const older = db.prepare<[number, number], StoredMail>(
    `${select} WHERE since < ? ORDER BY since LIMIT ?`,
  );
  const next = db
    .prepare<[number], number | null>('SELECT min(next_at) FROM mails WHERE next_at > ?')
    .pluck();
  const asks = db.prepare<[number, number], { address: string; askedAt: number }>(
    'SELECT address, asked_at AS askedAt FROM reset_asks WHERE asked_at <= ? ORDER BY asked_at LIMIT ?',
  );
  const waits = db.prepare<[string], number>('SELECT 1 FROM mails WHERE id = ?').pluck();
  const waiting = db.prepare<[number], { waiting: number; oldestAt: number | null }>(
    'SELECT count(*) AS waiting, min(since) AS oldestAt FROM mails WHERE since <= ? AND EXISTS (SELECT 1 FROM mail_switch)',
  );
  const ends = db.prepare<[string], { count: number; lastAt: number }>(
    'SELECT count, last_at AS lastAt FROM mail_ends WHERE outcome = ?',
  );
  return {
    resetAsks: (until, limit) => asks.all(until, limit),
    due: (now, limit) => due.all(now, limit).map(rowOf),
    olderThan: (time, limit) => older.all(time, limit).map(rowOf),
    nextAt: (now) => next.get(now) ?? undefined,
    isWaiting: (id) => waits.get(id) !== undefined,
    totals(now) {
      const { waiting: count, oldestAt } = waiting.get(now) ?? { waiting: 0, oldestAt: null };
      const [sent, failed] = [ends.get('sent'), ends.get('failed')];
      return {
        waiting: count,
        oldestAt: oldestAt ?? undefined,
        sent: sent?.count ?? 0,
        lastSentAt: sent?.lastAt,
        failed: failed?.count ?? 0,
        lastFailedAt: failed?.lastAt,
      };
    },
  };
}
