/** The list of conversions that an address of the page names. */
import type { ConversionFilter, ConversionStatus } from '../../api/conversions.ts';
import { pageOf } from '../../api/paged.ts';

export const STATUSES = ['pending', 'processing', 'completed', 'failed'] as const;

/** The fewest characters by which the service searches: they tell the time of the request to some minutes. */
export const MIN_ID_CHARACTERS = 11;
const ID_PREFIX = 'conv_';
const ID_START = /^conv_[0-9a-z]{6,26}$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

export interface ConversionsSearch {
  readonly page?: number;
  readonly status?: ConversionStatus;
  /** The first characters of the id. */
  readonly id?: string;
  /** The first day, such as 2026-11-21, in the zone of the person. */
  readonly from?: string;
  /** The last day. */
  readonly to?: string;
}

/** The beginning of an id that a person typed or pasted, with or without its prefix. */
export function idStart(text: string): string | undefined {
  const trimmed = text.trim().toLowerCase();
  const id = trimmed.startsWith(ID_PREFIX) ? trimmed : ID_PREFIX + trimmed;
  return ID_START.test(id) ? id : undefined;
}

/** The begin of a day in the zone of the person; undefined if there is no such day. */
function beginOf(day: string, daysLater = 0): Date | undefined {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  // A year that is being typed begins with zeros.
  if (year < 2000 || new Date(Date.UTC(year, month - 1, date)).getUTCDate() !== date)
    return undefined;
  return new Date(year, month - 1, date + daysLater);
}

export const isDay = (text: string): boolean => DAY.test(text) && beginOf(text) !== undefined;

/** Leaves out what the page does not know: an address may be typed by hand. */
export function conversionsSearch(search: Record<string, unknown>): ConversionsSearch {
  const { page, status, id, from, to } = search;
  const known = STATUSES.find((each) => each === status);
  const start = typeof id === 'string' ? idStart(id) : undefined;
  return {
    ...pageOf(page),
    ...(known && { status: known }),
    ...(start !== undefined && { id: start }),
    ...(typeof from === 'string' && isDay(from) && { from }),
    ...(typeof to === 'string' && isDay(to) && { to }),
  };
}

export function filterOf({ status, id, from, to }: ConversionsSearch): ConversionFilter {
  const begin = from === undefined ? undefined : beginOf(from);
  const end = to === undefined ? undefined : beginOf(to, 1);
  return {
    ...(status && { status }),
    ...(id !== undefined && { id }),
    ...(begin && { from: begin.toISOString() }),
    ...(end && { to: end.toISOString() }),
  };
}

/** Tells whether a conversion that the stream names belongs to the list. */
export function isListed(
  filter: ConversionFilter,
  one: { readonly id: string; readonly status: string; readonly created_at: string },
): boolean {
  const created = Date.parse(one.created_at);
  return (
    (filter.status === undefined || filter.status === one.status) &&
    (filter.id === undefined || one.id.startsWith(filter.id)) &&
    (filter.from === undefined || created >= Date.parse(filter.from)) &&
    (filter.to === undefined || created < Date.parse(filter.to))
  );
}
