/** Webhook endpoints and deliveries of the account, and the check of a delivery that came. */
import type { Batch } from './batches.ts';
import type { CallOptions } from './options.ts';
import { everyItem, type Page, type PageQuery } from './pages.ts';
import type { Requests } from './requests.ts';
import type { Account, CompletedConversion, EndedConversion, FailedConversion } from './types.ts';

export type WebhookType =
  | 'conversion.completed'
  | 'conversion.failed'
  | 'conversion.deleted'
  | 'batch.ended'
  | 'credits.low';

export interface Webhook {
  id: string;
  url: string;
  description?: string;
  types: WebhookType[];
  enabled: boolean;
  /** `owner`: you switched it off; `gone`: it answered 410; `failing`: every try failed for 5 days. */
  disabled_reason?: 'owner' | 'gone' | 'failing';
  disabled_at?: string;
  /** The first characters of its newest secret. */
  secret_prefix: string;
  secret_created_at: string;
  /** The first of the tries that have failed since the last that did not. */
  failing_since: string | null;
  created_at: string;
}

export interface WebhookWithSecret extends Webhook {
  /** It is shown only this once. */
  secret: string;
}

export interface WebhookSecret {
  secret_prefix: string;
  created_at: string;
}

export interface NewWebhookSecret extends WebhookSecret {
  /** It is shown only this once. */
  secret: string;
}

export interface WebhookSettings {
  /** An https address. */
  readonly url?: string;
  readonly types?: readonly WebhookType[];
  readonly description?: string;
  readonly enabled?: boolean;
}

export interface WebhookDelivery {
  /** The value of `webhook-id`. */
  id: string;
  type: WebhookType | 'webhook.test';
  status: 'waiting' | 'delivered' | 'failed';
  /** Absent where the URL came with the request. */
  webhook_id?: string;
  conversion_id?: string;
  /** The name of that conversion, as lists show it. */
  name?: string;
  batch_id?: string;
  url?: string;
  tries: number;
  last_status?: number;
  /** The reason why the last try got no answer. */
  last_failure?: WebhookFailure;
  /** It failed without a further try, because its endpoint was deleted or switched off. */
  dropped?: 'deleted' | 'disabled';
  created_at: string;
  last_try_at?: string;
  next_try_at?: string;
}

export type WebhookFailure =
  | 'address_refused'
  | 'https_required'
  | 'name_not_found'
  | 'name_lookup_failed'
  | 'connection_refused'
  | 'connection_failed'
  | 'certificate_refused'
  | 'invalid_answer'
  | 'timeout'
  | 'unreadable';

export interface WebhookTry {
  at: string;
  status?: number;
  failure?: WebhookFailure;
  duration_ms: number;
  /** The first bytes of the answer. */
  answer?: string;
}

export interface WebhookDeliveryWithTries extends WebhookDelivery {
  /** Oldest first. */
  attempts: WebhookTry[];
}

export interface DeliveryFilter {
  /** The id of an endpoint. */
  readonly webhook?: string | undefined;
  /** The id of a conversion. */
  readonly conversion?: string | undefined;
  readonly status?: WebhookDelivery['status'] | undefined;
}

export class Webhooks {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** Creates an endpoint. The answer is the only one that holds its secret. */
  create(
    settings: Omit<WebhookSettings, 'enabled'> & { readonly url: string },
    options: CallOptions = {},
  ): Promise<WebhookWithSecret> {
    return this.#requests.json('POST', '/webhooks/', { ...options, body: settings });
  }

  list(query: PageQuery = {}): Promise<Page<Webhook>> {
    return this.#requests.page('/webhooks/', query, {});
  }

  get(id: string, options: CallOptions = {}): Promise<Webhook> {
    return this.#requests.json('GET', pathOf(id), options);
  }

  /** Changes what is given. `enabled: true` switches an endpoint on again that failed for days. */
  update(id: string, settings: WebhookSettings, options: CallOptions = {}): Promise<Webhook> {
    return this.#requests.json('PATCH', pathOf(id), { ...options, body: settings });
  }

  delete(id: string, options: CallOptions = {}): Promise<void> {
    return this.#requests.remove(pathOf(id), options);
  }

  /** Replaces the secret. The former one signs beside it for 24 hours. */
  rotate(id: string, options: CallOptions = {}): Promise<WebhookWithSecret> {
    return this.#requests.json('POST', `${pathOf(id)}rotate/`, options);
  }

  /** Has a delivery of the type `webhook.test` sent. */
  test(id: string, options: CallOptions = {}): Promise<WebhookDelivery> {
    return this.#requests.json('POST', `${pathOf(id)}test/`, options);
  }

