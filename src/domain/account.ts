/** An account: money, plan, acceptance and idempotency. What must be decided together is decided here, in one append. */
import {
  type AcceptanceEvent,
  acceptBatch,
  acceptConversion,
  type BatchTexts,
  type KeyTerms,
  type RequestedConversion,
} from './acceptance.ts';
import {
  type CreditGrant,
  type Credits,
  grantCredits,
  type Refund,
  refundConversion,
  withCredits,
} from './credits.ts';
import type { AggregateType, Decider } from './decider.ts';
import type { Plan } from './event-fields.ts';
import type { EventOf } from './events.ts';
import { noKeyUse } from './key-use.ts';
import {
  type AcceptedConversion,
  decodeKeys,
  encodeKeys,
  findKey,
  noKeys,
  rememberKey,
  type StoredKeys,
} from './idempotency.ts';
import type { MembersCommand, MembersEvent } from './member-commands.ts';
import {
  decideOnPeople,
  endSessions,
  evolvePeople,
  founded,
  founderEpoch,
  founderOf,
  nobody,
  type People,
} from './members.ts';
import {
  type AccountSigning,
  changeSignature,
  endSigning,
  evolveSigning,
  type SigningCommand,
  type SigningEventType,
} from './signature.ts';
import {
  decideOnStanding,
  evolveStanding,
  noReset,
  ordinary,
  type Standing,
  type StandingCommand,
  type StandingEvent,
  SUSPENDED,
} from './standing.ts';

export { CREDITS_PER_CONVERSION } from './acceptance.ts';
export { type AcceptedConversion, IDEMPOTENCY_WINDOW_MS } from './idempotency.ts';
export const accountStream = (accountId: string): string => `account-${accountId}`;

export type AccountEvent = StandingEvent | OwnEvent;
type OwnEvent =
  | MembersEvent
  | AcceptanceEvent
  | EventOf<
      | 'AccountOpened'
      | 'PublicNameChanged'
      | 'CreditGranted'
      | 'CreditRefunded'
      | 'PasswordChanged'
      | 'EmailChanged'
      | 'AccountErased'
      | 'ErasureCompleted'
      | SigningEventType
    >;

export interface AccountState extends People, Standing, AccountSigning, Credits {
  /** `erased` is for good; until `erasureCompleted` there is something left to destroy. */
  readonly status: 'none' | 'open' | 'erased';
  readonly erasureCompleted: boolean;
  readonly email: string;
  readonly passwordHash: string;
  /** Counts the founder's passwords and addresses after the first ones. */
  readonly passwords: number;
  /** It has the password that the first start printed. */
  readonly mustChangePassword: boolean;
}

const initialState: AccountState = {
  status: 'none',
  erasureCompleted: false,
  email: '',
  passwordHash: '',
  passwords: 0,
  ...nobody,
  ...ordinary,
  mustChangePassword: false,
  signature: undefined,
  endedCertificates: [],
  credits: 0,
  keyUse: noKeyUse,
  refunds: 0,
  renewedMonth: '',
  keys: noKeys,
};

export type AccountCommand = MembersCommand | StandingCommand | OwnCommand;

type OwnCommand = { readonly accountId: string } & (
  | {
      readonly type: 'OpenAccount';
      readonly email: string;
      readonly passwordHash: string;
      readonly plan: Plan;
      readonly credits: number;
      readonly provenBy?: EventOf<'AccountOpened'>['data']['provenBy'];
      /** The account of the first start: an operator whose password is printed. */
      readonly isFirst?: boolean;
    }
  /** The name is sealed; without one there is none from then on. */
  | { readonly type: 'ChangePublicName'; readonly name?: string }
  | ({ readonly type: 'GrantCredits' } & CreditGrant)
  | SigningCommand
  | { readonly type: 'CompleteErasure' }
  | ({
      readonly type: 'RequestConversion';
      readonly idempotencyKey?: string;
      /** Nothing is debited, because credits are off. */
      readonly unpaid?: boolean;
      readonly terms?: KeyTerms;
      readonly now: number;
    } & RequestedConversion)
  | {
      readonly type: 'RequestBatch';
      readonly batchId: string;
      readonly conversions: readonly RequestedConversion[];
      readonly texts?: BatchTexts;
      /** Hashed apart from those of single conversions. */
      readonly idempotencyKey?: string;
      readonly unpaid?: boolean;
      readonly terms?: KeyTerms;
      readonly now: number;
    }
  | ({ readonly type: 'RefundConversion' } & Refund)
);

/** The conversion, or the batch, that the key was first accepted for within the last 24 hours. */
export const acceptedWithKey = (
  { keys }: AccountState,
  idempotencyKey: string,
  now: number,
): AcceptedConversion | undefined => findKey(keys, idempotencyKey, now);

