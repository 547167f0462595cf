/** Sends requests as any client of the API would, and waits for what they make. */
import { api, dataOf, fetchSignedIn, type Sent } from '../api/client.ts';
import type { Conversion } from '../api/conversions.ts';
import { ApiError } from '../api/error.ts';
import type { IdempotencyKeys } from '../api/idempotency-keys.ts';
import { queryClient } from '../api/queries.ts';
import { FIELDS } from './fields-query.ts';

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

async function fileOf(id: string): Promise<Blob> {
  const url = new URL(`/api/v1/conversions/${encodeURIComponent(id)}/file/`, location.origin);
  const response = await fetchSignedIn(new Request(url));
  if (!response.ok) throw await ApiError.from(response);
  return await response.blob();
}

/** Waits until the conversion has ended. */
export async function untilEnded(started: Conversion): Promise<Converted> {
  let record = started;
  while (record.status === 'pending' || record.status === 'processing') {
    const params = { path: { id: record.id }, header: HELD };
    record = await dataOf(api.GET('/api/v1/conversions/{id}/', { params }));
  }
  return record.status === 'completed' ? { record, pdf: await fileOf(record.id) } : { record };
}

/** Asks again for what shows a conversion: credits, lists and the history. */
export const refresh = (): Promise<void> =>
  queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== FIELDS });
