/** What operators decide about an account: its plan, its retention, whether it acts for the service, is held or suspended. */
import type { Decision } from './decider.ts';
import type { Plan } from './event-fields.ts';
import type { EventOf } from './events.ts';
import { eraseUnlessHeld, type Hold, placeHold, releaseHold } from './hold.ts';
import {
  changeAddress,
  firstAddress,
  offerAddress,
  type OfferedAddress,
  offeredAddress,
  SESSION_ENDED,
  type SignInAddress,
  type UsedLink,
} from './sign-in-address.ts';

/** Nothing new is accepted from the account, and nobody signs in to it. */
export interface Suspension {
  /** What its people are told, sealed. */
  readonly reason: string;
  /** Milliseconds since the Unix epoch. */
  readonly suspendedAt: number;
}

/** The link that may set a password, once. */
export interface ResetOffer {
  readonly tokenHash: string;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** The time that a link to set a password is valid. */
export const RESET_LIFETIME_MS = 24 * 60 * 60 * 1000;
/** So often a look of one operator is recorded. */
export const LOOK_RECORDED_MS = 60 * 60 * 1000;

export interface Standing extends SignInAddress {
  readonly plan: Plan;
  /** Its own, for what is requested from now on; undefined: that of the service. */
  readonly retentionSeconds: number | undefined;
  /** It may act for the service, unless it must change its password. */
  readonly isOperator: boolean;
  /** The latest that was not released; `holdInForce` says whether it has ended. */
  readonly hold: Hold | undefined;
  readonly suspension: Suspension | undefined;
  readonly reset: ResetOffer | undefined;
  /** The same for the link that the person asked for, which a mail brings. */
  readonly mailedReset: ResetOffer | undefined;
  /** Owners are told when the credits fall below it; undefined: below a tenth of the last grant. */
  readonly lowCredits: number | undefined;
  /** The last recorded look of each operator, by their account; empty for the command line. */
  readonly looks: Readonly<Record<string, number>>;
}

export const ordinary: Standing = {
  plan: 'free',
  retentionSeconds: undefined,
  isOperator: false,
  hold: undefined,
  suspension: undefined,
  reset: undefined,
  mailedReset: undefined,
  ...firstAddress,
  lowCredits: undefined,
  looks: {},
};

/** A link to be offered. Where it is mailed, its token follows from the time of its end. */
export interface OfferedReset {
  readonly tokenHash: string;
  readonly now: number;
  readonly mailedUntil?: number;
}

export type StandingEvent = EventOf<
  | 'PlanChanged'
  | 'RetentionChanged'
  | 'LowCreditsChanged'
  | 'OperatorGranted'
  | 'OperatorRevoked'
  | 'HoldPlaced'
  | 'HoldReleased'
  | 'AccountSuspended'
  | 'AccountResumed'
  | 'PasswordResetOffered'
  | 'EmailChangeOffered'
  | 'AccountInspected'
>;

export type StandingCommand = { readonly accountId: string } & (
  | { readonly type: 'ChangePlan'; readonly plan: Plan }
  | { readonly type: 'ChangeRetention'; readonly retentionSeconds?: number }
  | { readonly type: 'ChangeLowCredits'; readonly below?: number }
  | { readonly type: 'GrantOperator' }
  | { readonly type: 'RevokeOperator' }
  | { readonly type: 'PlaceHold'; readonly until?: number; readonly now: number }
  | { readonly type: 'ReleaseHold'; readonly now: number }
  | { readonly type: 'SuspendAccount'; readonly reason: string; readonly now: number }
  | { readonly type: 'ResumeAccount'; readonly now: number }
  | ({ readonly type: 'OfferPasswordReset' } & OfferedReset)
  | {
      readonly type: 'ResetPassword';
      readonly tokenHash: string;
      readonly passwordHash: string;
      readonly now: number;
    }
  | {
      readonly type: 'ChangePassword';
      readonly passwordHash: string;
      /** The founder's session epoch when the present password was judged; absent for the operator, who needs none. */
      readonly epoch?: number;
    }
  | ({ readonly type: 'OfferEmailChange' } & OfferedAddress)
  | ({ readonly type: 'ChangeEmail' } & UsedLink)
  | ({ readonly type: 'RecordLook'; readonly now: number } & Look)
  | { readonly type: 'EraseAccount'; readonly now: number }
);

/** What an operator reads of an account. */
export type Look = Pick<EventOf<'AccountInspected'>['data'], 'by' | 'what'>;

const lookKey = ({ by = '', what }: Look): string => (what === undefined ? by : `${by} ${what}`);

export function evolveStanding<State extends Standing>(state: State, event: StandingEvent): State {
  switch (event.type) {
    case 'PlanChanged':
      return { ...state, plan: event.data.plan };
    case 'RetentionChanged':
      return { ...state, retentionSeconds: event.data.retentionSeconds };
    case 'LowCreditsChanged':
      return { ...state, lowCredits: event.data.below };
    case 'OperatorGranted':
      return { ...state, isOperator: true };
    case 'OperatorRevoked':
      return { ...state, isOperator: false };
    case 'HoldPlaced': {
      const { placedAt, until } = event.data;
      return { ...state, hold: { placedAt, ...(until === undefined ? {} : { until }) } };
    }
    case 'HoldReleased':
      return { ...state, hold: undefined };
    case 'AccountSuspended': {
      const { reason, suspendedAt } = event.data;
      return { ...state, suspension: { reason, suspendedAt } };
    }
    case 'AccountResumed':
      return { ...state, suspension: undefined };
    case 'PasswordResetOffered': {
      return { ...state, ...offeredReset(event.data) };
    }
    case 'EmailChangeOffered':
      return { ...state, ...offeredAddress(event.data) };
    case 'AccountInspected': {
      return { ...state, looks: { ...state.looks, [lookKey(event.data)]: event.data.inspectedAt } };
    }
  }
}

/** @param epoch the founder's session epoch */
export function decideOnStanding(
  state: Standing,
  command: StandingCommand,
  epoch: number,
): Decision<StandingEvent | EventOf<'AccountErased' | 'PasswordChanged' | 'EmailChanged'>> {
  const { accountId } = command;
  switch (command.type) {
    case 'ChangePlan':
      if (command.plan === state.plan) return [];
      return [{ type: 'PlanChanged', data: { accountId, plan: command.plan } }];
    case 'ChangeRetention': {
      const { retentionSeconds } = command;
      if (retentionSeconds === state.retentionSeconds) return [];
      const own = retentionSeconds === undefined ? {} : { retentionSeconds };
      return [{ type: 'RetentionChanged', data: { accountId, ...own } }];
    }
    case 'ChangeLowCredits': {
      const { below } = command;
      if (below === state.lowCredits) return [];
      const limit = below === undefined ? {} : { below };
      return [{ type: 'LowCreditsChanged', data: { accountId, ...limit } }];
    }
    case 'GrantOperator':
      return state.isOperator ? [] : [{ type: 'OperatorGranted', data: { accountId } }];
    case 'RevokeOperator':
      return state.isOperator ? [{ type: 'OperatorRevoked', data: { accountId } }] : [];
    case 'PlaceHold':
      return placeHold(state, command);
    case 'ReleaseHold':
      return releaseHold(state, command);
    case 'SuspendAccount': {
      // It takes the place of an earlier one: another reason must reach the people of the account.
      const { reason, now: suspendedAt } = command;
      return [{ type: 'AccountSuspended', data: { accountId, reason, suspendedAt } }];
    }
    case 'ResumeAccount': {
      if (state.suspension === undefined) {
        return { rejected: 'not_found', message: 'The account is not suspended.' };
      }
      return [{ type: 'AccountResumed', data: { accountId, resumedAt: command.now } }];
    }
    case 'OfferPasswordReset': {
      return [{ type: 'PasswordResetOffered', data: { accountId, ...offerReset(command) } }];
    }
    case 'ResetPassword': {
      const { tokenHash, passwordHash, now } = command;
      if (!isResetOffered(state, tokenHash, now)) return { rejected: 'gone', message: RESET_GONE };
      return [{ type: 'PasswordChanged', data: { accountId, passwordHash, byLink: true } }];
    }
    case 'ChangePassword':
      if (command.epoch !== undefined && command.epoch !== epoch) return SESSION_ENDED;
      return [{ type: 'PasswordChanged', data: { accountId, passwordHash: command.passwordHash } }];
    case 'OfferEmailChange': {
      if (command.epoch !== epoch) return SESSION_ENDED;
      return [{ type: 'EmailChangeOffered', data: { accountId, ...offerAddress(command) } }];
    }
    case 'ChangeEmail': {
      const changed = changeAddress(state, command);
      if ('rejected' in changed) return changed;
      return [{ type: 'EmailChanged', data: { accountId, ...changed } }];
    }
    case 'RecordLook': {
      const { by, what, now } = command;
      const last = state.looks[lookKey(command)];
      const isRecorded = last !== undefined && now < last + LOOK_RECORDED_MS;
      if (isRecorded && what !== 'export') return [];
      const look = { ...(by !== undefined && { by }), ...(what !== undefined && { what }) };
      return [{ type: 'AccountInspected', data: { accountId, ...look, inspectedAt: now } }];
    }
    case 'EraseAccount':
      return eraseUnlessHeld(state, command);
  }
}

/** What the event of an offered link says. */
export const offerReset = ({ tokenHash, now, mailedUntil }: OfferedReset) => ({
  tokenHash,
  expiresAt: mailedUntil ?? now + RESET_LIFETIME_MS,
  ...(mailedUntil !== undefined && { byMail: true as const }),
});

interface Offers {
  readonly reset: ResetOffer | undefined;
  readonly mailedReset: ResetOffer | undefined;
}

/** A link of one kind takes the place of the one before: strangers who ask for mails end no link of an operator. */
export const offeredReset = ({
  byMail,
  tokenHash,
  expiresAt,
}: ResetOffer & { readonly byMail?: true }): Partial<Offers> => ({
  [byMail ? 'mailedReset' : 'reset']: { tokenHash, expiresAt },
});

/** No link sets a password or another address any more. */
export const noReset: Offers & Pick<SignInAddress, 'addressOffer'> = {
  reset: undefined,
  mailedReset: undefined,
  addressOffer: undefined,
};

/** True for the token of a link, until one is used or its time is over. */
export const isResetOffered = (
  { reset, mailedReset }: Offers,
  tokenHash: string,
  now: number,
): boolean =>
  [reset, mailedReset].some((each) => each?.tokenHash === tokenHash && now < each.expiresAt);

/** The same for a link that was never made: nobody learns which accounts there are. */
export const RESET_GONE =
  'The link does not set a password any more: it was used, another one was made, or its time is over. Ask for another.';

/** The refusal of what a suspended account asks for, where its people are not there to be told the reason. */
export const SUSPENDED =
  'The account is suspended: nothing new is accepted until an operator resumes it.';
