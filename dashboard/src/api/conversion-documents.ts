/** The documents that are stored of a conversion beside its PDF: its request, and the record of how it was rendered. */
import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from './client.ts';
import { oneConversion } from './conversions.ts';
import { ApiError } from './error.ts';
import type { components } from './schema.d.ts';

export type StoredRequest = components['schemas']['StoredRequest'];
export type RenderRecord = components['schemas']['RenderRecord'];

/** The request of a conversion, while it is stored. */
export const conversionRequestQuery = (id: string) =>
  queryOptions({
    queryKey: [...oneConversion(id), 'request'],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/conversions/{id}/request/', { params: { path: { id } }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** The picture of a page that failed, while it is stored. */
export const pictureQuery = (id: string) =>
  queryOptions({
    queryKey: [...oneConversion(id), 'picture'],
    queryFn: ({ signal }): Promise<Blob> =>
      dataOf(
        api.GET('/api/v1/conversions/{id}/picture/', {
          params: { path: { id } },
          parseAs: 'blob',
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** The first page of a PDF, while that is stored; null if it cannot be drawn. To look is no download. */
export const thumbnailQuery = (id: string) =>
  queryOptions({
    queryKey: [...oneConversion(id), 'thumbnail'],
    queryFn: async ({ signal }): Promise<Blob | null> => {
      const params = { path: { id } };
      const sent = api.GET('/api/v1/conversions/{id}/thumbnail/', {
        params,
        parseAs: 'blob',
        signal,
      });
      return await dataOf(sent).catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'not_found') return null;
        throw error;
      });
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

/** How the PDF was made, while that is stored. */
export const renderRecordQuery = (id: string) =>
  queryOptions({
    queryKey: [...oneConversion(id), 'manifest'],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/conversions/{id}/manifest/', { params: { path: { id } }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** @returns the id of a new conversion of the same stored request */
export async function convertAgain(id: string, idempotencyKey: string): Promise<string> {
  const made = await dataOf(
    api.POST('/api/v1/conversions/{id}/retry/', {
      params: { path: { id }, header: { 'Idempotency-Key': idempotencyKey } },
    }),
  );
  return made.id;
}

/** @returns the id of a new conversion of the same stored request, whose PDF is compared with that of the first */
export async function renderAgain(id: string, idempotencyKey: string): Promise<string> {
  const made = await dataOf(
    api.POST('/api/v1/conversions/{id}/rerender/', {
      params: { path: { id }, header: { 'Idempotency-Key': idempotencyKey } },
    }),
  );
  return made.id;
}

/** The bundle by which anyone can prove the conversion without the service. */
export const getEvidence = (id: string): Promise<Blob> =>
  dataOf(
    api.GET('/api/v1/conversions/{id}/evidence/', { params: { path: { id } }, parseAs: 'blob' }),
  );
