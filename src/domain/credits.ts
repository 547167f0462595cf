/** What is added to the credits of an account: by its operator, by its plan each month, and for each conversion that failed. */
import { CREDITS_PER_CONVERSION } from './acceptance.ts';
import type { Decision } from './decider.ts';
import type { EventOf } from './events.ts';
import { findKey, type IdempotencyKeys, rememberKey } from './idempotency.ts';
import { countDebit, countRefund, type KeyUse } from './key-use.ts';

/** Keeps a balance within what a JSON number holds exactly, however often credits are granted. */
export const MAX_BALANCE = 1_000_000_000_000;

/** What the events of credits change of an account. */
export interface Credits {
  readonly credits: number;
  readonly keyUse: KeyUse;
  /** The number of refunds. They are given in the order of the failures, without a gap. */
  readonly refunds: number;
  /** The last month that its plan gave credits for, such as `2026-11`; empty: none yet. */
  readonly renewedMonth: string;
  readonly keys: IdempotencyKeys;
}

/** The credits after an event of them. */
export function withCredits(
  state: Credits,
  event: EventOf<'CreditGranted' | 'CreditDebited' | 'CreditRefunded'>,
): Credits {
  const { credits, keyUse, refunds, renewedMonth, keys } = state;
  const { amount } = event.data;
  const same = { keyUse, refunds, renewedMonth, keys };
  switch (event.type) {
    case 'CreditGranted': {
      const { idempotencyKey, grantedAt, month = renewedMonth } = event.data;
      const granted = { ...same, credits: credits + amount, renewedMonth: month };
      if (idempotencyKey === undefined || grantedAt === undefined) return granted;
      // Nobody looks for a conversion by the key of a grant.
      const accepted = { conversionId: '', requestedAt: grantedAt };
      return { ...granted, keys: rememberKey(keys, idempotencyKey, accepted) };
    }
    case 'CreditDebited':
      return { ...same, credits: credits - amount, keyUse: countDebit(keyUse, event.data) };
    case 'CreditRefunded': {
      const left = countRefund(keyUse, event.data);
      return { ...same, credits: credits + amount, keyUse: left, refunds: refunds + 1 };
    }
  }
}

export interface CreditGrant {
  readonly amount: number;
  /** Hashed apart from those of conversions. */
  readonly idempotencyKey?: string;
  /** The month that it is for, where a plan gives it: each month gets one. */
  readonly month?: string;
  readonly now: number;
}

export interface Refund {
  readonly conversionId: string;
  /** The number of this failure among those of the account that were paid for, from 1: the same wherever the log is stored. */
  readonly failure: number;
  /** The position of the ConversionFailed event, for readers of the log. */
  readonly failedAt: bigint;
  /** Both or neither, as in the debit. */
  readonly keyId?: string;
  readonly debitedAt?: number;
}

/** A grant that is repeated with its key, or for its month, adds nothing. */
export function grantCredits(
  { credits, keys, renewedMonth }: Pick<Credits, 'credits' | 'keys' | 'renewedMonth'>,
  { accountId, amount, idempotencyKey, month, now }: CreditGrant & { readonly accountId: string },
): Decision<EventOf<'CreditGranted'>> {
  // Also for an earlier month: a clock may have run ahead.
  if (month !== undefined && month <= renewedMonth) return [];
  if (idempotencyKey !== undefined && findKey(keys, idempotencyKey, now)) return [];
  if (credits + amount > MAX_BALANCE) {
    return {
      rejected: 'validation_error',
      message: `An account holds at most ${MAX_BALANCE} credits; it has ${credits}.`,
    };
  }
  const key = idempotencyKey === undefined ? {} : { idempotencyKey, grantedAt: now };
  const renewal = month === undefined ? {} : { month };
  return [{ type: 'CreditGranted', data: { accountId, amount, ...key, ...renewal } }];
}

/** Refunds follow the failures in their order, each once. */
export function refundConversion(
  { refunds }: Pick<Credits, 'refunds'>,
  {
    accountId,
    conversionId,
    failure,
    failedAt,
    keyId,
    debitedAt,
  }: Refund & { readonly accountId: string },
): Decision<EventOf<'CreditRefunded'>> {
  if (failure !== refunds + 1) return [];
  const amount = CREDITS_PER_CONVERSION;
  const counted = keyId !== undefined && debitedAt !== undefined && { keyId, debitedAt };
  const data = { accountId, conversionId, amount, failedAt: failedAt.toString(), ...counted };
  return [{ type: 'CreditRefunded', data }];
}
