import { pageOf } from '../../api/client.ts';

/** The parameters of the page's address: the filters, the page of the list, and the time to look back to. */
export interface HistorySearch {
  readonly type?: string;
  readonly actor?: string;
  /** The id of a member. */
  readonly person?: string;
  /** Times as the field of a browser has them, such as 2026-11-23T08:00, in the zone of the person. */
  readonly from?: string;
  readonly to?: string;
  readonly conversion?: string;
  readonly page?: number;
  /** A time as above, or a position of the log. */
  readonly asOf?: string;
}

const TEXTS = ['type', 'actor', 'person', 'from', 'to', 'conversion', 'asOf'] as const;

/** Leaves out what is empty or of the wrong type. */
export function historySearch(given: Record<string, unknown>): HistorySearch {
  const texts = TEXTS.map((name) => [name, given[name]] as const).filter(
    ([, value]) => typeof value === 'string' && value !== '',
  );
  return { ...Object.fromEntries(texts), ...pageOf(given['page']) };
}

/** ISO 8601 in UTC; `undefined` for anything else. */
export function isoOf(local: string | undefined): string | undefined {
  if (local === undefined) return undefined;
  const time = new Date(local).getTime();
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

const isPosition = (text: string): boolean => /^\d+$/.test(text);

/** The moment as the API takes it. */
export const momentOf = (asOf: string): string | undefined =>
  isPosition(asOf) ? asOf : isoOf(asOf);
