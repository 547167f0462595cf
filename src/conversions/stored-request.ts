/** Reads what a client asked for, as long as it is stored. */
import type { ConversionRow } from '../../projections/conversions.ts';
import { historyQueries } from '../../projections/history.ts';
import { namingOf } from '../accounts/conversion-names.ts';
import { readContent } from '../documents/decryption.ts';
import type { Vault } from '../documents/keys/vault.ts';
import type { BlobStore } from '../documents/port.ts';
import { type PrintOptions, requestedOptions, type Source } from '../domain/event-fields.ts';
import type { EventOf } from '../domain/events.ts';
import type { PdfRequest, RequestDocument } from '../domain/request-document.ts';
import { decodeEvent } from '../event-store/codec.ts';
import { consistentQuery } from '../read-model/consistent-query.ts';
import { type HistoryDependencies, readEvents } from './history.ts';

/** A request with the defaults filled in: its HTML or URL with `options` gives the same conversion again. */
export interface StoredRequest extends Pick<RequestDocument, 'html' | 'url' | 'document'> {
  readonly source: Source;
  readonly options: Partial<PrintOptions> &
    Omit<RequestDocument, 'html' | 'url' | 'document' | 'verify_url' | 'pdf'> & {
      readonly pdf?: PdfRequest & { readonly verify_link?: boolean };
      readonly filename?: string;
      readonly reference?: string;
      readonly tags?: Readonly<Record<string, string>>;
      readonly priority?: 'low';
    };
}

export interface StoredRequestDependencies extends HistoryDependencies {
  readonly blobs: Pick<BlobStore, 'read'>;
  readonly vault: Pick<Vault, 'contentKey' | 'unseal'>;
}

/** The request of a conversion that is not opened yet. */
export interface SealedRequest {
  /** The event that asked for the conversion. */
  readonly requested: EventOf<'ConversionRequested'>['data'];
  /**
   * @throws {BlobNotFound} it is deleted
   * @throws {BlobStoreUnavailable} it is damaged
   * @throws {KeyErased} its account was erased
   */
  open(): Promise<StoredRequest>;
}

/**
 * The `RequestDocument` as JSON.
 * @throws {BlobNotFound} it is deleted
 * @throws {BlobStoreUnavailable} it is damaged
 * @throws {KeyErased} its account was erased
 */
export async function readStoredRequest(
  { blobs, vault }: { blobs: Pick<BlobStore, 'read'>; vault: Pick<Vault, 'contentKey'> },
  { accountId, conversionId, request }: EventOf<'ConversionRequested'>['data'],
): Promise<Buffer> {
  return await readContent(blobs, await vault.contentKey(accountId, conversionId), request);
}

/** Finds the request of a conversion that the read model has. */
export async function findRequest(
  deps: StoredRequestDependencies,
  { accountId, id: conversionId }: Pick<ConversionRow, 'accountId' | 'id'>,
  asOf?: bigint,
): Promise<SealedRequest> {
  const history = await consistentQuery(deps, historyQueries, asOf);
  const selection = { accountId, conversionId, types: ['ConversionRequested'] };
  const places = history.selected(selection, 0, history.countUpTo(accountId));
  const [recorded] = await readEvents(deps.streams, places);
  if (recorded === undefined) throw new Error(`The log has no request of ${conversionId}.`);
  const { data } = decodeEvent(recorded) as EventOf<'ConversionRequested'>;
  return {
    requested: data,
    async open() {
      const content = await readStoredRequest(deps, data);
      const { html, url, verify_url, document, ...others } = JSON.parse(
        content.toString('utf8'),
      ) as RequestDocument;
      return {
        source: data.source,
        ...(html === undefined ? {} : { html }),
        ...(url === undefined ? {} : { url }),
        ...(document === undefined ? {} : { document }),
        options: {
          ...requestedOptions(data.options),
          ...others,
          ...(verify_url !== undefined && { pdf: { ...others.pdf, verify_link: true } }),
          ...(await namingOf(deps.vault, data)),
          ...(data.priority && { priority: data.priority }),
        },
      };
    },
  };
}

/** True if the request holds credentials of other sites, or what opens a document. */
export const holdsSecrets = ({ headers, cookies, pdf, document }: RequestDocument): boolean =>
  (headers ?? cookies ?? pdf?.encrypt) !== undefined ||
  (document?.sources.some(({ password }) => password !== undefined) ?? false) ||
  (document?.steps.some(({ type }) => type === 'encrypt') ?? false);

/**
 * What an API key gets of a request. Strangers may find a key: the headers and cookies of earlier requests are credentials
 * of other sites, and passwords open documents.
 */
export function withoutSecrets({ options, document, ...request }: StoredRequest): StoredRequest {
  const { headers: _headers, cookies: _cookies, pdf, ...others } = options;
  const { encrypt: _encrypt, ...ofPdf } = pdf ?? {};
  return {
    ...request,
    ...(document && {
      document: {
        sources: document.sources.map(({ file }) => ({ file })),
        steps: document.steps.filter(({ type }) => type !== 'encrypt'),
      },
    }),
    options: { ...others, ...(pdf && { pdf: ofPdf }) },
  };
}
