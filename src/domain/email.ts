/** Uniqueness of a sign-in address: one stream per keyed hash of the address, one account in it. */
import type { AggregateType, Decider } from './decider.ts';
import type { EventOf } from './events.ts';

/** @param addressHmac hex HMAC-SHA-256 of the normalised address, so that the log names nobody */
export const emailStream = (addressHmac: string): string => `email-${addressHmac}`;

/**
 * Could be one: if anybody reads it, only a letter tells. What does not show, or steers what does
 * (`\p{C}`), is in none.
 */
export const isEmailAddress = (text: string): boolean =>
  /^[^\s@\p{C}]{1,64}@[^\s@\p{C}]{1,255}$/u.test(text);

export type EmailEvent = EventOf<'EmailReserved'>;

export interface EmailState {
  /** The account that holds the address. It may not be open yet, if its opening was cut off. */
  readonly accountId: string | undefined;
}

const initialState: EmailState = { accountId: undefined };

export interface EmailCommand {
  readonly type: 'ReserveEmail';
  readonly accountId: string;
  /** The account that holds the address and was erased: this one gets it. */
  readonly insteadOf?: string;
}

export const email: Decider<EmailState, EmailCommand, EmailEvent> = {
  initialState,
  evolve: (_, event) => ({ accountId: event.data.accountId }),
  decide: (command, state) =>
    state.accountId === undefined || state.accountId === command.insteadOf
      ? [{ type: 'EmailReserved', data: { accountId: command.accountId } }]
      : [],
};

export const emailAggregate: AggregateType<EmailState, EmailCommand, EmailEvent> = {
  name: 'email',
  stream: emailStream,
  decider: email,
  snapshot: {
    version: 1,
    encode: (state) => state,
    decode: (json) => json as EmailState,
  },
};
