/** How the pages ask for webhook endpoints and what was sent to them, and under which keys they keep the answers. */
import { queryOptions } from '@tanstack/react-query';
import { type Answer, answerQuery, api, dataOf, queryClient } from './client.ts';
import { ApiError } from './error.ts';

export type Webhook = Answer<'/api/v1/webhooks/{id}/'>;
export type WebhookType = Webhook['types'][number];
export type Delivery = Answer<'/api/v1/webhooks/deliveries/'>[number];
export type DeliveryWithTries = Answer<'/api/v1/webhooks/deliveries/{id}/'>;
export type DeliveryStatus = Delivery['status'];

/** An account has no more endpoints than this, so that one page holds them all. */
const MOST_WEBHOOKS = 100;
/** How often an open page looks for news, and how soon again at what is under way. */
const LOOK_MS = 30_000;
const SOONEST_LOOK_MS = 5000;
const LATE_MS = 1000;

/** The beginning of the keys of endpoints, and of deliveries. */
const WEBHOOKS = ['webhooks'] as const;
export const DELIVERIES = ['deliveries'] as const;

export const webhooksQuery = answerQuery([...WEBHOOKS, 'list'], '/api/v1/webhooks/', {
  query: { page_size: MOST_WEBHOOKS },
});

export const webhookQuery = (id: string) =>
  queryOptions({
    ...answerQuery([...WEBHOOKS, 'one', id], '/api/v1/webhooks/{id}/', { path: { id } }),
    refetchInterval: LOOK_MS,
  });

/** The age of the secret for `webhook_url`; null while there is none. */
export const defaultSecretQuery = queryOptions({
  queryKey: [...WEBHOOKS, 'secret'],
  queryFn: async ({ signal }) => {
    try {
      return await dataOf(api.GET('/api/v1/webhooks/secret/', { signal }));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    }
  },
});

export const deliveryQuery = (id: string) =>
  queryOptions({
    ...answerQuery([...DELIVERIES, 'one', id], '/api/v1/webhooks/deliveries/{id}/', {
      path: { id },
    }),
    refetchInterval: ({ state: { data } }) => nextLook(data && [data]),
  });

export const forgetWebhooks = (): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: WEBHOOKS });

/** A try may also switch its endpoint off. */
export async function forgetDeliveries(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: DELIVERIES });
  await forgetWebhooks();
}

/** @returns the milliseconds to the next try of any, or until a page asks for news */
export function nextLook(deliveries: readonly Delivery[] = []): number {
  const waits = deliveries
    .filter(({ status }) => status === 'waiting')
    .map(({ next_try_at: at }) => (at === undefined ? 0 : Date.parse(at) - Date.now() + LATE_MS));
  return Math.max(SOONEST_LOOK_MS, Math.min(LOOK_MS, ...waits));
}
