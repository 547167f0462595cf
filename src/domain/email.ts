/**
 * Uniqueness of a sign-in address: one stream per keyed hash of the address, one holder in it: an account, for its
 * founder, or a person who was invited.
 */
import type { AggregateType, Decider } from './decider.ts';
import type { EventOf } from './events.ts';
import { founderOf } from './members.ts';

/** @param addressHmac hex HMAC-SHA-256 of the normalised address, so that the log names nobody */
export const emailStream = (addressHmac: string): string => `email-${addressHmac}`;

/**
 * Could be one: if anybody reads it, only a letter tells. Characters that do not show, or steer those that do (`\p{C}`),
 * are in none, nor are those that separate or enclose addresses in a mail. A domain consists of labels.
 */
export const isEmailAddress = (text: string): boolean =>
  /^[^\s@\p{C}<>()[\]\\,;:"]{1,64}@(?=.{1,255}$)[\p{L}\p{M}\p{N}_-]+(?:\.[\p{L}\p{M}\p{N}_-]+)*$/u.test(
    text,
  );

/** Tells the accounts among the holders of addresses from the persons. */
export const isAccount = (holder: string): boolean => holder.startsWith('acct_');
/** The person who signs in with the address of the holder. */
export const personOf = (holder: string): string =>
  isAccount(holder) ? founderOf(holder) : holder;

export type EmailEvent = EventOf<'EmailReserved'>;

export interface EmailState {
  /** The id of the account or person that holds the address. It may not be there yet, if its opening was cut off. */
  readonly holder: string | undefined;
  /** Its holder has another address, and this one only after its own event says so. */
  readonly isForChange: boolean;
  /** Counts the reservations. */
  readonly reservations: number;
}

const initialState: EmailState = { holder: undefined, isForChange: false, reservations: 0 };

export interface EmailCommand {
  readonly type: 'ReserveEmail';
  readonly accountId: string;
  /** The person who gets it, by an invitation into the account; absent: the account itself. */
  readonly personId?: string;
  /** The number of the reservation whose holder was erased, or signs in with another address: this one gets it. */
  readonly insteadOf?: number;
  /** It is to take the place of the address that they have. */
  readonly forChange?: true;
}

export const email: Decider<EmailState, EmailCommand, EmailEvent> = {
  initialState,
  evolve: ({ reservations }, { data: { accountId, personId = accountId, forChange = false } }) => ({
    holder: personId,
    isForChange: forChange,
    reservations: reservations + 1,
  }),
  decide: (command, { holder, reservations }) => {
    const { accountId, personId, insteadOf, forChange } = command;
    const isFree = holder === undefined || insteadOf === reservations;
    // Who takes back an address that they left reserves it again: nobody gets it in place of the earlier reservation.
    const isTakenBack = forChange && holder === (personId ?? accountId);
    if (!isFree && !isTakenBack) return [];
    const whose = personId === undefined ? {} : { personId };
    const why = forChange ? { forChange } : {};
    return [{ type: 'EmailReserved', data: { accountId, ...whose, ...why } }];
  },
};

export const emailAggregate: AggregateType<EmailState, EmailCommand, EmailEvent> = {
  name: 'email',
  stream: emailStream,
  decider: email,
  snapshot: {
    version: 4,
    encode: (state) => state,
    decode: (json) => json as EmailState,
  },
};
