/** The credits that API keys with a limit have used in a calendar month (UTC). Keys without one are not counted. */
import type { Rejection } from './decider.ts';
import type { EventOf } from './events.ts';

export interface KeyUse {
  /** The newest month that anything was counted in, such as `2026-11`; empty before. */
  readonly month: string;
  /** By the ids of keys. */
  readonly credits: Readonly<Record<string, number>>;
}

export const noKeyUse: KeyUse = { month: '', credits: {} };

/** An API key that may use so many credits in a month. */
export interface LimitedKey {
  readonly keyId: string;
  readonly credits: number;
}

/** The month in UTC, such as `2026-11`. */
export const monthOf = (time: number): string => new Date(time).toISOString().slice(0, 7);

/** Nodes' clocks differ: what one counts in a month that is over for another counts in the newest. */
export const usedBy = ({ month, credits }: KeyUse, keyId: string, now: number): number =>
  monthOf(now) > month ? 0 : (credits[keyId] ?? 0);

/** Counts a debit, unless no limit counts it. */
export function countDebit(
  use: KeyUse,
  { keyId, debitedAt, amount }: EventOf<'CreditDebited'>['data'],
): KeyUse {
  if (keyId === undefined || debitedAt === undefined) return use;
  const month = monthOf(debitedAt);
  const isNew = month > use.month;
  const used = usedBy(use, keyId, debitedAt) + amount;
  return {
    month: isNew ? month : use.month,
    credits: { ...(isNew ? {} : use.credits), [keyId]: used },
  };
}

/** Takes back what a refund gives back, in the month of the debit alone. */
export function countRefund(
  use: KeyUse,
  { keyId, debitedAt, amount }: EventOf<'CreditRefunded'>['data'],
): KeyUse {
  if (keyId === undefined || debitedAt === undefined) return use;
  const { [keyId]: used = 0, ...others } = use.credits;
  if (monthOf(debitedAt) !== use.month || used === 0) return use;
  const left = Math.max(0, used - amount);
  return { ...use, credits: left === 0 ? others : { ...others, [keyId]: left } };
}

/** The refusal of what would take more credits than the key may use in this month. */
export function beyondLimit(
  use: KeyUse,
  { keyId, credits }: LimitedKey,
  cost: number,
  now: number,
): Rejection | undefined {
  const used = usedBy(use, keyId, now);
  if (used + cost <= credits) return undefined;
  const date = new Date(now);
  const next = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)).toISOString();
  const message = `This API key may use ${credits} credits in a month and has used ${used}; the request takes ${cost}. It may use more from ${next} on. Use another key until then.`;
  return { rejected: 'insufficient_credits', message };
}
