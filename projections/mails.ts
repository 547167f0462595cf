/** The mails that the service has to send: what is to be told to whom. A mail that was sent, or never will be, is not kept. */
import { hash } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import type { MailKind, OptionalMail } from '../src/domain/choices.ts';
import type { EventMetadata } from '../src/domain/event-metadata.ts';
import { founderOf } from '../src/domain/members.ts';
import type { RecordedEvent } from '../src/event-store/port.ts';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';
import { lowCreditHandlers } from './low-credits.ts';
import { newSignIns } from './new-sign-ins.ts';

/**
 * `about` is the id of what a mail is about, where its kind needs one; `email` and what is in `facts` (JSON) are sealed.
 * `email` is absent where the mail goes to the address that the person signs in with. `since`: the time from which there is
 * something to tell, that of the event or a later one. `next_at`: that of the next try; 0 is at once, whatever the clock
 * showed when the event was stored.
 */
const ddl = `
CREATE TABLE mails (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  account_id TEXT,
  person_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  about TEXT,
  email TEXT,
  facts TEXT NOT NULL,
  since INTEGER NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL
) STRICT;
CREATE INDEX mails_due ON mails (next_at, number);
CREATE INDEX mails_by_age ON mails (since);
CREATE INDEX mails_of_account ON mails (account_id, person_id);
CREATE INDEX mails_of_person ON mails (person_id);
CREATE INDEX mails_about ON mails (about) WHERE about IS NOT NULL;
CREATE TABLE mail_switch (is_on INTEGER PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE mail_owners (
  account_id TEXT NOT NULL,
  person_id TEXT NOT NULL,
  PRIMARY KEY (account_id, person_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_owners_of_person ON mail_owners (person_id);
CREATE TABLE mails_off (person_id TEXT PRIMARY KEY, off TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE mail_credits (
  account_id TEXT PRIMARY KEY,
  balance INTEGER NOT NULL,
  last_grant INTEGER NOT NULL,
  below INTEGER,
  is_low INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE mail_clients (
  client TEXT PRIMARY KEY,
  person_id TEXT NOT NULL,
  position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_clients_of_person ON mail_clients (person_id, position);
CREATE TABLE mail_sign_ins (person_id TEXT PRIMARY KEY, day INTEGER NOT NULL, told INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE mail_ends (
  outcome TEXT PRIMARY KEY,
  count INTEGER NOT NULL,
  last_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE reset_asks (address TEXT PRIMARY KEY, asked_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX reset_asks_by_age ON reset_asks (asked_at);`;

/** The same for an event and a person wherever the log is read: it is in the Message-ID. */
export const mailIdOf = (eventId: string, kind: MailKind, personId: string): string =>
  `mail_${hash('sha256', `${eventId} ${kind} ${personId}`, 'hex').slice(0, 26)}`;

/** Keys are told of so long before they end. */
export const KEY_WARNING_MS = 7 * 24 * 60 * 60 * 1000;

/** What is told, and to whom. */
export interface Told {
  readonly kind: MailKind;
  readonly accountId?: string | undefined;
  readonly personId: string;
  readonly about?: string;
  readonly email?: string;
  readonly facts?: Readonly<Record<string, string | number | undefined>>;
  /** The time from which there is something to tell; absent: that of the event. */
  readonly since?: number;
}

export type Tell = (told: Told, event: RecordedEvent) => void;

