/** How the pages ask for the fields of a request. */
import { queryOptions } from '@tanstack/react-query';
import { ApiError } from '../api/error.ts';
import {
  type ApiDocument,
  eventTypesOf,
  type Field,
  fieldsOf,
  type RequestName,
} from './schema.ts';

async function readDocument(signal: AbortSignal): Promise<ApiDocument> {
  const response = await fetch('/openapi.json', { signal });
  if (!response.ok) throw await ApiError.from(response);
  return (await response.json()) as ApiDocument;
}

/** The beginning of the keys of what the OpenAPI document says. */
export const FIELDS = 'request-fields';

/** The document changes only with the service's version. */
export const fieldsQuery = (name: RequestName) =>
  queryOptions({
    queryKey: [FIELDS, name],
    queryFn: async ({ signal }): Promise<readonly Field[]> =>
      fieldsOf(await readDocument(signal), name),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** All types of events. */
export const eventTypesQuery = queryOptions({
  queryKey: [FIELDS, 'events'],
  queryFn: async ({ signal }) => eventTypesOf(await readDocument(signal)),
  staleTime: Number.POSITIVE_INFINITY,
});
