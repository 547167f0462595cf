/** The people of accounts: members, open invitations, and what each person is called. */
import type { Database } from 'better-sqlite3';
import type { EventMetadata } from '../src/domain/event-metadata.ts';
import type { Role } from '../src/domain/member-events.ts';
import { founderOf } from '../src/domain/members.ts';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';
import { type Page, present, type Slice } from '../src/read-model/rows.ts';

/**
 * `email` and `name` are sealed. `id` is that of the person, or of an invitation, which has `expires_at`. Members of an
 * account that was erased are kept, with `ended`, until all of it is destroyed.
 */
const ddl = `
CREATE TABLE people (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL,
  name TEXT,
  authenticators INTEGER NOT NULL DEFAULT 0,
  passkeys INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE identities (
  identity TEXT PRIMARY KEY,
  person_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_of_person ON identities (person_id);
CREATE TABLE members (
  account_id TEXT NOT NULL,
  id TEXT NOT NULL,
  position INTEGER NOT NULL,
  role TEXT NOT NULL,
  documents INTEGER NOT NULL,
  email TEXT,
  since INTEGER NOT NULL,
  expires_at INTEGER,
  ended INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE sign_ups (
  account_id TEXT PRIMARY KEY,
  person_id TEXT NOT NULL,
  email TEXT NOT NULL,
  plan TEXT NOT NULL,
  credits INTEGER NOT NULL,
  by_mail INTEGER NOT NULL,
  offered_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_up_links ON sign_ups (account_id) WHERE by_mail = 0;
CREATE INDEX sign_ups_by_end ON sign_ups (expires_at);
CREATE INDEX invitations ON members (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX memberships ON members (id, position) WHERE expires_at IS NULL AND ended = 0;`;

