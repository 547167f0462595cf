/** Events of the people who use accounts. They are a storage format, as those in `events.ts`. */
import Type, { type Static } from 'typebox';
import { ADDRESS_PROOFS, OPTIONAL_MAILS, ROLES, SIGN_IN_REQUIREMENTS } from './choices.ts';
import {
  AccountId,
  ConversionId,
  maximum,
  PersonId,
  Plan,
  Sealed,
  Sha256,
  Time,
} from './event-fields.ts';

export const Role = Type.Enum([...ROLES]);
export type Role = Static<typeof Role>;

export const AddressProof = Type.Enum([...ADDRESS_PROOFS]);

/** An auditor may read documents too; absent: not. */
const Documents = Type.Optional(Type.Literal(true));

/** A person, and the account in which it was done; without one, the operator did it. */
const OF_PERSON = { personId: PersonId, accountId: Type.Optional(AccountId) };
const Step = Type.Integer({ minimum: 0, maximum });
const Left = Type.Integer({ minimum: 0, maximum });
/** SHA-256 of each, hex. */
const RecoveryCodes = Type.Array(Sha256);

/** The link to another sign-in address. */
const OFFERED_ADDRESS = {
  /** Sealed with the key of the person, as is `formerEmail`. */
  email: Sealed,
  /** HMAC-SHA-256 of the address, hex. */
  addressHash: Sha256,
  /** SHA-256 of the token in the link, hex. */
  tokenHash: Sha256,
  expiresAt: Time,
  /** The link is sent to the address; absent: it is used at once, because an operator vouches for the address. */
  byMail: Type.Optional(Type.Literal(true)),
};
/** Another address holds. `formerEmail` is told so by mail. `provenBy` is absent where no mail server could prove it. */
const CHANGED_ADDRESS = {
  email: Sealed,
  addressHash: Sha256,
  formerEmail: Sealed,
  provenBy: Type.Optional(AddressProof),
};

