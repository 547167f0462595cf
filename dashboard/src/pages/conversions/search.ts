/** The list of conversions that an address of the page names. */
import type { Conversion, ConversionFilter, ConversionStatus } from '../../api/conversions.ts';
import { given, pageOf } from '../../api/client.ts';

export const STATUSES = ['pending', 'processing', 'completed', 'failed'] as const;
export const SOURCES = ['html', 'url', 'document'] as const;

/** Rows of a page: the service takes no more than the last. */
export const PAGE_SIZES = [20, 50, 100] as const;

/** The service takes no more. */
export const MAX_QUERY_CHARACTERS = 300;
/** Signs that the service looks for. */
const SEARCHED = /[\p{L}\p{N}\p{So}]/u;
const TEMPLATE_ID = /^tmpl_[0-9a-z]{26}$/;
const KEY_ID = /^key_[0-9a-z]{26}$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

export interface ConversionsSearch {
  readonly page?: number;
  /** The rows of a page, where they are not as many as usual. */
  readonly size?: number;
  /** Words of names, or the beginning of an id. */
  readonly q?: string;
  readonly status?: ConversionStatus;
  readonly source?: (typeof SOURCES)[number];
  /** Exactly this one, as a conversion's page leads to it. */
  readonly reference?: string;
  /** Name and value, with a colon between. */
  readonly tag?: string;
  /** The id of the template that it was made of. */
  readonly template?: string;
  /** The id of an API key. */
  readonly key?: string;
  /** Those alone that have warnings. */
  readonly warnings?: true;
  /** The first day, such as 2026-11-21, in the zone of the person. */
  readonly from?: string;
  /** The last day. */
  readonly to?: string;
}

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

export const isDay = (text: string): boolean => DAY.test(text) && beginOf(text) !== undefined;

const isText = (text: string): boolean => text !== '';
const matching = (value: unknown, fits: (text: string) => boolean): string | undefined =>
  typeof value === 'string' && fits(value) ? value : undefined;

/** Leaves out what the page does not know: an address may be typed by hand. */
export function conversionsSearch(search: Record<string, unknown>): ConversionsSearch {
  const { page, size, status, source, key, template, warnings, from, to } = search;
  // Addresses of earlier pages have the beginning of an id.
  const q = queryOf(matching(search['q'] ?? search['id'], isText) ?? '');
  return given({
    ...pageOf(page),
    size: PAGE_SIZES.slice(1).find((each) => each === Number(size)),
    q,
    status: STATUSES.find((each) => each === status),
    source: SOURCES.find((each) => each === source),
    reference: matching(search['reference'], isText),
    tag: matching(search['tag'], isText),
    key: matching(key, (text) => KEY_ID.test(text)),
    template: matching(template, (text) => TEMPLATE_ID.test(text)),
    warnings: String(warnings) === 'true' || undefined,
    from: matching(from, isDay),
    to: matching(to, isDay),
  });
}

export function filterOf(search: ConversionsSearch): ConversionFilter {
  // The router keeps beside these what their check has left out.
  const { q, status, source, reference, tag, key, template, warnings, from, to } = search;
  return given({
    q,
    status,
    source,
    reference,
    tag,
    key,
    template,
    warnings: warnings && ('true' as const),
    from: from === undefined ? undefined : beginOf(from)?.toISOString(),
    to: to === undefined ? undefined : beginOf(to, 1)?.toISOString(),
  });
}

/**
 * Tells whether a conversion that the stream names belongs to the list. The service alone can say what a search finds:
 * nothing new is offered meanwhile.
 */
export function isListed(
  filter: ConversionFilter,
  one: Pick<Conversion, 'id' | 'status' | 'created_at' | 'warnings'>,
): boolean {
  const created = Date.parse(one.created_at);
  const { q, source, reference, tag, key, template } = filter;
  return (
    (q ?? source ?? reference ?? tag ?? key ?? template) === undefined &&
    (filter.status === undefined || filter.status === one.status) &&
    (filter.warnings === undefined || one.warnings !== undefined) &&
    (filter.from === undefined || created >= Date.parse(filter.from)) &&
    (filter.to === undefined || created < Date.parse(filter.to))
  );
}
