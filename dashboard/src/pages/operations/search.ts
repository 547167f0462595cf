import { anyText, laterPage, oneOf, searchOf } from '../../search.ts';
import { t } from '../../words/words.ts';

export const SPANS = {
  hour: { label: t('One hour'), minutes: 60 },
  day: { label: t('A day'), minutes: 24 * 60 },
  month: { label: t('30 days'), minutes: 30 * 24 * 60 },
} as const;

export type Span = keyof typeof SPANS;

/** The time that the page Operations shows: how long, and until when (ISO 8601); without that, until now. */
export const spanSearch = searchOf({
  span: oneOf(Object.keys(SPANS) as Span[]),
  until: (value) =>
    typeof value === 'string' && !Number.isNaN(Date.parse(value))
      ? new Date(value).toISOString()
      : undefined,
});
export type SpanSearch = ReturnType<typeof spanSearch>;

/** The list of accounts: the whole address that is searched for, and the page. */
export const accountsSearch = searchOf({ email: anyText, page: laterPage });
export type AccountsSearch = ReturnType<typeof accountsSearch>;
