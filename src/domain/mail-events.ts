/** Events of the mails that the service sends. They are a storage format, as those in `events.ts`. */
import Type from 'typebox';
import { MAIL_FAILURES, MAIL_KINDS } from './choices.ts';
import { AccountId, Count, MailId, maximum, PersonId, Time } from './event-fields.ts';

const ofMail = {
  /** The account that it is about; absent where its person has none yet. */
  accountId: Type.Optional(AccountId),
  mailId: MailId,
  kind: Type.Enum([...MAIL_KINDS]),
  /** The person whom it goes to. */
  personId: PersonId,
  /** Counts the tries that the server has answered, or may have taken, from 1. */
  attempt: Count,
  at: Time,
};

export const MAIL_EVENT_SCHEMAS = {
  /** The server has taken it. Whether it reached anybody is not known. */
  MailSent: Type.Object(ofMail),
  MailFailed: Type.Object({
    ...ofMail,
    failure: Type.Enum([...MAIL_FAILURES]),
    /** The status that the server answered with (RFC 5321). */
    status: Type.Optional(Type.Integer({ minimum: 100, maximum: 999 })),
    /** The time of the next try; absent: there is none. */
    nextAt: Type.Optional(Time),
  }),
  /** Owners are told by mail when the credits fall below it; 0: never; absent: below a tenth of what was granted last. */
  LowCreditsChanged: Type.Object({
    accountId: AccountId,
    below: Type.Optional(Type.Integer({ minimum: 0, maximum })),
  }),
} as const;
