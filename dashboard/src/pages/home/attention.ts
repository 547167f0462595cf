/** Finds what of an account needs a person's attention. */
import type { ApiKey } from '../../api/keys.ts';
import type { UsageDay } from '../../api/usage.ts';

const DAY_MS = 86_400_000;
/** The days after which a key should be replaced, and one that nobody uses be revoked. */
export const KEY_DAYS = 90;
/** A key that is younger may not have been put in its place yet. */
const NEW_KEY_DAYS = 7;
/** The least days of an average: the first tries are not the use of each day. */
const LEAST_DAYS = 7;
/** Credits that last no longer than this are worth saying. */
const SHORT_DAYS = 14;

export type KeyConcern = 'never used' | 'unused' | 'old';

export function concernOf(key: ApiKey, now: number): KeyConcern | undefined {
  const days = (iso: string): number => (now - Date.parse(iso)) / DAY_MS;
  const age = days(key.created_at);
  if (key.last_used_at === null) return age >= NEW_KEY_DAYS ? 'never used' : undefined;
  if (days(key.last_used_at) >= KEY_DAYS) return 'unused';
  return age >= KEY_DAYS ? 'old' : undefined;
}

/** Credits that are taken on an average day since the first use: those of conversions that did not fail. 0 before a week of use. */
function creditsPerDay(days: readonly UsageDay[]): number {
  const first = days.findIndex(({ accepted }) => accepted > 0);
  if (first === -1 || days.length - first < LEAST_DAYS) return 0;
  const taken = days.reduce((sum, { accepted, failed }) => sum + accepted - failed, 0);
  return Math.max(0, taken) / (days.length - first);
}

/**
 * @returns the days that the credits last as the account used them lately; undefined where they last long
 *   enough, or nothing tells
 */
export function daysOfCreditsLeft(credits: number, days: readonly UsageDay[]): number | undefined {
  if (credits === 0) return 0;
  const perDay = creditsPerDay(days);
  if (perDay === 0) return undefined;
  const left = Math.floor(credits / perDay);
  return left <= SHORT_DAYS ? left : undefined;
}
