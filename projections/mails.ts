/** The mails that the service has to send: what is to be told to whom. A mail that was sent, or never will be, is not kept. */
import { hash } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import type { MailKind } from '../src/domain/choices.ts';
import type { EventMetadata } from '../src/domain/event-metadata.ts';
import type { RecordedEvent } from '../src/event-store/port.ts';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';
import { present, type Stored } from '../src/read-model/rows.ts';

/**
 * `subject` is the id of what a mail is about, where its kind needs one. `email` is sealed, and absent where the person has
 * a sign-in with an address. `next_at` 0: at once.
 */
const ddl = `
CREATE TABLE mails (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  account_id TEXT,
  person_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  subject TEXT,
  email TEXT,
  created_at INTEGER NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX mails_due ON mails (next_at, number);
CREATE INDEX mails_by_age ON mails (created_at);
CREATE INDEX mails_of_account ON mails (account_id);
CREATE INDEX mails_of_person ON mails (person_id);
CREATE TABLE mail_ends (
  outcome TEXT PRIMARY KEY,
  count INTEGER NOT NULL,
  last_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;`;

/** The same for an event and a person wherever the log is read: it is in the Message-ID. */
export const mailIdOf = (eventId: string, kind: MailKind, personId: string): string =>
  `mail_${hash('sha256', `${eventId} ${kind} ${personId}`, 'hex').slice(0, 26)}`;

interface Told {
  readonly kind: MailKind;
  readonly accountId?: string;
  readonly personId: string;
  readonly subject?: string;
  readonly email?: string;
}

export const mails: Projection = {
  name: 'mails',
  version: 1,
  tables: ['mails', 'mail_ends'],
  ddl,
  handlers(db) {
    const insert = db.prepare(
      `INSERT INTO mails (id, kind, account_id, person_id, event_id, subject, email, created_at)
       VALUES (@id, @kind, @accountId, @personId, @eventId, @subject, @email, @createdAt) ON CONFLICT DO NOTHING`,
    );
    const remove = db.prepare('DELETE FROM mails WHERE id = ?');
    const removeOf = db.prepare('DELETE FROM mails WHERE person_id = ?');
    const removeAll = db.prepare('DELETE FROM mails WHERE account_id = ?');
    const putOff = db.prepare('UPDATE mails SET attempt = ?, next_at = ? WHERE id = ?');
    const end = db.prepare(
      `INSERT INTO mail_ends (outcome, count, last_at) VALUES (?, 1, ?)
       ON CONFLICT DO UPDATE SET count = count + 1, last_at = max(last_at, excluded.last_at)`,
    );
    const tell = (told: Told, event: RecordedEvent): void => {
      const { accountId = null, subject = null, email = null, ...rest } = told;
      const id = mailIdOf(event.id, told.kind, told.personId);
      const createdAt = (event.metadata as EventMetadata).time;
      insert.run({ id, ...rest, accountId, subject, email, eventId: event.id, createdAt });
    };
    return typedHandlers({
      MemberInvited({ accountId, personId, email, byMail }, event) {
        if (byMail) tell({ kind: 'invitation', accountId, personId, email }, event);
      },
      // Nobody is left to tell, or nothing.
      InvitationRevoked({ personId }) {
        removeOf.run(personId);
      },
      MemberJoined({ invitation }) {
        removeOf.run(invitation);
      },
      PersonErased({ personId }) {
        removeOf.run(personId);
      },
      AccountErased({ accountId }) {
        removeAll.run(accountId);
      },
      MailSent({ mailId, at }) {
        remove.run(mailId);
        end.run('sent', at);
      },
      MailFailed({ mailId, attempt, nextAt, at }) {
        if (nextAt !== undefined) return void putOff.run(attempt, nextAt, mailId);
        remove.run(mailId);
        end.run('failed', at);
      },
    });
  },
};

/** A mail that is to be sent. */
export interface MailRow {
  readonly id: string;
  readonly kind: MailKind;
  readonly accountId?: string;
  readonly personId: string;
  /** The event that it tells of. */
  readonly eventId: string;
  readonly subject?: string;
  /** Sealed. */
  readonly email?: string;
  /** The time of the event, in milliseconds since the Unix epoch. */
  readonly createdAt: number;
  /** The tries so far. */
  readonly attempt: number;
}

/** Times are milliseconds since the Unix epoch. */
export interface MailTotals {
  readonly waiting: number;
  readonly oldestAt: number | undefined;
  readonly sent: number;
  readonly lastSentAt: number | undefined;
  /** Those that nobody tries any more. */
  readonly failed: number;
  readonly lastFailedAt: number | undefined;
}

export interface MailQueries {
  /** Those whose time has come, the longest due first. */
  due(now: number, limit: number): readonly MailRow[];
  /** Those of events from before a time. */
  olderThan(time: number, limit: number): readonly MailRow[];
  /** The time when the next one is due that is not due yet. */
  nextAt(now: number): number | undefined;
  isWaiting(id: string): boolean;
  totals(): MailTotals;
}

export function mailQueries(db: Database): MailQueries {
  const select = `SELECT id, kind, account_id AS accountId, person_id AS personId, event_id AS eventId, subject, email,
    created_at AS createdAt, attempt FROM mails`;
  const due = db.prepare<[number, number], Stored<MailRow>>(
    `${select} WHERE next_at <= ? ORDER BY next_at, number LIMIT ?`,
  );
  const older = db.prepare<[number, number], Stored<MailRow>>(
    `${select} WHERE created_at < ? ORDER BY created_at LIMIT ?`,
  );
  const next = db
    .prepare<[number], number | null>('SELECT min(next_at) FROM mails WHERE next_at > ?')
    .pluck();
  const waits = db.prepare<[string], number>('SELECT 1 FROM mails WHERE id = ?').pluck();
  const waiting = db.prepare<[], { waiting: number; oldestAt: number | null }>(
    'SELECT count(*) AS waiting, min(created_at) AS oldestAt FROM mails',
  );
  const ends = db.prepare<[string], { count: number; lastAt: number }>(
    'SELECT count, last_at AS lastAt FROM mail_ends WHERE outcome = ?',
  );
  const rowOf = (row: Stored<MailRow>): MailRow => present<MailRow>(row);
  return {
    due: (now, limit) => due.all(now, limit).map(rowOf),
    olderThan: (time, limit) => older.all(time, limit).map(rowOf),
    nextAt: (now) => next.get(now) ?? undefined,
    isWaiting: (id) => waits.get(id) !== undefined,
    totals() {
      const { waiting: count, oldestAt } = waiting.get() ?? { waiting: 0, oldestAt: null };
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