export const mails: Projection = {
  name: 'mails',
  version: 7,
  tables: [
    'reset_asks',
    'mails',
    'mail_switch',
    'mail_owners',
    'mails_off',
    'mail_credits',
    'mail_clients',
    'mail_sign_ins',
    'mail_ends',
  ],
  ddl,
  handlers(db) {
    const removeAll = db.prepare('DELETE FROM mails WHERE account_id = ?');
    const removeOf = db.prepare('DELETE FROM mails WHERE person_id = ?');
    const removeIn = db.prepare('DELETE FROM mails WHERE account_id = ? AND person_id = ?');
    const removeAbout = db.prepare('DELETE FROM mails WHERE about = ?');
    const removeOld = db.prepare('DELETE FROM mails WHERE since < ?');
    const turnOn = db.prepare('INSERT OR IGNORE INTO mail_switch (is_on) VALUES (1)');
    const turnOff = db.prepare('DELETE FROM mail_switch');
    const isOn = db.prepare<[], number>('SELECT 1 FROM mail_switch').pluck();
    const addOwner = db.prepare(
      'INSERT OR IGNORE INTO mail_owners (account_id, person_id) VALUES (?, ?)',
    );
    const removeOwner = db.prepare(
      'DELETE FROM mail_owners WHERE account_id = ? AND person_id = ?',
    );
    const forgetOwner = db.prepare('DELETE FROM mail_owners WHERE person_id = ?');
    const removeOwners = db.prepare('DELETE FROM mail_owners WHERE account_id = ?');
    const ownersOf = db
      .prepare<[string], string>(
        'SELECT person_id FROM mail_owners WHERE account_id = ? ORDER BY person_id',
      )
      .pluck();
    const setOff = db.prepare('INSERT OR REPLACE INTO mails_off (person_id, off) VALUES (?, ?)');
    const forgetOff = db.prepare('DELETE FROM mails_off WHERE person_id = ?');
    const offOf = db
      .prepare<[string], string>('SELECT off FROM mails_off WHERE person_id = ?')
      .pluck();
    const ask = db.prepare('INSERT OR REPLACE INTO reset_asks (address, asked_at) VALUES (?, ?)');
    const endAsk = db.prepare('DELETE FROM reset_asks WHERE address = ?');
    const tell = teller(db);
    const wants = (personId: string, kind: OptionalMail): boolean =>
      !(offOf.get(personId) ?? '').split(',').includes(kind);
    /** Tells each owner, while the service sends mail: what happens meanwhile is not told later. */
    const tellOwners = (
      { accountId, ...told }: Omit<Told, 'personId'> & { readonly kind: OptionalMail },
      event: RecordedEvent,
    ): void => {
      if (accountId === undefined || isOn.get() === undefined) return;
      for (const personId of ownersOf.all(accountId)) {
        if (wants(personId, told.kind)) tell({ accountId, personId, ...told }, event);
      }
    };
    const signIns = newSignIns(db, (told, event) => {
      if (isOn.get() !== undefined) tell(told, event);
    });
    const tellFormer = (told: Omit<Told, 'kind'>, event: RecordedEvent): void => {
      // Clients are known by the address: the first sign-in with the other one would look like one from a new place.
      signIns.forget(told.personId);
      if (isOn.get() !== undefined) tell({ kind: 'email_changed', ...told }, event);
    };
    const outcomes = ends(db);
    const credits = lowCreditHandlers(db, tellOwners);
    const changeOwner = (accountId: string, personId: string, role: string): void => {
      if (role === 'owner') addOwner.run(accountId, personId);
      else removeOwner.run(accountId, personId);
    };
    const forget = (personId: string): void => {
      removeOf.run(personId);
      forgetOwner.run(personId);
      forgetOff.run(personId);
      signIns.forget(personId);
    };
    return typedHandlers({
      ...outcomes.handlers,
      ...credits.handlers,
      MailSwitched({ on, at }) {
        turnOff.run();
        if (!on) return;
        turnOn.run();
        removeOld.run(at);
      },
      AccountOpened({ accountId }) {
        addOwner.run(accountId, founderOf(accountId));
      },
      MemberInvited({ accountId, personId, email, byMail }, event) {
        if (byMail) tell({ kind: 'invitation', accountId, personId, email }, event);
      },
      SignUpOffered({ personId, email, byMail }, event) {
        if (byMail) tell({ kind: 'sign_up', personId, email }, event);
      },
      SignUpEnded({ personId }) {
        removeOf.run(personId);
      },
      InvitationRevoked({ personId }) {
        removeOf.run(personId);
      },
      MemberJoined({ accountId, personId, invitation, role }) {
        removeOf.run(invitation);
        changeOwner(accountId, personId, role);
      },
      MemberChanged({ accountId, personId, role }) {
        changeOwner(accountId, personId, role);
      },
      MemberRemoved({ accountId, personId }) {
        removeOwner.run(accountId, personId);
        removeIn.run(accountId, personId);
      },
      PersonMailsChanged({ personId, off }) {
        setOff.run(personId, off.join());
      },
      PersonErased({ personId }) {
        forget(personId);
      },
      PasswordResetAsked({ address, askedAt }) {
        ask.run(address, askedAt);
      },
      PasswordResetAnswered({ address, givenUp }, { metadata }) {
        endAsk.run(address);
        if (givenUp) outcomes.count('failed', (metadata as EventMetadata).time);
      },
      PasswordResetOffered({ accountId, byMail }, event) {
        const told = { kind: 'password_reset', accountId, personId: founderOf(accountId) } as const;
        if (byMail) tell(told, event);
      },
      PersonResetOffered({ personId, accountId, byMail }, event) {
        if (byMail) tell({ kind: 'password_reset', accountId, personId }, event);
      },
      EmailChangeOffered({ accountId, email, byMail }, event) {
        const told = { kind: 'email_change', accountId, personId: founderOf(accountId) } as const;
        if (byMail) tell({ ...told, email }, event);
      },
      PersonEmailOffered({ personId, accountId, email, byMail }, event) {
        if (byMail) tell({ kind: 'email_change', accountId, personId, email }, event);
      },
      EmailChanged({ accountId, formerEmail: email }, event) {
        tellFormer({ accountId, personId: founderOf(accountId), email }, event);
      },
      PersonEmailChanged({ personId, accountId, formerEmail: email }, event) {
        tellFormer({ accountId, personId, email }, event);
      },
      PersonAddressProven({ personId, accountId }, event) {
        signIns.forget(personId);
        forgetOff.run(personId);
        if (isOn.get() !== undefined) tell({ kind: 'address_proven', accountId, personId }, event);
      },
      SessionOpened(data, event) {
        signIns.opened(data, event);
      },
      WebhookDisabled({ accountId, webhookId, reason, since }, event) {
        const facts = { reason, failingSince: since };
        tellOwners({ kind: 'webhook_disabled', accountId, about: webhookId, facts }, event);
      },
      WebhookDeleted({ webhookId }) {
        removeAbout.run(webhookId);
      },
      KeyCreated(data, event) {
        const { accountId, keyId, expiresAt, createdAt } = data;
        const { createdBy: personId = founderOf(accountId) } = data;
        const since = (expiresAt ?? 0) - KEY_WARNING_MS;
        // Whoever makes a key for a few days knows when it ends.
        if (since <= createdAt) return;
        tell({ kind: 'key_expiring', accountId, personId, about: keyId, since }, event);
      },
      KeyRevoked({ keyId }) {
        removeAbout.run(keyId);
      },
      AccountErased({ accountId }) {
        removeAll.run(accountId);
        removeOwners.run(accountId);
        credits.close(accountId);
        forget(founderOf(accountId));
      },
    });
  },
};

