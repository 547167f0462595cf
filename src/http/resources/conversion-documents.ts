/** The request of a conversion, the manifest of its rendering, and the pictures of its failure and of its first page, while they are stored. */
import Type, { type Static, type TSchema } from 'typebox';
import type { ConversionRow } from '../../../projections/conversions.ts';
import { readRenderManifest } from '../../conversions/render-manifest.ts';
import { findRequest, withoutSecrets } from '../../conversions/stored-request.ts';
import { readContent } from '../../documents/decryption.ts';
import { BlobNotFound } from '../../documents/port.ts';
import { ServiceError } from '../../errors/errors.ts';
import { BudgetExceeded } from '../../limits/budgets.ts';
import { StoredWork } from '../../requests/documents-schema.ts';
import { ConversionRequest } from '../../requests/schema.ts';
import { callerOf, type HttpContext, pathParameter, releaseAtEnd } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { Closed, Count, Text } from '../openapi/fields.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { ownConversion, refuseUnlessCompleted } from './conversions.ts';
import { assertInRetention } from './file-retention.ts';

const ID = 'conv_06f3k8r1v2w9x4y5z6a7b8c9d0';
const SHA256 = 'a2a90d44cebfe23183b58f43f6207c819b70e0cb6d3304d93104d9173d7a7978';
const URL = 'https://example.com/logo.png';

const { html, url, template: _template, data: _data, ...fields } = ConversionRequest.properties;
const OPTIONS = Object.fromEntries(
  Object.entries<TSchema>(fields).flatMap(([name, schema]) =>
    'default' in schema ? [[name, schema.default]] : [],
  ),
);

/** The answer of `GET /conversions/{id}/request/`. */
export const StoredRequest = Closed({
  source: Type.Enum(['html', 'url', 'document'], {
    description: 'The field that has the document.',
    examples: ['html'],
  }),
  html,
  url,
  document: StoredWork,
  options: Closed(fields, {
    description:
      'The other fields of the request, with the defaults filled in of those that go with it.',
  }),
});

const list = <T extends TSchema>(item: T, description: string) =>
  Type.ReadonlyObject(Type.Array(item), { description });
const milliseconds = Type.Number({ minimum: 0, examples: [12.5] });

const Resource = Type.Object({
  url: Text(URL),
  redirects: Type.Optional(
    list(
      Type.Object({
        url: Text(URL),
        status: Type.Integer({ examples: [301] }),
      }),
      'The addresses that led there.',
    ),
  ),
  kind: Type.Optional(Text('Image')),
  status: Type.Optional(
    Type.Integer({ description: 'Absent if there was no answer.', examples: [200] }),
  ),
  type: Type.Optional(Text('image/png', 'The media type.')),
  bytes: Count('The length of the content in the form that was hashed.', 1024),
  sha256: Type.Optional(Text(SHA256)),
  hashed: Type.Optional(
    Type.Enum(['received', 'decoded', 'text'], {
      description:
        'The form that was hashed: as it came, without its content coding, or decoded and in UTF-8.',
      examples: ['decoded'],
    }),
  ),
  encoding: Type.Optional(Type.String({ description: 'The content coding, such as br.' })),
  error: Type.Optional(
    Type.String({
      description: 'Why there is no answer, or not all of it, such as net::ERR_CONNECTION_RESET.',
    }),
  ),
});

/** The answer of `GET /conversions/{id}/manifest/`, as `domain/render-manifest.ts` has it. */
export const RenderManifest = Type.Object({
  version: Type.Integer({ minimum: 1, examples: [1] }),
  conversion_id: Text(ID),
  renderer: Text('node-1'),
  attempt: Type.Integer({ minimum: 1, examples: [1] }),
  request: Type.Object({
    sha256: Text(SHA256),
    bytes: Count('The size of the encrypted request.', 1024),
  }),
  options: Type.Record(Type.String(), Type.Unknown(), {
    description: 'The options of the page, with the defaults filled in, and wait_for.',
    examples: [OPTIONS],
  }),
  document: Type.Object({
    sha256: Text(SHA256),
    bytes: Count('The size of the PDF.', 1024),
    pages: Count('The pages of the PDF.', 1024),
  }),
  timings: Type.Object(
    {
      queue: milliseconds,
      start: milliseconds,
      load: milliseconds,
      ready: milliseconds,
      print: milliseconds,
      store: milliseconds,
    },
    { description: 'Milliseconds of each phase.' },
  ),
  chrome: Type.Object({
    product: Text('Chrome/146.0.7630.0'),
    revision: Text('@a1b2c3'),
    sandboxed: Type.Boolean({ examples: [true] }),
    flags: list(Text('--headless'), 'The command line.'),
  }),
  fonts: list(Text('DejaVuSans'), 'The fonts that the PDF has glyphs of.'),
  font_files: Type.Optional(
    list(
      Type.Object({
        name: Text('DejaVuSans'),
        file: Text('DejaVuSans.ttf'),
        sha256: Text(SHA256),
      }),
      'Of a deterministic document: the files of those fonts that are installed with the service.',
    ),
  ),
  resources: list(Resource, 'What was fetched or asked for, in order.'),
  resources_left_out: Count('Resources beyond the list.', 1024),
  tunnels: list(
    Type.Object({
      host: Text('example.com'),
      bytes: Count('All bytes both ways.', 1024),
    }),
    'Encrypted connections by host.',
  ),
  console_errors: list(
    Type.Object({
      text: Text('Uncaught Error'),
      at: Type.Optional(Text(`${URL}:1`, 'Address and line.')),
    }),
    'Errors of the page.',
  ),
  console_errors_left_out: Count('Errors beyond the list.', 1024),
  waits: list(
    Type.Object({
      for: Text('images'),
      ms: milliseconds,
      capped: Type.Optional(
        Type.Literal(true, { description: 'The wait was given up at its limit.' }),
      ),
    }),
    'The waits for the document, in order.',
  ),
});

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
  'There is no picture of the first page: the file is not a PDF, needs a password, or takes too much to be drawn.';
/** A longer PDF takes too much memory to be drawn. */
const MOST_DRAWN_BYTES = 64 * 1024 * 1024;

/** To look at it is not a download: it shows what there is to download. */
export const getConversionThumbnail: Endpoint = {
  doc: {
    id: 'getConversionThumbnail',
    tag: 'Conversions',
    summary: 'Retrieve a picture of the first page',
    description:
      'The first page of the PDF, 480 pixels wide, and of a longer page its upper part. It is drawn when it is asked for, while the PDF is stored, and is not stored itself. To look is not a download. There is none of a PDF that needs a password, and of a picture.',
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
