import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from './client.ts';
import type { components } from './schema.d.ts';

/** A day as people count: what was cancelled has not failed. */
export interface UsageDay extends Readonly<components['schemas']['UsageDay']> {
  readonly cancelled: number;
}

/** The key of all that the pages know of the usage. */
export const USAGE = ['usage'] as const;

const DAY_MS = 86_400_000;

const withoutUse = (day: string): UsageDay => ({
  day,
  accepted: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  pages: 0,
  bytes: 0,
  tests: 0,
  failures: {},
});

function withoutCancelled(day: components['schemas']['UsageDay']): UsageDay {
  const { cancelled = 0 } = day.failures;
  return { ...day, failed: day.failed - cancelled, cancelled };
}

/** 2026-11-23: the day in UTC, as the service counts days. */
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The query for so many days up to the one of `now`. */
export const lastDays = (count: number, now: number) => ({
  from: dayOf(now - (count - 1) * DAY_MS),
  to: dayOf(now),
});

/** The usage of each of the last days, in UTC, the oldest first; that of `now` is the last one. */
export const recentUsageQuery = (count: number, now: number) => {
  const query = lastDays(count, now);
  return queryOptions({
    queryKey: [...USAGE, query],
    queryFn: async ({ signal }): Promise<readonly UsageDay[]> => {
      const used = await dataOf(api.GET('/api/v1/account/usage/', { params: { query }, signal }));
      return everyDay(used.days, count, now);
    },
  });
};

/** The last days, with those that the service leaves out because nothing happened on them. */
export function everyDay(
  days: readonly components['schemas']['UsageDay'][],
  count: number,
  now: number,
): readonly UsageDay[] {
  const known = new Map(days.map((each) => [each.day, withoutCancelled(each)]));
  return Array.from({ length: count }, (_, index) => {
    const day = dayOf(now - (count - 1 - index) * DAY_MS);
    return known.get(day) ?? withoutUse(day);
  });
}
