/** The request of a conversion, the manifest of its rendering, and the pictures of its failure and of its first page, while they are stored. */
import type { Static } from 'typebox';
import type { ConversionRow } from '../../../projections/conversions.ts';
import { readRenderManifest } from '../../conversions/render-manifest.ts';
import { findRequest, withoutSecrets } from '../../conversions/stored-request.ts';
import { readContent } from '../../documents/decryption.ts';
import { BlobNotFound } from '../../documents/port.ts';
import { ServiceError } from '../../errors/errors.ts';
import { BudgetExceeded } from '../../limits/budgets.ts';
import { callerOf, type HttpContext, pathParameter, releaseAtEnd } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { OPTIONS, RenderManifest, StoredRequest } from './conversion-documents.api.ts';
import { ownConversion, refuseUnlessCompleted } from './conversions.ts';
import { assertInRetention } from './file-retention.ts';

type StoredPart = 'request' | 'picture' | 'manifest' | 'PDF';

/** Says why a part of a conversion cannot be had any more. */
export const goneText = (what: StoredPart, row?: Pick<ConversionRow, 'failureCode'>): string =>
  row?.failureCode === 'cancelled'
    ? `The ${what} was deleted when the conversion was cancelled.`
    : `The ${what} is not stored any more: it was deleted, or its retention has ended.`;

const gone = (what: StoredPart) => ({
  when: 'It was deleted: as the account asked, when it was cancelled, or when its retention ended.',
  message: goneText(what),
});

const RETRY_SECONDS = 2;

/** @throws {ServiceError} `gone` with the message where retention was quicker than this, or a restored copy lacks it */
export async function orGone<T>(read: Promise<T>, message: string): Promise<T> {
  try {
    return await read;
  } catch (cause) {
    throw cause instanceof BlobNotFound ? new ServiceError('gone', message, { cause }) : cause;
  }
}

/**
 * Counts a document among the bodies that are handled, until its answer is taken: it is whole in memory.
 * @throws {BudgetExceeded}
 */
export function countBytes(
  ctx: HttpContext,
  { budgets }: RouteDependencies,
  accountId: string,
  bytes: number,
): void {
  const ofAccount = budgets.get('maxAccountBodiesBytes').take(bytes, accountId);
  if (ofAccount === undefined) {
    const message = 'Too many documents are being sent to this account. Wait for some of them.';
    throw new BudgetExceeded('client', message, RETRY_SECONDS);
  }
  const ofAll = budgets.get('maxBodiesBytes').take(bytes, accountId);
  if (ofAll === undefined) {
    ofAccount();
    throw new BudgetExceeded('service', 'Too many documents are being sent.', RETRY_SECONDS);
  }
  releaseAtEnd(ctx, () => {
    ofAccount();
    ofAll();
  });
}

export const getConversionRequest: Endpoint = {
  doc: {
    id: 'getConversionRequest',
    tag: 'Conversions',
    summary: 'Retrieve the request of a conversion',
    description:
      'What the client asked for, while it is stored. html or url together with all fields of options is a request that makes the same conversion again. An API key does not get headers, cookies, passwords and what encrypts: they may be credentials of other sites, or open documents.',
    answers: {
      200: {
        description: 'The request.',
        schema: StoredRequest,
        examples: {
          html: {
            source: 'html',
            html: '<h1>Invoice 4711</h1>',
            options: OPTIONS,
          },
          url: { source: 'url', url: 'https://example.com/', options: OPTIONS },
          document: {
            source: 'document',
            document: { sources: [{ file: 'JVBERi0xLjcK' }], steps: [{ type: 'merge' }] },
            options: OPTIONS,
          },
        },
      },
    },
    errors: { gone: gone('request') },
  },
  handler: (deps) => async (ctx) => {
    const row = await ownConversion(ctx, deps, pathParameter(ctx, 'id'), ctx.state.asOf);
    const message = goneText('request', row);
    await assertInRetention(deps, row, message);
    const request = await findRequest(deps, row, ctx.state.asOf);
    countBytes(ctx, deps, row.accountId, request.requested.request.bytes);
    const opened = await orGone(request.open(), message);
    ctx.body = callerOf(ctx).actor.kind === 'key' ? withoutSecrets(opened) : opened;
  },
};

const NO_PICTURE = 'There is no picture of this conversion.';

