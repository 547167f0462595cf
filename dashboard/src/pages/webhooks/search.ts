import type { DeliveryStatus } from '../../api/webhooks.ts';
import { anyText, laterPage, oneOf, searchOf } from '../../search.ts';

export const STATUSES: readonly DeliveryStatus[] = ['waiting', 'delivered', 'failed'];

/** The list of deliveries. */
export const deliveriesSearch = searchOf({
  /** The id of an endpoint; the page of one endpoint needs none. */
  webhook: anyText,
  status: oneOf(STATUSES),
  page: laterPage,
});
export type DeliveriesSearch = ReturnType<typeof deliveriesSearch>;
