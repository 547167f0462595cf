/** How the pages ask for conversions, and under which keys they keep the answers. */
import { queryOptions } from '@tanstack/react-query';
import { answerOf, answerQuery, api, fileOf, FOR_EVER, pageQuery, totalOf } from './client.ts';
import type { components } from './schema.d.ts';
import { ApiError } from './error.ts';
import { t } from '../words/words.ts';

export type Conversion = components['schemas']['Conversion'];
export type ConversionStatus = Conversion['status'];
export type ConversionEvent = components['schemas']['HistoryEntry'];

export const CONVERSIONS_PAGE_SIZE = 20;
const MOST_EVENTS_PER_PAGE = 100;
/** How often an unfinished conversion is asked for, beside the live stream. */
const POLL_MS = 5000;

export const isEnded = ({ status }: Conversion): boolean =>
  status === 'completed' || status === 'failed';

/** The format of a picture, by the ending of its link. */
const PICTURE_LINK = /\.(png|jpeg|webp)$/;

/** @returns the format of a completed conversion that is not a PDF, such as WebP */
export function pictureFormatOf({ file_url: url }: Conversion): string | undefined {
  const format = url === undefined ? undefined : PICTURE_LINK.exec(new URL(url).pathname)?.[1];
  return format === 'webp' ? 'WebP' : format?.toUpperCase();
}

/** What a completed conversion has made, in sentences. */
export const nounOf = (record: Conversion): string =>
  pictureFormatOf(record) === undefined ? 'PDF' : t('picture');

export interface ConversionFilter {
  /** Words of names, or the beginning of an id. */
  readonly q?: string;
  readonly status?: ConversionStatus;
  readonly source?: 'html' | 'url' | 'document';
  readonly reference?: string;
  /** Name and value, with a colon between. */
  readonly tag?: string;
  /** The id of the template that it was made of. */
  readonly template?: string;
  /** The id of an API key. */
  readonly key?: string;
  readonly warnings?: 'true';
  /** ISO 8601, inclusive. */
  readonly from?: string;
  /** ISO 8601, exclusive. */
  readonly to?: string;
  /** The id of a batch. */
  readonly batch?: string;
  /** Unless given, the newest come first. */
  readonly order?: 'oldest';
}

/**
 * Tells whether a conversion that the stream names belongs to a list. The service alone can say what a search finds, and
 * what is new is not on the first page where the oldest are: nothing new is offered then.
 */
export function isListed(filter: ConversionFilter, one: Conversion): boolean {
  const { status, warnings, from = '', to, ...searched } = filter;
  // Times of one form are in the order of their texts.
  return (
    Object.keys(searched).length === 0 &&
    (status ?? one.status) === one.status &&
    (warnings === undefined || one.warnings !== undefined) &&
    one.created_at >= from &&
    (to === undefined || one.created_at < to)
  );
}

/** The beginning of the keys of all lists. */
export const LISTS = ['conversions'] as const;
/** The beginning of the keys of everything about one conversion. */
export const oneConversion = (id: string) => ['conversion', id] as const;

export const conversionsPage = (
  filter: ConversionFilter = {},
  { page = 1, size = CONVERSIONS_PAGE_SIZE } = {},
) => ({
  key: [...LISTS, filter],
  page,
  size,
  ask: (query: { readonly page: number; readonly page_size: number }, signal: AbortSignal) =>
    api.GET('/api/v1/conversions/', { params: { query: { ...filter, ...query } }, signal }),
});

export const conversionsQuery = (...list: Parameters<typeof conversionsPage>) =>
  pageQuery(conversionsPage(...list));

export const conversionQuery = (id: string) =>
  queryOptions({
    ...answerQuery([...oneConversion(id), 'record'], '/api/v1/conversions/{id}/', { path: { id } }),
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && !isEnded(data) ? POLL_MS : false,
  });

