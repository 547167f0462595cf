/** What operators do about an account, and what it leads to. They are a storage format, as those in `events.ts`. */
import Type from 'typebox';
import { AccountId, Sealed, Sha256, Time } from './event-fields.ts';

export const OPERATOR_EVENT_SCHEMAS = {
  /** The account may act for the service from then on: see and change other accounts. */
  OperatorGranted: Type.Object({ accountId: AccountId }),
  OperatorRevoked: Type.Object({ accountId: AccountId }),
  /** Until it ends or is released, nothing of the account is deleted. It takes the place of an earlier one. */
  HoldPlaced: Type.Object({
    accountId: AccountId,
    /** It ends then by itself; absent: it has no end. */
    until: Type.Optional(Time),
    placedAt: Time,
  }),
  HoldReleased: Type.Object({ accountId: AccountId }),
  /** Nothing new is accepted from the account, and nobody signs in to it. It takes the place of an earlier one. */
  AccountSuspended: Type.Object({
    accountId: AccountId,
    /** The operator's, which the people of the account are told. */
    reason: Sealed,
    suspendedAt: Time,
  }),
  /**
   * The suspension of an operator, or the removal of its founder, was decided: another one can act. It counts as one no
   * more, until it is restored.
   */
  OperatorSetAside: Type.Object({ accountId: AccountId }),
  OperatorRestored: Type.Object({ accountId: AccountId }),
  AccountResumed: Type.Object({ accountId: AccountId, resumedAt: Time }),
  /** A link that sets a password, once. It takes the place of an earlier one. */
  PasswordResetOffered: Type.Object({
    accountId: AccountId,
    /** SHA-256 of the token in the link, hex. */
    tokenHash: Sha256,
    expiresAt: Time,
    /** The person asked for it, and the link goes to their address. It stands beside one of an operator. */
    byMail: Type.Optional(Type.Literal(true)),
  }),
  /** An operator read what the account has: recorded once an hour for each operator and each `what`, but each export. */
  AccountInspected: Type.Object({
    accountId: AccountId,
    /** The account of the operator; absent: somebody at the command line. */
    by: Type.Optional(AccountId),
    /** `account`: its record, or what its own people see; `export`: everything kept; absent: its keys, use and failures. */
    what: Type.Optional(Type.Enum(['account', 'export'])),
    inspectedAt: Time,
  }),
} as const;
