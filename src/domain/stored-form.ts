/** The shorter form that events have in the log since version 2. Logs of version 1 hold requests of both forms. */
import { blobKey } from './blob-key.ts';
import { type BlobRef, DEFAULT_OPTIONS, type PrintOptions } from './event-fields.ts';
import type { DomainEvent, EventType } from './events.ts';

/**
 * The data as it is stored: a request lacks the options that have their default, and the key of its document, which
 * follows from its id and hash. A store takes so much in one append, and a batch is one.
 */
export function shortened({ type, data }: DomainEvent): object {
  if (type !== 'ConversionRequested') return data;
  const { conversionId, request } = data;
  const { key, ...blob } = request;
  const options = Object.entries(data.options).filter(
    ([name, value]) => value !== DEFAULT_OPTIONS[name as keyof PrintOptions],
  );
  return {
    ...data,
    request: key === blobKey(conversionId, 'request', blob.sha256) ? blob : request,
    options: Object.fromEntries(options),
  };
}

/** The data as all but the log have it, of an event that `shortened` has stored or that has all of it. */
export function restored(type: EventType, data: object): object {
  if (type !== 'ConversionRequested') return data;
  const { conversionId, request, options } = data as {
    readonly conversionId?: string;
    readonly request?: Omit<BlobRef, 'key'>;
    readonly options?: Partial<PrintOptions>;
  };
  // What lacks them is not of its shape, and is told so by those who look.
  if (typeof request !== 'object' || typeof options !== 'object') return data;
  const key = blobKey(`${conversionId}`, 'request', request.sha256);
  return { ...data, request: { key, ...request }, options: { ...DEFAULT_OPTIONS, ...options } };
}