export const people: Projection = {
  name: 'people',
  version: 8,
  tables: ['people', 'identities', 'members', 'sign_ups'],
  ddl,
  handlers(db) {
    const know = db.prepare('INSERT INTO people (id, email, name) VALUES (?, ?, ?)');
    const move = db.prepare('UPDATE people SET email = ? WHERE id = ?');
    const rename = db.prepare('UPDATE people SET name = ? WHERE id = ?');
    const factor = db.prepare('UPDATE people SET authenticators = ? WHERE id = ?');
    const count = db.prepare('UPDATE people SET passkeys = passkeys + ? WHERE id = ?');
    const dropFactors = db.prepare(
      'UPDATE people SET authenticators = 0, passkeys = 0 WHERE id = ?',
    );
    const forget = db.prepare('DELETE FROM people WHERE id = ?');
    // The first person who had it keeps it.
    const link = db.prepare('INSERT OR IGNORE INTO identities (identity, person_id) VALUES (?, ?)');
    const unlink = db.prepare('DELETE FROM identities WHERE person_id = ?');
    const offer = db.prepare(
      `INSERT INTO sign_ups (account_id, person_id, email, plan, credits, by_mail, offered_at, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const endOffer = db.prepare('DELETE FROM sign_ups WHERE account_id = ?');
    const add = db.prepare(
      `INSERT INTO members (account_id, id, position, role, documents, email, since, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const change = db.prepare(
      'UPDATE members SET role = ?, documents = ? WHERE account_id = ? AND id = ?',
    );
    const remove = db.prepare('DELETE FROM members WHERE account_id = ? AND id = ?');
    const end = db.prepare('UPDATE members SET ended = 1 WHERE account_id = ?');
    const removeAll = db.prepare('DELETE FROM members WHERE account_id = ?');
    return typedHandlers({
      AccountOpened({ accountId, email }, event) {
        const { time } = event.metadata as EventMetadata;
        const id = founderOf(accountId);
        know.run(id, email, null);
        add.run(accountId, id, event.position, 'owner', 0, null, time, null);
      },
      MemberInvited(data, { position }) {
        const { accountId, personId, email, role, documents = false } = data;
        const { invitedAt, expiresAt } = data;
        const right = [role, Number(documents)];
        add.run(accountId, personId, position, ...right, email, invitedAt, expiresAt);
      },
      InvitationRevoked({ accountId, personId }) {
        remove.run(accountId, personId);
      },
      MemberJoined({ accountId, personId, invitation, role, documents = false }, event) {
        const { time } = event.metadata as EventMetadata;
        if (invitation !== undefined) remove.run(accountId, invitation);
        add.run(accountId, personId, event.position, role, Number(documents), null, time, null);
      },
      MemberChanged({ accountId, personId, role, documents = false }) {
        change.run(role, Number(documents), accountId, personId);
      },
      MemberRemoved({ accountId, personId }) {
        remove.run(accountId, personId);
      },
      SignUpOffered({ accountId, personId, email, plan, credits, byMail, ...times }) {
        const { offeredAt, expiresAt } = times;
        const terms = [email, plan, credits, Number(byMail ?? false)];
        offer.run(accountId, personId, ...terms, offeredAt, expiresAt);
      },
      SignUpEnded({ accountId }) {
        endOffer.run(accountId);
      },
      PersonRegistered({ personId, email, name }) {
        know.run(personId, email, name);
      },
      EmailChanged({ accountId, email }) {
        move.run(email, founderOf(accountId));
      },
      PersonEmailChanged({ personId, email }) {
        move.run(email, personId);
      },
      PersonNamed({ personId, name }) {
        rename.run(name, personId);
      },
      IdentityLinked({ identity, personId }) {
        link.run(identity, personId);
      },
      SecondFactorAdded({ personId }) {
        factor.run(1, personId);
      },
      SecondFactorRemoved({ personId }) {
        factor.run(0, personId);
      },
      PasskeyAdded({ personId }) {
        count.run(1, personId);
      },
      PasskeyRemoved({ personId }) {
        count.run(-1, personId);
      },
      PersonAddressProven({ personId }) {
        dropFactors.run(personId);
        unlink.run(personId);
      },
      PersonErased({ personId }) {
        forget.run(personId);
        unlink.run(personId);
      },
      AccountErased({ accountId }) {
        end.run(accountId);
        // A founder cannot sign in any more.
        unlink.run(founderOf(accountId));
      },
      ErasureCompleted({ accountId }) {
        removeAll.run(accountId);
      },
    });
  },
};

/** What a person is called: both texts are sealed, and `personTexts` opens them. */
export interface PersonRow {
  readonly id: string;
  readonly email: string;
  readonly name?: string;
  /** They have an authenticator or a passkey. */
  readonly secondFactor: boolean;
}

/** A member, or an invitation: that has an address of its own, and an end. */
export interface MemberRow {
  readonly accountId: string;
  readonly id: string;
  readonly role: Role;
  readonly documents: boolean;
  readonly email?: string;
  /** Milliseconds since the Unix epoch, as is `expiresAt`. */
  readonly since: number;
  readonly expiresAt?: number;
}

/** A link of an operator that opens an account. The address is sealed with the key of the person. */
export interface SignUpRow {
  readonly accountId: string;
  readonly personId: string;
  readonly email: string;
  readonly plan: string;
  readonly credits: number;
  /** Milliseconds since the Unix epoch, as is `expiresAt`. */
  readonly offeredAt: number;
  readonly expiresAt: number;
}

export interface PeopleQueries {
  /** The id of the person who has the identity, an HMAC, at a provider. */
  withIdentity(identity: string): string | undefined;
  /** Undefined for a person who was erased, and for one who never was. */
  person(id: string): PersonRow | undefined;
  /** Members and open invitations, newest first. */
  page(accountId: string, now: number, page: Slice): Page<MemberRow>;
  /** All that there is of an account, also of one that was erased and of invitations that have expired. */
  all(accountId: string): readonly MemberRow[];
  /** Invitations of open accounts that have expired, at most a hundred. */
  expired(now: number): readonly MemberRow[];
  /** Accounts that may be opened by links which have expired, with their founders, at most a hundred. */
  expiredSignUps(now: number): readonly { readonly accountId: string; readonly personId: string }[];
  /** Links of operators that are open, newest first. */
  signUpLinks(now: number, page: Slice): Page<SignUpRow>;
  /** Undefined for a link that has ended, and for one that somebody asked for by mail. */
  signUpLink(accountId: string): SignUpRow | undefined;
  /** The accounts that the person belongs to, by the time of joining. */
  memberships(personId: string): readonly MemberRow[];
}

interface Stored extends Omit<MemberRow, 'documents' | 'email' | 'expiresAt'> {
  readonly documents: number;
  readonly email: string | null;
  readonly expiresAt: number | null;
}

const rowOf = ({ documents, ...row }: Stored): MemberRow =>
  present<MemberRow>({ ...row, documents: documents === 1 });

export function peopleQueries(db: Database): PeopleQueries {
  const select = `SELECT account_id AS accountId, id, role, documents, email, since, expires_at AS expiresAt FROM members`;
  const identity = db
    .prepare<[string], string>('SELECT person_id FROM identities WHERE identity = ?')
    .pluck();
  const person = db.prepare<
    [string],
    { id: string; email: string; name: string | null; secondFactor: number }
  >('SELECT id, email, name, authenticators + passkeys AS secondFactor FROM people WHERE id = ?');
  const open = 'account_id = ? AND (expires_at IS NULL OR expires_at > ?)';
  const page = db.prepare<[string, number, number, number], Stored>(
    `${select} WHERE ${open} ORDER BY position DESC LIMIT ? OFFSET ?`,
  );
  const count = db
    .prepare<[string, number], number>(`SELECT count(*) FROM members WHERE ${open}`)
    .pluck();
  const all = db.prepare<[string], Stored>(`${select} WHERE account_id = ? ORDER BY position`);
  const memberships = db.prepare<[string], Stored>(
    `${select} WHERE id = ? AND expires_at IS NULL AND ended = 0 ORDER BY position`,
  );
  const expired = db.prepare<[number], Stored>(
    `${select} WHERE expires_at <= ? AND ended = 0 ORDER BY expires_at LIMIT 100`,
  );
  const signUps = db.prepare<[number], { accountId: string; personId: string }>(
    `SELECT account_id AS accountId, person_id AS personId FROM sign_ups
     WHERE expires_at <= ? ORDER BY expires_at LIMIT 100`,
  );
  const selectLink = `SELECT account_id AS accountId, person_id AS personId, email, plan, credits,
     offered_at AS offeredAt, expires_at AS expiresAt FROM sign_ups WHERE by_mail = 0`;
  const link = db.prepare<[string], SignUpRow>(`${selectLink} AND account_id = ?`);
  // Ids are in the order of time.
  const links = db.prepare<[number, number, number], SignUpRow>(
    `${selectLink} AND expires_at > ? ORDER BY account_id DESC LIMIT ? OFFSET ?`,
  );
  const countLinks = db
    .prepare<[number], number>('SELECT count(*) FROM sign_ups WHERE by_mail = 0 AND expires_at > ?')
    .pluck();
  return {
    signUpLinks: (now, { limit, offset }) => ({
      rows: links.all(now, limit, offset),
      total: countLinks.get(now) ?? 0,
    }),
    signUpLink: (accountId) => link.get(accountId),
    expiredSignUps: (now) => signUps.all(now),
    withIdentity: (hmac) => identity.get(hmac),
    expired: (now) => expired.all(now).map(rowOf),
    person(id) {
      const row = person.get(id);
      return row && present<PersonRow>({ ...row, secondFactor: row.secondFactor > 0 });
    },
    page: (accountId, now, { limit, offset }) => ({
      rows: page.all(accountId, now, limit, offset).map(rowOf),
      total: count.get(accountId, now) ?? 0,
    }),
    all: (accountId) => all.all(accountId).map(rowOf),
    memberships: (personId) => memberships.all(personId).map(rowOf),
  };
}
