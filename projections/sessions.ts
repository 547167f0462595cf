/** Open sessions of accounts, and the clients that people signed in from lately. */
import type { Database } from 'better-sqlite3';
import type { SignInMethod } from '../src/domain/choices.ts';
import type { SessionKind } from '../src/domain/event-fields.ts';
import type { EventMetadata } from '../src/domain/event-metadata.ts';
import { founderOf } from '../src/domain/members.ts';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';
import type { Page, Slice } from '../src/read-model/rows.ts';

/** Clients remembered of a person. */
const KNOWN_CLIENTS = 10;

/** `position` is that of SessionOpened; the rest is from it, and what was proved later. `user_agent` and `address` are sealed. */
const ddl = `
CREATE TABLE sessions (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  person_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  methods TEXT NOT NULL,
  opened_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  user_agent TEXT,
  address TEXT
) STRICT;
CREATE INDEX sessions_of_account ON sessions (account_id, position);
CREATE INDEX sessions_of_person ON sessions (person_id, account_id, position);
CREATE TABLE known_clients (
  client TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  person_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT;
CREATE INDEX known_clients_of_account ON known_clients (account_id);
CREATE INDEX known_clients_of_person ON known_clients (person_id, position);`;

export const sessions: Projection = {
  name: 'sessions',
  version: 7,
  tables: ['sessions', 'known_clients'],
  ddl,
  handlers(db) {
    const removeExpired = db.prepare(
      'DELETE FROM sessions WHERE account_id = ? AND expires_at <= ?',
    );
    const insert = db.prepare(
      `INSERT INTO sessions
         (position, id, account_id, person_id, kind, methods, opened_at, expires_at, user_agent, address)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const confirm = db.prepare("UPDATE sessions SET methods = methods || ' ' || ? WHERE id = ?");
    const remove = db.prepare('DELETE FROM sessions WHERE id = ?');
    const removeAll = db.prepare('DELETE FROM sessions WHERE account_id = ?');
    const removeOf = db.prepare('DELETE FROM sessions WHERE person_id = ? AND account_id = ?');
    const removeOfPerson = db.prepare('DELETE FROM sessions WHERE person_id = ?');
    const know = db.prepare(
      `INSERT INTO known_clients (client, account_id, person_id, position, seen_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (client) DO UPDATE SET position = excluded.position, seen_at = excluded.seen_at`,
    );
    const forgetOldest = db.prepare(
      `DELETE FROM known_clients WHERE client IN (SELECT client FROM known_clients
       WHERE person_id = ? ORDER BY position DESC LIMIT -1 OFFSET ${KNOWN_CLIENTS})`,
    );
    const forgetOf = db.prepare('DELETE FROM known_clients WHERE person_id = ?');
    const forgetAll = db.prepare('DELETE FROM known_clients WHERE account_id = ?');
    const addressChanged = (personId: string): void => {
      removeOfPerson.run(personId);
      // Clients are known by the address: whoever gets it next has others.
      forgetOf.run(personId);
    };
    return typedHandlers({
      SessionOpened(data, event) {
        const { accountId, sessionId, expiresAt, client, kind = 'api', userAgent = null } = data;
        const { personId = founderOf(accountId), methods = ['password'] } = data;
        const { time, client: address = null } = event.metadata as EventMetadata;
        removeExpired.run(accountId, time);
        const { position } = event;
        const whose = [accountId, personId];
        const how = [kind, methods.join(' ')];
        insert.run(position, sessionId, ...whose, ...how, time, expiresAt, userAgent, address);
        if (client === undefined) return;
        know.run(client, ...whose, event.position, time);
        forgetOldest.run(personId);
      },
      SessionConfirmed({ sessionId, methods }) {
        confirm.run(methods.join(' '), sessionId);
      },
      SessionRevoked({ sessionId }) {
        remove.run(sessionId);
      },
      PasswordChanged({ accountId }) {
        removeOfPerson.run(founderOf(accountId));
      },
      PersonPasswordChanged({ personId }) {
        removeOfPerson.run(personId);
      },
      PersonAddressProven({ personId }) {
        removeOfPerson.run(personId);
        forgetOf.run(personId);
      },
      EmailChanged({ accountId }) {
        addressChanged(founderOf(accountId));
      },
      PersonEmailChanged({ personId }) {
        addressChanged(personId);
      },
      SessionsEnded({ accountId, personId }) {
        if (personId === undefined) removeAll.run(accountId);
        else removeOf.run(personId, accountId);
      },
      MemberRemoved({ accountId, personId }) {
        removeOf.run(personId, accountId);
      },
      PersonErased({ personId }) {
        removeOfPerson.run(personId);
        forgetOf.run(personId);
      },
      AccountErased({ accountId }) {
        removeAll.run(accountId);
        // A founder cannot sign in to other accounts any more.
        removeOfPerson.run(founderOf(accountId));
        forgetAll.run(accountId);
      },
    });
  },
};

export interface SessionRow {
  readonly id: string;
  readonly accountId: string;
  readonly personId: string;
  readonly kind: SessionKind;
  readonly methods: readonly SignInMethod[];
  /** Milliseconds since the Unix epoch, as is `expiresAt`. */
  readonly openedAt: number;
  readonly expiresAt: number;
  /** Sealed, as is `address`; null where it is not known. */
  readonly userAgent: string | null;
  readonly address: string | null;
}

type StoredSession = Omit<SessionRow, 'methods'> & { readonly methods: string };

/** The sessions of an account, or of one person in it. */
export interface SessionsOf {
  readonly accountId: string;
  readonly personId?: string;
}

export interface SessionQueries {
  /** The ids of the sessions that have not ended by `now`, newest first. */
  open(whose: SessionsOf, now: number): readonly string[];
  /** The same sessions, page by page; `total` counts them all. */
  page(whose: SessionsOf, now: number, page: Slice): Page<SessionRow>;
  /** Returns when a person last signed in from the client, where that is remembered. */
  lastSignIn(client: string): number | undefined;
}

export function sessionQueries(db: Database): SessionQueries {
  const columns = `id, account_id AS accountId, person_id AS personId, kind, methods, opened_at AS openedAt,
    expires_at AS expiresAt, user_agent AS userAgent, address`;
  const queriesOf = (whose: string) => {
    const from = `FROM sessions WHERE ${whose} AND expires_at > @now`;
    return {
      ids: db.prepare<[object], string>(`SELECT id ${from} ORDER BY position DESC`).pluck(),
      rows: db.prepare<[object], StoredSession>(
        `SELECT ${columns} ${from} ORDER BY position DESC LIMIT @limit OFFSET @offset`,
      ),
      count: db.prepare<[object], number>(`SELECT count(*) ${from}`).pluck(),
    };
  };
  const ofAccount = queriesOf('account_id = @accountId');
  const ofPerson = queriesOf('person_id = @personId AND account_id = @accountId');
  const fitting = ({ personId }: SessionsOf) => (personId === undefined ? ofAccount : ofPerson);
  const lastSignIn = db
    .prepare<[string], number>('SELECT seen_at FROM known_clients WHERE client = ?')
    .pluck();
  return {
    open: (whose, now) => fitting(whose).ids.all({ ...whose, now }),
    page: (whose, now, slice) => ({
      rows: fitting(whose)
        .rows.all({ ...whose, now, ...slice })
        .map((row) => ({ ...row, methods: row.methods.split(' ') as SignInMethod[] })),
      total: fitting(whose).count.get({ ...whose, now }) ?? 0,
    }),
    lastSignIn: (client) => lastSignIn.get(client),
  };
}
