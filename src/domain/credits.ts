/** What is added to the credits of an account: by its operator, and for each conversion that failed. */
import { CREDITS_PER_CONVERSION } from './acceptance.ts';
import type { Decision } from './decider.ts';
import type { EventOf } from './events.ts';
import { findKey, type IdempotencyKeys } from './idempotency.ts';

/** Keeps a balance within what a JSON number holds exactly, however often credits are granted. */
export const MAX_BALANCE = 1_000_000_000_000;

interface Owner {
  readonly credits: number;
  readonly refunds: number;
  readonly keys: IdempotencyKeys;
}

export interface CreditGrant {
  readonly amount: number;
  /** Hashed apart from those of conversions. */
  readonly idempotencyKey?: string;
  readonly now: number;
}

export interface Refund {
  readonly conversionId: string;
  /** The number of this failure among those of the account that were paid for, from 1: the same wherever the log is stored. */
  readonly failure: number;
  /** The position of the ConversionFailed event, for readers of the log. */
  readonly failedAt: bigint;
}

/** A grant that is repeated with its key adds nothing. */
export function grantCredits(
  { credits, keys }: Owner,
  { accountId, amount, idempotencyKey, now }: CreditGrant & { readonly accountId: string },
): Decision<EventOf<'CreditGranted'>> {
  if (idempotencyKey !== undefined && findKey(keys, idempotencyKey, now)) return [];
  if (credits + amount > MAX_BALANCE) {
    return {
      rejected: 'validation_error',
      message: `An account holds at most ${MAX_BALANCE} credits; it has ${credits}.`,
    };
  }
  const key = idempotencyKey === undefined ? {} : { idempotencyKey, grantedAt: now };
  return [{ type: 'CreditGranted', data: { accountId, amount, ...key } }];
}

/** Refunds follow the failures in their order, each once. */
export function refundConversion(
  { refunds }: Owner,
  { accountId, conversionId, failure, failedAt }: Refund & { readonly accountId: string },
): Decision<EventOf<'CreditRefunded'>> {
  if (failure !== refunds + 1) return [];
  const amount = CREDITS_PER_CONVERSION;
  const data = { accountId, conversionId, amount, failedAt: failedAt.toString() };
  return [{ type: 'CreditRefunded', data }];
}
