/** The query parameters `from` and `to`: a stretch of time. */
import type { ValidationIssues } from '../requests/validation.ts';
import { timeIn } from '../time/clock.ts';
import type { HttpContext } from './context.ts';
import { inQuery, type ParameterDoc } from './openapi/operation.ts';

/** Both ends in milliseconds since the Unix epoch. */
export interface Period {
  /** Inclusive. */
  readonly from?: number;
  /** Exclusive. */
  readonly to?: number;
}

/** A time with its offset from UTC, in milliseconds since the epoch. */
function timeOf(
  query: HttpContext['query'],
  name: keyof Period,
  issues: ValidationIssues,
): number | undefined {
  const text = query[name];
  if (text === undefined) return undefined;
  const time = typeof text === 'string' ? timeIn(text) : undefined;
  if (time !== undefined) return time;
  issues.add(name, 'Must be an ISO 8601 time with its offset, such as 2026-11-21T08:15:30Z.');
  return undefined;
}

export function periodOf({ query }: HttpContext, issues: ValidationIssues): Period {
  const from = timeOf(query, 'from', issues);
  const to = timeOf(query, 'to', issues);
  if (from !== undefined && to !== undefined && from > to) {
    issues.add('from', 'Must not be later than to.');
  }
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

/** @param items begins the descriptions */
export const periodParameters = (items: string): readonly ParameterDoc[] => [
  inQuery('from', `${items} from this time on, in ISO 8601 with the offset from UTC.`),
  inQuery('to', `${items} before this time, in ISO 8601 with the offset from UTC.`),
];
