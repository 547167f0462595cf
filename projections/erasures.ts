/**
 * To-do lists: accounts that are erased by the log, while something of them is left to destroy, and certificates that sign
 * no more by the log, while their data keys are there. And the persons and invitations whose keys the log has ended: there is
 * no event of their destruction.
 */
import type { Database } from 'better-sqlite3';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';

/** `position` and `event_id` are those of the event that makes it due; of a certificate that signs there are none. */
const ddl = `
CREATE TABLE erasures (
  account_id TEXT PRIMARY KEY,
  position INTEGER NOT NULL,
  event_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE certificate_keys (
  certificate_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  position INTEGER,
  event_id TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE ended_people (
  position INTEGER PRIMARY KEY,
  person_id TEXT NOT NULL
) STRICT;
CREATE INDEX certificate_keys_by_account ON certificate_keys (account_id);
CREATE INDEX certificate_keys_due ON certificate_keys (position) WHERE position IS NOT NULL;`;

export const erasures: Projection = {
  name: 'erasures',
  version: 3,
  tables: ['erasures', 'certificate_keys', 'ended_people'],
  ddl,
  handlers(db) {
    const insert = db.prepare(
      'INSERT INTO erasures (account_id, position, event_id) VALUES (?, ?, ?)',
    );
    const remove = db.prepare('DELETE FROM erasures WHERE account_id = ?');
    const add = db.prepare(
      'INSERT INTO certificate_keys (certificate_id, account_id) VALUES (?, ?)',
    );
    const due = db.prepare(
      'UPDATE certificate_keys SET position = ?, event_id = ? WHERE account_id = ? AND position IS NULL',
    );
    const destroyed = db.prepare('DELETE FROM certificate_keys WHERE certificate_id = ?');
    const end = db.prepare('INSERT INTO ended_people (position, person_id) VALUES (?, ?)');
    return typedHandlers({
      PersonErased({ personId }, { position }) {
        end.run(position, personId);
      },
      InvitationRevoked({ personId }, { position }) {
        end.run(position, personId);
      },
      MemberJoined({ personId, invitation }, { position }) {
        // Somebody who has a sign-in has used it.
        if (invitation !== undefined && invitation !== personId) end.run(position, invitation);
      },
      SignatureSet({ accountId, certificateId }, { position, id }) {
        due.run(position, id, accountId);
        if (certificateId !== undefined) add.run(certificateId, accountId);
      },
      SignatureRemoved({ accountId }, { position, id }) {
        due.run(position, id, accountId);
      },
      SignatureKeyDestroyed({ certificateId }) {
        destroyed.run(certificateId);
      },
      AccountErased({ accountId }, { position, id }) {
        insert.run(accountId, position, id);
        due.run(position, id, accountId);
      },
      ErasureCompleted({ accountId }) {
        remove.run(accountId);
      },
    });
  },
};

export interface ErasureDue {
  readonly accountId: string;
  /** The event that causes all the rest. */
  readonly erasedEventId: string;
}

export interface KeyDue {
  readonly certificateId: string;
  readonly accountId: string;
  /** The event since which it signs no more. */
  readonly endedEventId: string;
}

/** A person who was erased, or an invitation that has ended: unless it has made a sign-in, its key is to be destroyed. */
export interface PersonDue {
  readonly position: number;
  readonly personId: string;
}

export interface ErasureQueries {
  /** The oldest first. */
  all(): readonly ErasureDue[];
  of(accountId: string): ErasureDue | undefined;
  /** Certificates that sign no more, the oldest first. @param accountId of this account alone */
  keys(accountId?: string): readonly KeyDue[];
  /** The persons and invitations that ended after the position, the oldest first, at most a hundred. */
  people(after: number): readonly PersonDue[];
}

export function erasureQueries(db: Database): ErasureQueries {
  const select = 'SELECT account_id AS accountId, event_id AS erasedEventId FROM erasures';
  const all = db.prepare<[], ErasureDue>(`${select} ORDER BY position`);
  const of = db.prepare<[string], ErasureDue>(`${select} WHERE account_id = ?`);
  const due =
    'SELECT certificate_id AS certificateId, account_id AS accountId, event_id AS endedEventId ' +
    'FROM certificate_keys WHERE position IS NOT NULL';
  const keys = db.prepare<[], KeyDue>(`${due} ORDER BY position`);
  const keysOf = db.prepare<[string], KeyDue>(`${due} AND account_id = ? ORDER BY position`);
  const people = db.prepare<[number], PersonDue>(
    'SELECT position, person_id AS personId FROM ended_people WHERE position > ? ORDER BY position LIMIT 100',
  );
  return {
    people: (after) => people.all(after),
    all: () => all.all(),
    of: (accountId) => of.get(accountId),
    keys: (accountId) => (accountId === undefined ? keys.all() : keysOf.all(accountId)),
  };
}