/** Texts that are `Sealed` here are sealed with the key of their person: they go when the person is erased. */
export const MEMBER_EVENT_SCHEMAS = {
  /** The invitation has the id of the person that it makes, if the address has no sign-in yet. */
  MemberInvited: Type.Object({
    accountId: AccountId,
    personId: PersonId,
    /** SHA-256 of the secret in the link, hex. */
    tokenHash: Sha256,
    email: Sealed,
    role: Role,
    documents: Documents,
    /** The member whose invitation it is; absent: the operator's. */
    invitedBy: Type.Optional(PersonId),
    /** Only a mail brings the link, so it proves the address; absent: whoever invited hands it over. */
    byMail: Type.Optional(Type.Literal(true)),
    invitedAt: Time,
    expiresAt: Time,
  }),
  InvitationRevoked: Type.Object({ accountId: AccountId, personId: PersonId }),
  /** `invitation` is the id of the invitation, which is used up; absent: the identity provider let the person in. */
  MemberJoined: Type.Object({
    accountId: AccountId,
    personId: PersonId,
    invitation: Type.Optional(PersonId),
    role: Role,
    documents: Documents,
  }),
  /** The role and the right to documents from then on. Who is no owner any more has no open invitations either. */
  MemberChanged: Type.Object({
    accountId: AccountId,
    personId: PersonId,
    role: Role,
    documents: Documents,
    /** The identity provider named another role when the person signed in. */
    byProvider: Type.Optional(Type.Literal(true)),
  }),
  /** It ends the person's sessions and keys of the account, too. */
  MemberRemoved: Type.Object({
    accountId: AccountId,
    personId: PersonId,
    /** The person has left by an act of their own. */
    left: Type.Optional(Type.Literal(true)),
    /** Their address was proven for the first time: whoever joined before may have been somebody else. */
    unproven: Type.Optional(Type.Literal(true)),
  }),

  /** An operator has a member's password set, in all accounts that the person belongs to but the one that they founded. */
  MemberPasswordReset: Type.Object({
    accountId: AccountId,
    personId: PersonId,
    /** The person may set it by a link until then; absent: the operator sets it. */
    expiresAt: Type.Optional(Time),
  }),
  /** An operator removes the second factor of a member, in all accounts that the person belongs to. */
  MemberSecondFactorRemoved: Type.Object({ accountId: AccountId, personId: PersonId }),
  /** What everybody who signs in to the account has to prove from then on, beside the password or in its place. */
  SignInPolicyChanged: Type.Object({
    accountId: AccountId,
    require: Type.Enum([...SIGN_IN_REQUIREMENTS]),
  }),

  /** An account may be opened by a link: its founder is the person. An operator invites, or somebody asks for it themselves. */
  SignUpOffered: Type.Object({
    accountId: AccountId,
    personId: PersonId,
    email: Sealed,
    plan: Plan,
    credits: Type.Integer({ minimum: 0, maximum }),
    /** The link is sent by mail; absent: it is shown to the operator. */
    byMail: Type.Optional(Type.Literal(true)),
    offeredAt: Time,
    expiresAt: Time,
  }),
  /** The link is of no use any more: the account was opened, or it never will be, and the founder's key is to be destroyed. */
  SignUpEnded: Type.Object({
    accountId: AccountId,
    personId: PersonId,
    opened: Type.Optional(Type.Literal(true)),
  }),

  /** A person who was invited, or whom the identity provider let in, has a sign-in. The account is the one that they join. */
  PersonRegistered: Type.Object({
    personId: PersonId,
    accountId: AccountId,
    email: Sealed,
    name: Sealed,
    /** Absent: the person signs in with the identity provider alone. */
    passwordHash: Type.Optional(Sealed),
    /** Absent: nothing proves that the address is theirs. */
    provenBy: Type.Optional(AddressProof),
  }),
  /**
   * The address of a registered person is proven for the first time. All from before is dropped, because somebody else may
   * have made it: password, passkeys, second factor and sessions. Events of the accounts drop the memberships.
   */
  PersonAddressProven: Type.Object({
    personId: PersonId,
    accountId: Type.Optional(AccountId),
    provenBy: AddressProof,
    dropped: Type.Object({
      password: Type.Optional(Type.Literal(true)),
      passkeys: Left,
      secondFactor: Type.Optional(Type.Literal(true)),
      memberships: Left,
    }),
  }),
  /** The person is the one whom this provider of OpenID Connect knows by this subject. */
  IdentityLinked: Type.Object({
    personId: PersonId,
    accountId: AccountId,
    issuer: Type.String({ minLength: 1 }),
    subject: Sealed,
    /** HMAC-SHA-256 of issuer and subject, hex: the person is found by it. */
    identity: Sha256,
  }),
  /** The account, here and below, is the one in which it was done; absent: the operator did it. */
  PersonNamed: Type.Object({
    personId: PersonId,
    accountId: Type.Optional(AccountId),
    name: Sealed,
  }),
  /** A link that sets the person's password, once. It takes the place of an earlier one. */
  PersonResetOffered: Type.Object({
    personId: PersonId,
    /** The first that the person belongs to, where they asked for it. */
    accountId: Type.Optional(AccountId),
    /** SHA-256 of the token in the link, hex. */
    tokenHash: Sha256,
    expiresAt: Time,
    /** The person asked for it, and the link goes to their address. It stands beside one of an operator. */
    byMail: Type.Optional(Type.Literal(true)),
  }),
  /** It ends all sessions of the person. */
  PersonPasswordChanged: Type.Object({
    personId: PersonId,
    accountId: Type.Optional(AccountId),
    passwordHash: Sealed,
    /** It was set with a link, mailed or made by an operator. The account is then the first that the person belongs to. */
    byLink: Type.Optional(Type.Literal(true)),
  }),
  /** Another address to sign in with is offered to the founder. It takes the place of an earlier offer. */
  EmailChangeOffered: Type.Object({ accountId: AccountId, ...OFFERED_ADDRESS }),
  /** The founder signs in with another address. It ends all their sessions. */
  EmailChanged: Type.Object({ accountId: AccountId, ...CHANGED_ADDRESS }),
  /** The same as `EmailChangeOffered` and `EmailChanged`, for somebody who founded no account. */
  PersonEmailOffered: Type.Object({ ...OF_PERSON, ...OFFERED_ADDRESS }),
  PersonEmailChanged: Type.Object({ ...OF_PERSON, ...CHANGED_ADDRESS }),
  /** The mails that the person does not want from then on. The account is the one in which they said so. */
  PersonMailsChanged: Type.Object({
    personId: PersonId,
    accountId: AccountId,
    off: Type.Array(Type.Enum([...OPTIONAL_MAILS]), { maxItems: OPTIONAL_MAILS.length }),
  }),
  /** The person has an authenticator that makes codes by the time, and recovery codes for its loss. */
  SecondFactorAdded: Type.Object({
    ...OF_PERSON,
    secret: Sealed,
    /** The step of time, of 30 seconds, of the code that proved it. */
    step: Step,
    recoveryCodes: RecoveryCodes,
    addedAt: Time,
  }),
  /** A code was taken: it and all before it are used up. */
  SecondFactorUsed: Type.Object({ ...OF_PERSON, step: Step }),
  /** A wrong code, the `count`th of its day (UTC), from strangers or from clients that the person has signed in from. */
  SecondFactorRefused: Type.Object({
    ...OF_PERSON,
    refusedAt: Time,
    count: Type.Integer({ minimum: 1, maximum }),
    isKnownClient: Type.Optional(Type.Literal(true)),
  }),
  RecoveryCodeUsed: Type.Object({ ...OF_PERSON, codeHash: Sha256, left: Left }),
  /** Those from before are worth nothing. */
  RecoveryCodesRenewed: Type.Object({ ...OF_PERSON, recoveryCodes: RecoveryCodes }),
  /** The authenticator and the recovery codes are worth nothing. */
  SecondFactorRemoved: Type.Object(OF_PERSON),
  /**
   * The person's key is to be destroyed: nobody can read their name and address from then on. The account is the last
   * one that they belonged to, if they belonged to any.
   */
  PersonErased: Type.Object({
    personId: PersonId,
    accountId: Type.Optional(AccountId),
    /** Nobody had proven their address, and somebody who did opened an account with it. */
    unproven: Type.Optional(Type.Literal(true)),
  }),
  /** The conversion requested before it, in one append, prints the account's statement of a month. */
  StatementRequested: Type.Object({
    accountId: AccountId,
    conversionId: ConversionId,
    month: Type.String({ pattern: '^[0-9]{4}-[0-9]{2}$' }),
    /** An earlier one of the same month. */
    replaces: Type.Optional(ConversionId),
  }),
} as const;
