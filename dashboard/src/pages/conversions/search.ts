/** The list of conversions that an address of the page names. */
import { given } from '../../api/client.ts';
import type { ConversionFilter } from '../../api/conversions.ts';
import { anyText, laterPage, oneOf, searchOf, textThat } from '../../search.ts';

export const STATUSES = ['pending', 'processing', 'completed', 'failed'] as const;
export const SOURCES = ['html', 'url', 'document'] as const;

/** Rows of a page: the service takes no more than the last. */
export const PAGE_SIZES = [20, 50, 100] as const;

/** The service takes no more. */
export const MAX_QUERY_CHARACTERS = 300;
/** Signs that the service looks for. */
const SEARCHED = /[\p{L}\p{N}\p{So}]/u;

/** The query that a text stands for; undefined if it has nothing to look for. */
export const queryOf = (text: string): string | undefined =>
  SEARCHED.test(text) ? text.trim().slice(0, MAX_QUERY_CHARACTERS) : undefined;

/** The begin of a day in the zone of the person; undefined if there is no such day. */
function beginOf(day: string, daysLater = 0): Date | undefined {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  // A year that is being typed begins with zeros.
  if (year < 2000 || new Date(Date.UTC(year, month - 1, date)).getUTCDate() !== date)
    return undefined;
  return new Date(year, month - 1, date + daysLater);
}

export const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && beginOf(text) !== undefined;

const idOf = (prefix: string) =>
  textThat((text) => new RegExp(`^${prefix}_[0-9a-z]{26}$`).test(text));

const read = searchOf({
  page: laterPage,
  /** The rows of a page, where they are not as many as usual. */
  size: oneOf(PAGE_SIZES.slice(1)),
  /** Words of names, or the beginning of an id. */
  q: (text) => queryOf(anyText(text) ?? ''),
  status: oneOf(STATUSES),
  source: oneOf(SOURCES),
  /** Exactly this one, as a conversion's page leads to it. */
  reference: anyText,
  /** Name and value, with a colon between. */
  tag: anyText,
  template: idOf('tmpl'),
  key: idOf('key'),
  /** Those alone that have warnings. */
  warnings: oneOf([true]),
  /** The first day, such as 2026-11-21, in the zone of the person. */
  from: textThat(isDay),
  /** The last day. */
  to: textThat(isDay),
  /** One day in UTC, as the usage counts days. It stands for both others. */
  day: textThat(isDay),
  /** Unless given, the newest come first. */
  order: oneOf(['oldest']),
});
export type ConversionsSearch = ReturnType<typeof read>;

/** Addresses of earlier pages have the beginning of an id. */
export const conversionsSearch = (search: Readonly<Record<string, unknown>>): ConversionsSearch =>
  read({ ...search, q: search['q'] ?? search['id'] });

/** The filters as the API takes them. */
export function filterOf(search: ConversionsSearch): ConversionFilter {
  const { page: _, size: __, warnings, from, to, day, ...filter } = search;
  return given({
    ...filter,
    warnings: warnings && ('true' as const),
    from: from === undefined ? undefined : beginOf(from)?.toISOString(),
    to: to === undefined ? undefined : beginOf(to, 1)?.toISOString(),
    ...(day !== undefined && utcDay(day)),
  });
}

function utcDay(day: string) {
  const begin = Date.parse(day);
  return {
    from: new Date(begin).toISOString(),
    to: new Date(begin + 86_400_000).toISOString(),
  };
}
