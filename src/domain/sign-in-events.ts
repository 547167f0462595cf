/** Events of sessions and of sign-ins that were refused. They are a storage format, as those in `events.ts`. */
import Type from 'typebox';
import { PROVIDER_REFUSALS } from './choices.ts';
import {
  AccountId,
  Count,
  maximum,
  PersonId,
  Sealed,
  SessionId,
  SessionKind,
  Sha256,
  SignInMethods,
  Time,
} from './event-fields.ts';

/** Why somebody whom the identity provider knows was not let in. Absent: it was a password or a passkey. */
const ByProvider = Type.Optional(Type.Enum([...PROVIDER_REFUSALS]));

export const SIGN_IN_EVENT_SCHEMAS = {
  SessionOpened: Type.Object({
    accountId: AccountId,
    sessionId: SessionId,
    expiresAt: Time,
    /** The person who signed in; absent: the one who the account was opened for. */
    personId: Type.Optional(PersonId),
    /** The member's session epoch in the account when the password was judged; absent: 0. */
    epoch: Type.Optional(Type.Integer({ minimum: 0, maximum })),
    /** The number of times that the person had another password then, where that is not kept in this account; absent: none. */
    passwords: Type.Optional(Type.Integer({ minimum: 0, maximum })),
    /** HMAC of the sign-in address and the client's own, hex. */
    client: Type.Optional(Sha256),
    /** Absent: `api`, as all were before there was another. */
    kind: Type.Optional(SessionKind),
    /** The program that signed in, as its User-Agent says. Its address is in the metadata. */
    userAgent: Type.Optional(Sealed),
    /** Absent: the password alone, as it was before there was more. */
    methods: Type.Optional(SignInMethods),
  }),
  /** The person has proved more while the session was open. */
  SessionConfirmed: Type.Object({
    accountId: AccountId,
    sessionId: SessionId,
    methods: SignInMethods,
  }),
  SessionRevoked: Type.Object({ accountId: AccountId, sessionId: SessionId }),

  /** A wrong password or passkey for an account; the client's address is in the metadata, sealed. */
  SignInRefused: Type.Object({
    accountId: AccountId,
    refusedAt: Time,
    /** It was a code: before they had an event of their own. */
    isCode: Type.Optional(Type.Literal(true)),
    byProvider: ByProvider,
  }),
  /** A sign-in with an address without an account: nothing to seal with, so HMACs, hex. */
  UnknownSignInRefused: Type.Object({
    address: Sha256,
    client: Sha256,
    refusedAt: Time,
    byProvider: ByProvider,
  }),
  /** Refused sign-ins that are not recorded one by one: at least `count` since the hour began. */
  SignInsLeftOut: Type.Object({
    accountId: Type.Optional(AccountId),
    count: Count,
    since: Time,
    notedAt: Time,
  }),

  /** Somebody wants a link that sets a password mailed to an address: its HMAC, hex, also where nobody signs in with it. */
  PasswordResetAsked: Type.Object({ address: Sha256, askedAt: Time }),
  /** The mail is due, or there is nobody to send one to, or, given up, it could not be made within an hour. */
  PasswordResetAnswered: Type.Object({
    address: Sha256,
    givenUp: Type.Optional(Type.Literal(true)),
  }),

  /**
   * For an account, or for a person who was invited into one: another one gets an address only after its account or
   * person was erased, or signs in with another address.
   */
  EmailReserved: Type.Object({
    accountId: AccountId,
    personId: Type.Optional(PersonId),
    /** It is to take the place of the address that they have: they sign in with it once their own event says so. */
    forChange: Type.Optional(Type.Literal(true)),
  }),
} as const;
