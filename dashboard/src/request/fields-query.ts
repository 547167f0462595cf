/** How the pages ask for the fields of a request. */
import { queryOptions } from '@tanstack/react-query';
import { ApiError } from '../api/error.ts';
import { type ApiDocument, type Field, fieldsOf, type RequestName } from './schema.ts';

async function readFields(name: RequestName, signal: AbortSignal): Promise<readonly Field[]> {
  const response = await fetch('/openapi.json', { signal });
  if (!response.ok) throw await ApiError.from(response);
  return fieldsOf((await response.json()) as ApiDocument, name);
}

/** The beginning of the keys of what the OpenAPI document says. */
export const FIELDS = 'request-fields';

/** The document changes only with the service's version. */
export const fieldsQuery = (name: RequestName) =>
  queryOptions({
    queryKey: [FIELDS, name],
    queryFn: ({ signal }) => readFields(name, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