function evolve(state: AccountState, event: AccountEvent): AccountState {
  switch (event.type) {
    case 'AccountOpened': {
      const { accountId, email, passwordHash, plan, mustChangePassword = false } = event.data;
      const opened = { email, passwordHash, plan, mustChangePassword };
      return { ...state, status: 'open', ...opened, ...founded(accountId) };
    }
    case 'PublicNameChanged':
    case 'StatementRequested':
      return state;
    case 'CreditGranted':
    case 'CreditDebited':
    case 'CreditRefunded':
      return { ...state, ...withCredits(state, event) };
    case 'ConversionRequested':
    case 'BatchRequested': {
      const { idempotencyKey, requestedAt } = event.data;
      if (idempotencyKey === undefined) return state;
      const id = 'conversionId' in event.data ? event.data.conversionId : event.data.batchId;
      const accepted = { conversionId: id, requestedAt };
      return { ...state, keys: rememberKey(state.keys, idempotencyKey, accepted) };
    }
    case 'PasswordChanged':
      return {
        ...state,
        passwordHash: event.data.passwordHash,
        passwords: state.passwords + 1,
        mustChangePassword: false,
        ...noReset,
        ...endSessions(state, founderOf(event.data.accountId)),
      };
    case 'EmailChanged': {
      const { accountId, email, addressHash } = event.data;
      const ended = { passwords: state.passwords + 1, ...endSessions(state, founderOf(accountId)) };
      return { ...state, email, addressHash, ...noReset, ...ended };
    }
    case 'SessionsEnded':
    case 'MemberInvited':
    case 'InvitationRevoked':
    case 'MemberJoined':
    case 'MemberChanged':
    case 'MemberRemoved':
    case 'MemberPasswordReset':
    case 'MemberSecondFactorRemoved':
    case 'SignInPolicyChanged':
      return evolvePeople(state, event);
    case 'SignatureSet':
    case 'SignatureRemoved':
    case 'SignatureKeyDestroyed':
      return { ...state, ...evolveSigning(state, event) };
    case 'AccountErased':
      return { ...initialState, ...endSigning(state), status: 'erased' };
    case 'ErasureCompleted':
      return { ...state, erasureCompleted: true };
    case 'PlanChanged':
    case 'RetentionChanged':
    case 'LowCreditsChanged':
    case 'OperatorGranted':
    case 'OperatorRevoked':
    case 'HoldPlaced':
    case 'HoldReleased':
    case 'AccountSuspended':
    case 'AccountResumed':
    case 'PasswordResetOffered':
    case 'EmailChangeOffered':
    case 'AccountInspected':
      return evolveStanding(state, event);
  }
}

const noSuchAccount = { rejected: 'not_found', message: 'There is no such account.' } as const;
const decide: Decider<AccountState, AccountCommand, AccountEvent>['decide'] = (command, state) => {
  if (command.type === 'OpenAccount') {
    if (state.status !== 'none') return [];
    const { accountId, email, passwordHash, plan, provenBy, credits, isFirst = false } = command;
    const opened = { accountId, email, passwordHash, plan, ...(provenBy && { provenBy }) };
    return [
      {
        type: 'AccountOpened',
        data: isFirst ? { ...opened, mustChangePassword: true } : opened,
      },
      ...(isFirst ? [{ type: 'OperatorGranted', data: { accountId } } as const] : []),
      ...(credits > 0
        ? [{ type: 'CreditGranted', data: { accountId, amount: credits } } as const]
        : []),
    ];
  }
  const { accountId } = command;
  if (command.type === 'RecordKeyDestroyed') return changeSignature(state, command);
  if (state.status === 'erased') {
    if (command.type === 'EraseAccount') return [];
    if (command.type === 'CompleteErasure') {
      return state.erasureCompleted ? [] : [{ type: 'ErasureCompleted', data: { accountId } }];
    }
  }
  if (state.status !== 'open') return noSuchAccount;
  switch (command.type) {
    case 'ChangePublicName': {
      const own = command.name === undefined ? {} : { name: command.name };
      return [{ type: 'PublicNameChanged', data: { accountId, ...own } }];
    }
    case 'GrantCredits':
      return grantCredits(state, command);
    case 'EndSessions':
    case 'InviteMember':
    case 'RevokeInvitation':
    case 'JoinAccount':
    case 'AdmitMember':
    case 'ChangeMember':
    case 'RemoveMember':
    case 'RecordPasswordReset':
    case 'RecordSecondFactorRemoval':
    case 'ChangeSignInPolicy':
      return decideOnPeople(state, command);
    case 'SetSignature':
    case 'RemoveSignature':
      return changeSignature(state, command);
    case 'ChangePlan':
    case 'ChangeRetention':
    case 'ChangeLowCredits':
    case 'GrantOperator':
    case 'RevokeOperator':
    case 'PlaceHold':
    case 'ReleaseHold':
    case 'SuspendAccount':
    case 'ResumeAccount':
    case 'OfferPasswordReset':
    case 'ResetPassword':
    case 'ChangePassword':
    case 'OfferEmailChange':
    case 'ChangeEmail':
    case 'RecordLook':
    case 'EraseAccount':
      return decideOnStanding(state, command, founderEpoch(state, accountId));
    case 'CompleteErasure':
      return { rejected: 'not_found', message: 'The account is not erased.' };
    case 'RequestConversion':
    case 'RequestBatch': {
      const { idempotencyKey, now } = command;
      if (idempotencyKey !== undefined && acceptedWithKey(state, idempotencyKey, now)) return [];
      if (state.suspension !== undefined) return { rejected: 'forbidden', message: SUSPENDED };
      return command.type === 'RequestBatch'
        ? acceptBatch(state, command)
        : acceptConversion(state, command);
    }
    case 'RefundConversion':
      return refundConversion(state, command);
  }
};

export const account: Decider<AccountState, AccountCommand, AccountEvent> = {
  initialState,
  evolve,
  decide,
};

type StoredAccount = Omit<AccountState, 'keys'> & {
  readonly keys: StoredKeys;
};

export const accountAggregate: AggregateType<AccountState, AccountCommand, AccountEvent> = {
  name: 'account',
  stream: accountStream,
  decider: account,
  snapshot: {
    version: 22,
    encode: (state): StoredAccount => ({ ...state, keys: encodeKeys(state.keys) }),
    decode: (json) => {
      const stored = json as StoredAccount;
      return { ...initialState, ...stored, keys: decodeKeys(stored.keys) };
    },
  },
};
