/** Words for mails, and for what became of them. */
import type { MailFailure, MailKind } from './choices.ts';
import type { EventOf } from './events.ts';
import { isoDate } from './iso-date.ts';

/** Words for each kind of mail, at the beginning of a sentence. */
export const MAILS: Readonly<Record<MailKind, string>> = {
  invitation: 'A mail with an invitation',
  sign_up: 'A mail that confirms an address',
  password_reset: 'A mail with a link to set a password',
  email_change: 'A mail with a link to another sign-in address',
  email_changed: 'A mail about a changed sign-in address',
  address_proven: 'A mail about an address that was proven',
  new_sign_in: 'A mail about a sign-in from a new place',
  credits_low: 'A mail about low credits',
  webhook_disabled: 'A mail about a webhook endpoint that was switched off',
  key_expiring: 'A mail about an API key that expires',
};

const NOT_SENT: Readonly<Record<MailFailure, string>> = {
  refused: 'the mail server refused it',
  deferred: 'the mail server put it off',
  connection_failed: 'the connection to the mail server was lost',
  timeout: 'the mail server did not answer in time',
  given_up: 'there was no way to send it for three days',
  outdated: 'there was nothing to tell any more',
};

export function failedMail({
  kind,
  failure,
  status,
  nextAt,
}: EventOf<'MailFailed'>['data']): string {
  const why = status === undefined ? NOT_SENT[failure] : `the mail server answered with ${status}`;
  const next = nextAt === undefined ? '' : ` The next try is at ${isoDate(nextAt)}.`;
  return `${MAILS[kind]} was not sent: ${why}.${next}`;
}