function teller(db: Database): Tell {
  const insert = db.prepare(
    `INSERT INTO mails (id, kind, account_id, person_id, event_id, about, email, facts, since, next_at)
     VALUES (@id, @kind, @accountId, @personId, @eventId, @about, @email, @facts, @since, @nextAt) ON CONFLICT DO NOTHING`,
  );
  return ({ kind, personId, accountId, about, email, facts = {}, since }, event) => {
    const { time } = event.metadata as EventMetadata;
    insert.run({
      id: mailIdOf(event.id, kind, personId),
      kind,
      personId,
      eventId: event.id,
      accountId: accountId ?? null,
      about: about ?? null,
      email: email ?? null,
      facts: JSON.stringify(facts),
      since: since ?? time,
      nextAt: since ?? 0,
    });
  };
}

/** What becomes of a mail. */
function ends(db: Database) {
  const remove = db.prepare('DELETE FROM mails WHERE id = ?');
  const putOff = db.prepare('UPDATE mails SET attempt = ?, next_at = ? WHERE id = ?');
  const end = db.prepare(
    `INSERT INTO mail_ends (outcome, count, last_at) VALUES (?, 1, ?)
     ON CONFLICT DO UPDATE SET count = count + 1, last_at = max(last_at, excluded.last_at)`,
  );
  const handlers: Parameters<typeof typedHandlers>[0] = {
    MailSent({ mailId, at }) {
      remove.run(mailId);
      end.run('sent', at);
    },
    MailFailed({ mailId, attempt, nextAt, at }) {
      if (nextAt !== undefined) return void putOff.run(attempt, nextAt, mailId);
      remove.run(mailId);
      end.run('failed', at);
    },
  };
  return { handlers, count: (outcome: 'failed', at: number) => void end.run(outcome, at) };
}
