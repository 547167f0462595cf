import { pageOf } from '../../api/client.ts';

/** The parameters of the page's address: the days of the charts, and the page of the ledger. */
export const SPANS = [7, 30, 90] as const;
export type Span = (typeof SPANS)[number];

export type UsageSearch = { readonly days?: Span; readonly page?: number };

/** Leaves out what is not among the choices. */
export function usageSearch({ days, page }: Record<string, unknown>): UsageSearch {
  const span = SPANS.find((each) => each === Number(days));
  return { ...(span !== undefined && { days: span }), ...pageOf(page) };
}