  /** Retrieves the age of the secret that signs what goes to the `webhook_url` of a request. */
  secret(options: CallOptions = {}): Promise<WebhookSecret> {
    return this.#requests.json('GET', '/webhooks/secret/', options);
  }

  /** Makes or replaces that secret. */
  rotateSecret(options: CallOptions = {}): Promise<NewWebhookSecret> {
    return this.#requests.json('POST', '/webhooks/secret/rotate/', options);
  }

  /** Lists one page of deliveries, newest first. */
  listDeliveries({
    webhook,
    conversion,
    status,
    ...query
  }: PageQuery & DeliveryFilter = {}): Promise<Page<WebhookDelivery>> {
    const filter = { webhook, conversion, status };
    return this.#requests.page('/webhooks/deliveries/', query, filter);
  }

  /** Iterates over all deliveries, newest first, page by page. */
  deliveries(query: Omit<PageQuery, 'page'> & DeliveryFilter = {}) {
    return everyItem((page) => this.listDeliveries({ ...query, page }));
  }

  /** Retrieves a delivery with each of its tries. */
  delivery(id: string, options: CallOptions = {}): Promise<WebhookDeliveryWithTries> {
    return this.#requests.json('GET', deliveryPath(id), options);
  }

  /** Sends a delivery once more. */
  redeliver(id: string, options: CallOptions = {}): Promise<WebhookDelivery> {
    return this.#requests.json('POST', `${deliveryPath(id)}redeliver/`, options);
  }

  /** Sends deliveries to an endpoint once more that failed, of events since then: the oldest, at most 1,000. */
  redeliverFailed(
    id: string,
    since: string | Date,
    options: CallOptions = {},
  ): Promise<{ readonly deliveries: number }> {
    const time = typeof since === 'string' ? since : since.toISOString();
    const path = `${pathOf(id)}redeliver/?since=${encodeURIComponent(time)}`;
    return this.#requests.json('POST', path, options);
  }
}

const pathOf = (id: string): string => `/webhooks/${encodeURIComponent(id)}/`;
const deliveryPath = (id: string): string => `/webhooks/deliveries/${encodeURIComponent(id)}/`;

/** What a delivery says. */
export type WebhookEvent = { readonly timestamp: string } & (
  | { readonly type: 'conversion.completed'; readonly data: CompletedConversion }
  | { readonly type: 'conversion.failed'; readonly data: FailedConversion }
  | { readonly type: 'conversion.deleted'; readonly data: EndedConversion }
  | { readonly type: 'batch.ended'; readonly data: Batch }
  | { readonly type: 'credits.low'; readonly data: Account }
  | { readonly type: 'webhook.test'; readonly data: Webhook }
);

/** The delivery is not to be believed. */
export class WebhookRefused extends Error {
  override readonly name = 'WebhookRefused';
}

type GivenHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

function headerIn(headers: GivenHeaders, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? '';
  const [, value = ''] =
    Object.entries(headers).find(([each]) => each.toLowerCase() === name) ?? [];
  return String(value);
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

/** @returns undefined where it is not base64 */
function signatureIn(text: string): Uint8Array<ArrayBuffer> | undefined {
  const [version, signature = ''] = text.split(',');
  if (version !== 'v1') return undefined;
  try {
    return bytesOf(signature);
  } catch {
    return undefined;
  }
}

/**
 * Checks that a delivery is from the service and recent, after Standard Webhooks.
 * @param delivery its headers, and the body as it came: before it is parsed
 * @param secret of the endpoint, or the default secret for the `webhook_url` of a request
 * @example const event = await verifyWebhook({ headers: request.headers, body }, secret);
 * @throws {WebhookRefused} it is not signed with the secret, or its time is not within the tolerance
 */
export async function verifyWebhook(
  { headers, body }: { readonly headers: GivenHeaders; readonly body: string | Uint8Array },
  secret: string,
  { toleranceSeconds = 300 }: { readonly toleranceSeconds?: number } = {},
): Promise<WebhookEvent> {
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    headerIn(headers, `webhook-${name}`),
  );
  if (!id || !signatures || !/^\d+$/.test(timestamp ?? '')) {
    throw new WebhookRefused(
      'The headers webhook-id, webhook-timestamp and webhook-signature are needed.',
    );
  }
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookRefused('The delivery is too old, or the clock of this machine is wrong.');
  }
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const raw = bytesOf(secret.replace(/^whsec_/, ''));
  const key = await crypto.subtle.importKey('raw', raw, algorithm, false, ['verify']);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  for (const each of signatures.split(' ')) {
    const signature = signatureIn(each);
    // Compares in constant time.
    if (signature && (await crypto.subtle.verify('HMAC', key, signature, signed))) {
      return JSON.parse(text) as WebhookEvent;
    }
  }
  throw new WebhookRefused('The delivery is not signed with this secret.');
}
