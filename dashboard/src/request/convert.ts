/** Sends requests as any client of the API would, and waits for what they make. */
import { api, dataOf, fileOf, queryClient, type Sent } from '../api/client.ts';
import { type Conversion, pictureQuery } from '../api/conversions.ts';
import type { IdempotencyKeys } from '../api/idempotency-keys.ts';
import { FIELDS } from './fields-query.ts';
import { type Values, valuesOf } from './values.ts';

export interface Converted {
  readonly record: Conversion;
  /** The PDF of a conversion that completed. */
  readonly pdf?: Blob;
}

/** The service answers when the conversion has ended, or after that many seconds. */
const HELD = { Prefer: 'wait=30' } as const;

/**
 * Sends a request once, also where it is repeated because no answer came.
 * @param body tells it from other requests
 * @throws {ApiError} the service refused the request
 */
export async function sendOnce<Answer>(
  keys: IdempotencyKeys,
  body: string,
  post: (header: {
    readonly Prefer: string;
    readonly 'Idempotency-Key': string;
  }) => Promise<Sent<Answer>>,
): Promise<Answer> {
  const sent = await post({ ...HELD, 'Idempotency-Key': keys.keyFor(body) });
  keys.answered(sent.response.status);
  return await dataOf(Promise.resolve(sent));
}

/** Waits until the conversion has ended. */
export async function untilEnded(started: Conversion): Promise<Converted> {
  let record = started;
  while (record.status === 'pending' || record.status === 'processing') {
    const params = { path: { id: record.id }, header: HELD };
    // Chrome lets another request for this address, as to cancel it, wait 20 s for this one in its cache.
    const waiting = api.GET('/api/v1/conversions/{id}/', { params, cache: 'no-store' });
    record = await dataOf(waiting);
  }
  if (record.status !== 'completed') return { record };
  // A browser without a viewer shows it in the place of the PDF. A test is deleted once its PDF is fetched.
  if (!navigator.pdfViewerEnabled) {
    await queryClient.prefetchQuery(pictureQuery(record.id, 'thumbnail'));
  }
  const { data } = await fileOf('/api/v1/conversions/{id}/file/', { path: { id: record.id } });
  return { record, pdf: data };
}

/**
 * Makes a test, which costs nothing and whose PDF the service deletes when it was fetched.
 * @param signal cancels it
 */
export async function preview(body: Values, signal: AbortSignal): Promise<Converted> {
  const params = { query: { test: 'true' } } as const;
  const pdf = 'pdf' in body ? { ...valuesOf(body['pdf']), sign: undefined } : undefined;
  // A test is not signed, and no program waits for it.
  const shown = { ...body, pdf, webhook_url: undefined, retention_seconds: 0 };
  const started = await dataOf(api.POST('/api/v1/pdf/', { params, body: shown }));
  const cancel = () =>
    void api.DELETE('/api/v1/conversions/{id}/', { params: { path: { id: started.id } } });
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel);
  try {
    return await untilEnded(started);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** Asks again for what shows a conversion: credits, lists and the history. */
export const refresh = (): Promise<void> =>
  queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== FIELDS });
