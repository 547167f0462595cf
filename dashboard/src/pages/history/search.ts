import { anyText, laterPage, searchOf } from '../../search.ts';

/** The filters, the page of the list, and the time to look back to. */
export const historySearch = searchOf({
  type: anyText,
  actor: anyText,
  /** The id of a member. */
  person: anyText,
  /** Times as the field of a browser has them, such as 2026-11-23T08:00, in the zone of the person. */
  from: anyText,
  to: anyText,
  conversion: anyText,
  page: laterPage,
  /** A time as above, or a position of the log. */
  asOf: anyText,
});
export type HistorySearch = ReturnType<typeof historySearch>;

/** ISO 8601 in UTC; `undefined` for anything else. */
export function isoOf(local = ''): string | undefined {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** The moment as the API takes it. */
export const momentOf = (asOf: string): string | undefined =>
  /^\d+$/.test(asOf) ? asOf : isoOf(asOf);
