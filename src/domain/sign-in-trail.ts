/**
 * The trail of refused sign-ins: one stream for each account, and one a day for all addresses that are
 * no account's. However many there are, an hour adds a bounded number of events.
 */
import type { ProviderRefusalReason } from './choices.ts';
import type { AggregateType, Decider } from './decider.ts';
import type { EventOf } from './events.ts';

const HOUR_MS = 60 * 60 * 1000;
/** Refusals recorded one by one in an hour; the throttle lets strangers try 40 for an account. */
export const RECORDED_AN_HOUR = { account: 20, unknown: 100 } as const;

/** The owner of a trail: an account, or all addresses that nobody holds. */
export type SignInTarget = {
  /** Absent: it was a password or a passkey. */
  readonly byProvider?: ProviderRefusalReason;
} & (
  | { readonly kind: 'account'; readonly accountId: string }
  /** HMACs, hex: of the address that was tried and of the client's own. */
  | { readonly kind: 'unknown'; readonly address: string; readonly client: string }
);

/** The id of the stream that a refusal at `now` (milliseconds since the epoch) belongs to. */
export const signInTrail = (target: SignInTarget, now: number): string =>
  target.kind === 'account'
    ? target.accountId
    : `unknown-${new Date(now).toISOString().slice(0, 10)}`;

export const signInStream = (trail: string): string => `signins-${trail}`;

export type SignInEvent = EventOf<'SignInRefused' | 'UnknownSignInRefused' | 'SignInsLeftOut'>;

export interface SignInState {
  /** Hours since the epoch; what is counted belongs to this one. */
  readonly hour: number;
  readonly recorded: number;
  readonly notes: number;
}

const initialState: SignInState = { hour: -1, recorded: 0, notes: 0 };

export interface SignInCommand {
  readonly type: 'RecordRefusal';
  readonly target: SignInTarget;
  readonly now: number;
}

const hourOf = (time: number): number => Math.floor(time / HOUR_MS);

/** Counting begins again with each hour; a clock that lags does not bring an hour back. */
function countedIn(state: SignInState, hour: number): SignInState {
  return hour > state.hour ? { hour, recorded: 0, notes: 0 } : state;
}

function evolve(before: SignInState, event: SignInEvent): SignInState {
  switch (event.type) {
    case 'SignInRefused':
    case 'UnknownSignInRefused': {
      const state = countedIn(before, hourOf(event.data.refusedAt));
      return { ...state, recorded: state.recorded + 1 };
    }
    case 'SignInsLeftOut': {
      const state = countedIn(before, hourOf(event.data.notedAt));
      return { ...state, notes: state.notes + 1 };
    }
  }
}

/** The first refusal of an hour that is left out says that some are. */
const decide: Decider<SignInState, SignInCommand, SignInEvent>['decide'] = (command, before) => {
  const { target, now } = command;
  const state = countedIn(before, hourOf(now));
  if (state.recorded >= RECORDED_AN_HOUR[target.kind]) {
    if (state.notes > 0) return [];
    const whose = target.kind === 'account' ? { accountId: target.accountId } : {};
    const since = hourOf(now) * HOUR_MS;
    return [{ type: 'SignInsLeftOut', data: { ...whose, count: 1, since, notedAt: now } }];
  }
  if (target.kind === 'account') {
    const { kind: _, ...refused } = target;
    return [{ type: 'SignInRefused', data: { ...refused, refusedAt: now } }];
  }
  const { kind: _, ...refused } = target;
  return [{ type: 'UnknownSignInRefused', data: { ...refused, refusedAt: now } }];
};

export const signIns: Decider<SignInState, SignInCommand, SignInEvent> = {
  initialState,
  evolve,
  decide,
};

export const signInTrailAggregate: AggregateType<SignInState, SignInCommand, SignInEvent> = {
  name: 'signins',
  stream: signInStream,
  decider: signIns,
  snapshot: {
    version: 1,
    encode: (state) => state,
    decode: (json) => json as SignInState,
  },
};
