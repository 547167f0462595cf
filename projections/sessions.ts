/** Open sessions of accounts, and the clients that their owners signed in from lately. */
import type { Database } from 'better-sqlite3';
import type { SessionKind } from '../src/domain/event-fields.ts';
import type { EventMetadata } from '../src/domain/event-metadata.ts';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';
import type { Page, Slice } from '../src/read-model/rows.ts';

/** Clients remembered of an account. */
const KNOWN_CLIENTS = 10;

/** `position` is that of SessionOpened; the rest is from it. `user_agent` and `address` are sealed. */
const ddl = `
CREATE TABLE sessions (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  opened_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  user_agent TEXT,
  address TEXT
) STRICT;
CREATE INDEX sessions_of_account ON sessions (account_id, position);
CREATE TABLE known_clients (
  client TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT;
CREATE INDEX known_clients_of_account ON known_clients (account_id, position);`;

export const sessions: Projection = {
  name: 'sessions',
  version: 2,
  tables: ['sessions', 'known_clients'],
  ddl,
  handlers(db) {
    const removeExpired = db.prepare(
      'DELETE FROM sessions WHERE account_id = ? AND expires_at <= ?',
    );
    const insert = db.prepare(
      `INSERT INTO sessions
         (position, id, account_id, kind, opened_at, expires_at, user_agent, address)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const remove = db.prepare('DELETE FROM sessions WHERE id = ?');
    const removeAll = db.prepare('DELETE FROM sessions WHERE account_id = ?');
    const know = db.prepare(
      `INSERT INTO known_clients (client, account_id, position, seen_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (client) DO UPDATE SET position = excluded.position, seen_at = excluded.seen_at`,
    );
    const forgetOldest = db.prepare(
      `DELETE FROM known_clients WHERE client IN (SELECT client FROM known_clients
       WHERE account_id = ? ORDER BY position DESC LIMIT -1 OFFSET ${KNOWN_CLIENTS})`,
    );
    const forgetAll = db.prepare('DELETE FROM known_clients WHERE account_id = ?');
    return typedHandlers({
      SessionOpened(data, event) {
        const { accountId, sessionId, expiresAt, client, kind = 'api', userAgent = null } = data;
        const { time, client: address = null } = event.metadata as EventMetadata;
        removeExpired.run(accountId, time);
        const { position } = event;
        insert.run(position, sessionId, accountId, kind, time, expiresAt, userAgent, address);
        if (client === undefined) return;
        know.run(client, accountId, event.position, time);
        forgetOldest.run(accountId);
      },
      SessionRevoked({ sessionId }) {
        remove.run(sessionId);
      },
      PasswordChanged({ accountId }) {
        removeAll.run(accountId);
      },
      SessionsEnded({ accountId }) {
        removeAll.run(accountId);
      },
      AccountErased({ accountId }) {
        removeAll.run(accountId);
        forgetAll.run(accountId);
      },
    });
  },
};

export interface SessionRow {
  readonly id: string;
  readonly accountId: string;
  readonly kind: SessionKind;
  /** Milliseconds since the Unix epoch, as is `expiresAt`. */
  readonly openedAt: number;
  readonly expiresAt: number;
  /** Sealed, as is `address`; null where it is not known. */
  readonly userAgent: string | null;
  readonly address: string | null;
}

export interface SessionQueries {
  /** The ids of the account's sessions that have not ended by `now`, newest first. */
  open(accountId: string, now: number): readonly string[];
  /** The same sessions, page by page; `total` counts them all. */
  page(accountId: string, now: number, page: Slice): Page<SessionRow>;
  /** Returns when the account's owner last signed in from the client, where that is remembered. */
  lastSignIn(client: string): number | undefined;
}

export function sessionQueries(db: Database): SessionQueries {
  const open = db
    .prepare<[string, number], string>(
      'SELECT id FROM sessions WHERE account_id = ? AND expires_at > ? ORDER BY position DESC',
    )
    .pluck();
  const rows = db.prepare<[string, number, number, number], SessionRow>(
    `SELECT id, account_id AS accountId, kind, opened_at AS openedAt, expires_at AS expiresAt,
       user_agent AS userAgent, address
     FROM sessions WHERE account_id = ? AND expires_at > ? ORDER BY position DESC LIMIT ? OFFSET ?`,
  );
  const count = db
    .prepare<[string, number], number>(
      'SELECT count(*) FROM sessions WHERE account_id = ? AND expires_at > ?',
    )
    .pluck();
  const lastSignIn = db
    .prepare<[string], number>('SELECT seen_at FROM known_clients WHERE client = ?')
    .pluck();
  return {
    open: (accountId, now) => open.all(accountId, now),
    page: (accountId, now, { offset, limit }) => ({
      rows: rows.all(accountId, now, limit, offset),
      total: count.get(accountId, now) ?? 0,
    }),
    lastSignIn: (client) => lastSignIn.get(client),
  };
}
