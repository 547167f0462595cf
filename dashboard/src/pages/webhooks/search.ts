/** The list of deliveries that an address of a page names. */
import { given, pageOf } from '../../api/client.ts';
import type { DeliveryStatus } from '../../api/webhooks.ts';

export const STATUSES: readonly DeliveryStatus[] = ['waiting', 'delivered', 'failed'];

export interface DeliveriesSearch {
  /** The id of an endpoint; the page of one endpoint needs none. */
  readonly webhook?: string;
  readonly status?: DeliveryStatus;
  readonly page?: number;
}

/** Leaves out what the page does not know: an address may be typed by hand. */
export function deliveriesSearch(search: Record<string, unknown>): DeliveriesSearch {
  const { webhook, status, page } = search;
  return given({
    webhook: typeof webhook === 'string' && webhook !== '' ? webhook : undefined,
    status: STATUSES.find((each) => each === status),
    ...pageOf(page),
  });
}
