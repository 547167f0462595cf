/** Converts what is filled in, as any client of the API would. */
import { api, dataOf, fetchSignedIn } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import { IdempotencyKeys } from '../../api/idempotency-keys.ts';
import type { components } from '../../api/schema.d.ts';
import type { Values } from './request.ts';

type Conversion = components['schemas']['Conversion'];

export interface Converted {
  readonly record: Conversion;
  /** The PDF of a conversion that completed. */
  readonly pdf?: Blob;
}

/** The service answers when the conversion has ended, or after that many seconds. */
const HELD = { Prefer: 'wait=30' } as const;

const keys = new IdempotencyKeys();

async function create(request: Values): Promise<Conversion> {
  const header = { ...HELD, 'Idempotency-Key': keys.keyFor(JSON.stringify(request)) };
  const sent = await api.POST('/api/v1/pdf/', { params: { header }, body: request });
  keys.answered(sent.response.status);
  return await dataOf(Promise.resolve(sent));
}

async function fileOf(id: string): Promise<Blob> {
  const url = new URL(`/api/v1/conversions/${encodeURIComponent(id)}/file/`, location.origin);
  const response = await fetchSignedIn(new Request(url));
  if (!response.ok) throw await ApiError.from(response);
  return await response.blob();
}

/**
 * Waits until the conversion has ended.
 * @throws {ApiError} the service refused the request
 */
export async function convert(request: Values): Promise<Converted> {
  let record = await create(request);
  while (record.status === 'pending' || record.status === 'processing') {
    const params = { path: { id: record.id }, header: HELD };
    record = await dataOf(api.GET('/api/v1/conversions/{id}/', { params }));
  }
  return record.status === 'completed' ? { record, pdf: await fileOf(record.id) } : { record };
}
