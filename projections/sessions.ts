/** Open sessions of accounts, and the clients that their owners signed in from lately. */
import type { Database } from 'better-sqlite3';
import type { EventMetadata } from '../src/domain/event-metadata.ts';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';

/** Clients remembered of an account. */
const KNOWN_CLIENTS = 10;

/** `position` is that of SessionOpened; `client` and `expires_at` are from it. */
const ddl = `
CREATE TABLE sessions (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  expires_at INTEGER NOT NULL
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
  version: 1,
  tables: ['sessions', 'known_clients'],
  ddl,
  handlers(db) {
    const removeExpired = db.prepare(
      'DELETE FROM sessions WHERE account_id = ? AND expires_at <= ?',
    );
    const insert = db.prepare(
      'INSERT INTO sessions (position, id, account_id, expires_at) VALUES (?, ?, ?, ?)',
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
      SessionOpened({ accountId, sessionId, expiresAt, client }, event) {
        const { time } = event.metadata as EventMetadata;
        removeExpired.run(accountId, time);
        insert.run(event.position, sessionId, accountId, expiresAt);
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

export interface SessionQueries {
  /** The ids of the account's sessions that have not ended by `now`, newest first. */
  open(accountId: string, now: number): readonly string[];
  /** Returns when the account's owner last signed in from the client, where that is remembered. */
  lastSignIn(client: string): number | undefined;
}

export function sessionQueries(db: Database): SessionQueries {
  const open = db
    .prepare<[string, number], string>(
      'SELECT id FROM sessions WHERE account_id = ? AND expires_at > ? ORDER BY position DESC',
    )
    .pluck();
  const lastSignIn = db
    .prepare<[string], number>('SELECT seen_at FROM known_clients WHERE client = ?')
    .pluck();
  return {
    open: (accountId, now) => open.all(accountId, now),
    lastSignIn: (client) => lastSignIn.get(client),
  };
}
