/** The clients that people signed in from lately: a sign-in from another one is told to them by mail. */
import type { Database } from 'better-sqlite3';
import type { EventMetadata } from '../src/domain/event-metadata.ts';
import type { EventOf } from '../src/domain/events.ts';
import { founderOf } from '../src/domain/members.ts';
import type { RecordedEvent } from '../src/event-store/port.ts';

/** Clients remembered of a person. */
const KNOWN_CLIENTS = 10;
/** Mails of sign-ins that a person gets in a day (UTC): programs may sign in from changing addresses. */
const MAILS_A_DAY = 10;
const DAY_MS = 24 * 60 * 60 * 1000;

interface NewSignIn {
  readonly kind: 'new_sign_in';
  readonly accountId: string;
  readonly personId: string;
  /** Sealed, as far as they are known. */
  readonly facts: { readonly address: string | undefined; readonly userAgent: string | undefined };
}

/** @param tell called for a sign-in from another client, within bounds */
export function newSignIns(db: Database, tell: (told: NewSignIn, event: RecordedEvent) => void) {
  const known = db
    .prepare<[string], number>('SELECT count(*) FROM mail_clients WHERE person_id = ?')
    .pluck();
  const isKnown = db
    .prepare<[string], number>('SELECT 1 FROM mail_clients WHERE client = ?')
    .pluck();
  const know = db.prepare(
    `INSERT INTO mail_clients (client, person_id, position) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET position = excluded.position`,
  );
  const forgetOldest = db.prepare(
    `DELETE FROM mail_clients WHERE client IN (SELECT client FROM mail_clients
     WHERE person_id = ? ORDER BY position DESC LIMIT -1 OFFSET ${KNOWN_CLIENTS})`,
  );
  const count = db
    .prepare<[string, number], number>(
      `INSERT INTO mail_sign_ins (person_id, day, told) VALUES (?, ?, 1)
       ON CONFLICT DO UPDATE SET told = iif(day = excluded.day, told + 1, 1), day = excluded.day RETURNING told`,
    )
    .pluck();
  const forgets = ['mail_clients', 'mail_sign_ins'].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE person_id = ?`),
  );
  return {
    opened(data: EventOf<'SessionOpened'>['data'], event: RecordedEvent): void {
      const { accountId, client, userAgent, personId = founderOf(accountId) } = data;
      if (client === undefined) return;
      // Whoever signs in for the first time knows.
      const isNew = isKnown.get(client) === undefined && (known.get(personId) ?? 0) > 0;
      know.run(client, personId, event.position);
      forgetOldest.run(personId);
      if (!isNew) return;
      const { time, client: address } = event.metadata as EventMetadata;
      if ((count.get(personId, Math.floor(time / DAY_MS)) ?? 0) > MAILS_A_DAY) return;
      tell({ kind: 'new_sign_in', accountId, personId, facts: { address, userAgent } }, event);
    },
    forget(personId: string): void {
      for (const each of forgets) each.run(personId);
    },
  };
}
