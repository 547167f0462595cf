/**
 * An account that may be opened by a link: an operator invites, or somebody asks for it themselves and confirms their
 * address. The account and its founder have their ids from then on, and the founder's key seals the address.
 */
import type { AggregateType, Decider } from './decider.ts';
import type { Plan } from './event-fields.ts';
import type { EventOf } from './events.ts';

export const signUpStream = (accountId: string): string => `signup-${accountId}`;

export type SignUpEvent = EventOf<'SignUpOffered' | 'SignUpEnded'>;

export interface SignUpState {
  readonly status: 'none' | 'open' | 'ended';
  /** Sealed. */
  readonly email: string;
  readonly plan: Plan;
  readonly credits: number;
  /** Only a mail brings the link: it proves the address. Else an operator hands it over. */
  readonly byMail: boolean;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

const initialState: SignUpState = {
  status: 'none',
  email: '',
  plan: 'free',
  credits: 0,
  byMail: false,
  expiresAt: 0,
};

export type SignUpCommand = { readonly accountId: string; readonly personId: string } & (
  | {
      readonly type: 'OfferSignUp';
      readonly email: string;
      readonly plan: Plan;
      readonly credits: number;
      readonly byMail: boolean;
      readonly now: number;
      readonly expiresAt: number;
    }
  | { readonly type: 'EndSignUp'; readonly isOpened: boolean }
);

function evolve(state: SignUpState, { type, data }: SignUpEvent): SignUpState {
  if (type === 'SignUpEnded') return { ...initialState, status: 'ended' };
  const { email, plan, credits, byMail = false, expiresAt } = data;
  return { ...state, status: 'open', email, plan, credits, byMail, expiresAt };
}

const decide: Decider<SignUpState, SignUpCommand, SignUpEvent>['decide'] = (command, state) => {
  const { accountId, personId } = command;
  if (command.type === 'EndSignUp') {
    if (state.status !== 'open') return [];
    const opened = command.isOpened ? ({ opened: true } as const) : {};
    return [{ type: 'SignUpEnded', data: { accountId, personId, ...opened } }];
  }
  if (state.status !== 'none') return [];
  const { email, plan, credits, byMail, now, expiresAt } = command;
  const mailed = byMail ? ({ byMail } as const) : {};
  const offered = { accountId, personId, email, plan, credits, ...mailed };
  return [{ type: 'SignUpOffered', data: { ...offered, offeredAt: now, expiresAt } }];
};

export const signUpAggregate: AggregateType<SignUpState, SignUpCommand, SignUpEvent> = {
  name: 'sign-up',
  stream: signUpStream,
  decider: { initialState, evolve, decide },
  isBrief: true,
  snapshot: {
    version: 2,
    encode: (state) => state,
    decode: (json) => json as SignUpState,
  },
};