/** All events of a conversion, oldest first. */
export const conversionEventsQuery = (id: string) =>
  queryOptions({
    queryKey: [...oneConversion(id), 'events'],
    queryFn: async ({ signal }): Promise<readonly ConversionEvent[]> => {
      const events: ConversionEvent[] = [];
      for (let page = 1; ; page += 1) {
        const query = { page, page_size: MOST_EVENTS_PER_PAGE };
        const { data, response } = await answerOf(
          api.GET('/api/v1/conversions/{id}/events/', { params: { path: { id }, query }, signal }),
        );
        events.push(...data);
        if (data.length === 0 || events.length >= totalOf(response)) return events;
      }
    },
  });

interface Deletion {
  /** ISO 8601. */
  readonly time: string;
  /** The account asked for it, or cancelled the conversion; otherwise their time was over. */
  readonly cause: 'asked' | 'cancelled' | 'time';
}

/** @returns how the documents of a conversion were deleted; undefined while they are stored */
export function deletionOf(events: readonly ConversionEvent[] = []): Deletion | undefined {
  const deleted = events.find(
    ({ type }) => type === 'ConversionDeleted' || type === 'ConversionExpired',
  );
  if (deleted === undefined) return undefined;
  const isCancelled = events.some(
    ({ type, data }) => type === 'ConversionFailed' && data['code'] === 'cancelled',
  );
  const unasked = isCancelled ? 'cancelled' : 'time';
  return { time: deleted.time, cause: deleted.type === 'ConversionDeleted' ? 'asked' : unasked };
}

export type ConversionFile = { readonly pdf: Blob; readonly name: string };

const PICTURES: readonly string[] = ['image/png', 'image/jpeg', 'image/webp'];

/** The name that the service gives a file, from `Content-Disposition` (RFC 6266). */
function fileNameOf({ headers }: Response, otherwise: string): string {
  const header = headers.get('Content-Disposition') ?? '';
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(header)?.[1];
  if (encoded !== undefined) return decodeURIComponent(encoded);
  return /filename="([^"]*)"/i.exec(header)?.[1] ?? otherwise;
}

/** The PDF of a conversion that has completed. To ask for it is a download, which is an event. */
export const conversionFileQuery = (id: string) =>
  queryOptions({
    queryKey: [...oneConversion(id), 'file'],
    queryFn: async ({ signal, client }): Promise<ConversionFile> => {
      const path = { id };
      const answer = await fileOf('/api/v1/conversions/{id}/file/', { path }, signal);
      const { data, response } = answer;
      void client.invalidateQueries(conversionEventsQuery(id));
      // A blob: URL has the origin of these pages, so the browser must take it for nothing but a PDF or a picture.
      const told = response.headers.get('Content-Type') ?? '';
      const type = PICTURES.includes(told) ? told : 'application/pdf';
      const pdf = new Blob([data], { type });
      return { pdf, name: fileNameOf(response, `${id}.pdf`) };
    },
    // The PDF of a conversion never changes.
    ...FOR_EVER,
  });

export type StoredRequest = components['schemas']['StoredRequest'];
export type RenderRecord = components['schemas']['RenderRecord'];

/** The request of a conversion, while it is stored. */
export const conversionRequestQuery = (id: string) =>
  answerQuery(
    [...oneConversion(id), 'request'],
    '/api/v1/conversions/{id}/request/',
    { path: { id } },
    FOR_EVER,
  );

/** How the PDF was made, while that is stored. */
export const renderRecordQuery = (id: string) =>
  answerQuery(
    [...oneConversion(id), 'manifest'],
    '/api/v1/conversions/{id}/manifest/',
    { path: { id } },
    FOR_EVER,
  );

/**
 * The picture of a page that failed, or of the first page of a PDF, while it is stored. To look is no download.
 * null: there is none, as of a PDF that needs a password.
 */
export const pictureQuery = (id: string, part: 'picture' | 'thumbnail') =>
  queryOptions({
    queryKey: [...oneConversion(id), part],
    queryFn: ({ signal }): Promise<Blob | null> =>
      fileOf(`/api/v1/conversions/{id}/${part}/`, { path: { id } }, signal).then(
        ({ data }) => data,
        (error: unknown) => {
          if (error instanceof ApiError && error.code === 'not_found') return null;
          throw error;
        },
      ),
    ...FOR_EVER,
  });
