/** What the addresses of the pages for operators name. */
import { t } from '../../words/words.ts';
import { pageOf } from '../../api/client.ts';

/** The time that the address of the page Operations names. */
export const SPANS = {
  hour: { label: t('One hour'), minutes: 60 },
  day: { label: t('A day'), minutes: 24 * 60 },
  month: { label: '30 days', minutes: 30 * 24 * 60 },
} as const;

export type Span = keyof typeof SPANS;

export interface SpanSearch {
  readonly span?: Span;
  /** ISO 8601; without one, now. */
  readonly until?: string;
}

/** Leaves out what the page does not know: an address may be typed by hand. */
export function spanSearch({ span, until }: Record<string, unknown>): SpanSearch {
  const isTime = typeof until === 'string' && !Number.isNaN(Date.parse(until));
  return {
    ...(typeof span === 'string' && Object.hasOwn(SPANS, span) && { span: span as Span }),
    ...(isTime && { until: new Date(until).toISOString() }),
  };
}

/** The list of accounts that an address of the page names. */
export interface AccountsSearch {
  /** The whole address that is searched for. */
  readonly email?: string;
  readonly page?: number;
}

/** Leaves out what the page does not know: an address may be typed by hand. */
export function accountsSearch({ email, page }: Record<string, unknown>): AccountsSearch {
  return {
    ...(typeof email === 'string' && email.trim() !== '' && { email }),
    ...pageOf(page),
  };
}