/** To look at it is not a download: it is not what was asked for. */
export const getConversionPicture: Endpoint = {
  doc: {
    id: 'getConversionPicture',
    tag: 'Conversions',
    summary: 'Retrieve the picture of a failure',
    description:
      'What the page looked like when its conversion failed, while that is stored: the upper part, 800 by 600 pixels. There is none if no page was shown, if the browser or its tab had ended, or if a script kept the page from being drawn.',
    answers: {
      200: {
        description: 'The picture.',
        media: 'image/jpeg',
      },
    },
    errors: { not_found: NO_PICTURE, gone: gone('picture') },
  },
  handler: (deps) => async (ctx) => {
    const row = await ownConversion(ctx, deps, pathParameter(ctx, 'id'), ctx.state.asOf);
    const { picture } = row;
    if (picture === undefined) throw new ServiceError('not_found', NO_PICTURE);
    const message = goneText('picture', row);
    await assertInRetention(deps, row, message);
    countBytes(ctx, deps, row.accountId, picture.bytes);
    const contentKey = await deps.vault.contentKey(row.accountId, row.id);
    const content = await orGone(readContent(deps.blobs, contentKey, picture), message);
    ctx.type = 'image/jpeg';
    ctx.body = content;
  },
};

const NO_THUMBNAIL =
  'There is no picture of the first page: the file is not a PDF, needs a password, is damaged, or takes too much memory to be drawn.';
/** A longer PDF takes too much memory to be drawn. */
const MOST_DRAWN_BYTES = 64 * 1024 * 1024;

/** To look at it is not a download: it shows what there is to download. */
export const getConversionThumbnail: Endpoint = {
  doc: {
    id: 'getConversionThumbnail',
    tag: 'Conversions',
    summary: 'Retrieve a picture of the first page',
    description:
      'The first page of the PDF, 480 pixels wide, and of a longer page its upper part. If it takes too long now, the answer is 503. It is drawn when it is asked for, while the PDF is stored, and is not stored itself. Looking at it does not count as a download. There is none of a PDF that needs a password, and of a picture.',
    answers: { 200: { description: 'The picture.', media: 'image/png' } },
    errors: {
      not_found: NO_THUMBNAIL,
      not_ready: 'The conversion has not ended yet.',
      conversion_failed: {
        when: 'The conversion has failed: the message says why.',
        message: 'The page answered with status 404.',
      },
      gone: gone('PDF'),
    },
  },
  handler: (deps) => async (ctx) => {
    const row = await ownConversion(ctx, deps, pathParameter(ctx, 'id'), ctx.state.asOf);
    await refuseUnlessCompleted(deps, row);
    const message = goneText('PDF', row);
    await assertInRetention(deps, row, message);
    const { document, format } = row;
    if (document === undefined || format !== undefined || document.bytes > MOST_DRAWN_BYTES) {
      throw new ServiceError('not_found', NO_THUMBNAIL);
    }
    countBytes(ctx, deps, row.accountId, document.bytes);
    const contentKey = await deps.vault.contentKey(row.accountId, row.id);
    const pdf = await orGone(readContent(deps.blobs, contentKey, document), message);
    const drawn = await deps.thumbnails.firstPage(row.accountId, pdf);
    if (drawn === undefined) throw new ServiceError('not_found', NO_THUMBNAIL);
    ctx.type = 'image/png';
    ctx.body = drawn;
  },
};

export const getConversionManifest: Endpoint = {
  doc: {
    id: 'getConversionManifest',
    tag: 'Conversions',
    summary: 'Retrieve the manifest of a conversion',
    description:
      'The record of how the PDF was made, while it is stored: the renderer and its Chrome, fonts, resources with their hashes, errors of the page, and times.',
    answers: { 200: { description: 'The manifest, as it was recorded.', schema: RenderManifest } },
    errors: {
      not_ready: 'The conversion has not ended yet.',
      conversion_failed: {
        when: 'The conversion has failed: the message says why.',
        message: 'The page answered with status 404.',
      },
      gone: gone('manifest'),
    },
  },
  handler: (deps) => async (ctx) => {
    const row = await ownConversion(ctx, deps, pathParameter(ctx, 'id'), ctx.state.asOf);
    await refuseUnlessCompleted(deps, row);
    const message = goneText('manifest', row);
    await assertInRetention(deps, row, message);
    const read = readRenderManifest({ ...deps, store: deps.streams }, row.id);
    const manifest: Static<typeof RenderManifest> = await orGone(read, message);
    ctx.body = manifest;
  },
};
