import { laterPage, oneOf, searchOf } from '../../search.ts';

export const SPANS = [7, 30, 90] as const;
export type Span = (typeof SPANS)[number];

/** The days of the charts, and the page of the ledger. */
export const usageSearch = searchOf({ days: oneOf(SPANS), page: laterPage });
export type UsageSearch = ReturnType<typeof usageSearch>;
