/**
 * Requests for a link that sets a password, by the keyed hash of the address that was given: what is recorded is the same
 * whether somebody signs in with it or not.
 */
import type { AggregateType, Decider } from './decider.ts';
import type { EventOf } from './events.ts';

/** @param address hex HMAC-SHA-256 of the normalised address */
export const resetAskStream = (address: string): string => `resetask-${address}`;

export type ResetAskEvent = EventOf<'PasswordResetAsked' | 'PasswordResetAnswered'>;

export interface ResetAskState {
  readonly isOpen: boolean;
}

export interface ResetAskCommand {
  readonly type: 'AskReset' | 'AnswerReset' | 'GiveUpReset';
  readonly address: string;
  readonly now: number;
}

const decide: Decider<ResetAskState, ResetAskCommand, ResetAskEvent>['decide'] = (
  { type, address, now },
  { isOpen },
) => {
  if (type === 'AskReset') return [{ type: 'PasswordResetAsked', data: { address, askedAt: now } }];
  if (!isOpen) return [];
  const given = type === 'GiveUpReset' ? { givenUp: true as const } : {};
  return [{ type: 'PasswordResetAnswered', data: { address, ...given } }];
};

export const resetAskAggregate: AggregateType<ResetAskState, ResetAskCommand, ResetAskEvent> = {
  name: 'reset-ask',
  stream: resetAskStream,
  decider: {
    initialState: { isOpen: false },
    evolve: (_, { type }) => ({ isOpen: type === 'PasswordResetAsked' }),
    decide,
  },
  isBrief: true,
  snapshot: {
    version: 1,
    encode: (state) => state,
    decode: (json) => json as ResetAskState,
  },
};
