/** Sends the PDF of a conversion: to its account, and to anybody with a link to it. */
import { createHmac } from 'node:crypto';
import type { Readable } from 'node:stream';
import { type ConversionRow, conversionQueries } from '../../../projections/conversions.ts';
import { shareLinkQueries } from '../../../projections/share-links.ts';
import { addressKey } from '../../accounts/rate-limits.ts';
import { warningsOf } from '../../accounts/records.ts';
import { orThrow } from '../../actors/command-context.ts';
import { openContent } from '../../documents/decryption.ts';
import { NOT_OPENED, unlessErased } from '../../documents/keys/vault.ts';
import { BlobNotFound, type BlobRange } from '../../documents/port.ts';
import { conversionAggregate } from '../../domain/conversion.ts';
import type { BlobRef, PdfDigest } from '../../domain/event-fields.ts';
import { fieldError, ServiceError } from '../../errors/errors.ts';
import { BudgetExceeded } from '../../limits/budgets.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { tokenHashOf } from '../../time/ids.ts';
import {
  type HttpContext,
  hasCopy,
  isByOperatorSocket,
  pathParameter,
  releaseAtEnd,
} from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { countLinkRequest, countRequest, setRateLimitHeaders } from '../middleware/rate-limit.ts';
import { SECURITY_HEADERS } from '../middleware/request.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { assertInRetention, deleteOnceSent, downloadContext, ERASED } from './file-retention.ts';
import { getFileDoc, getSharedFileDoc, WRONG_LINK, WRONG_SHARE_LINK } from './files.api.ts';

const RETRY_SECONDS = 2;
/**
 * Browsers show no PDF in a sandbox (https://crbug.com/41131921), and Chrome's viewer needs a style of its own
 * (https://crbug.com/343754409). Nothing else may run or load; the type cannot be taken for another.
 */
const VIEWER_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
const FILE_HEADERS = [
  'ETag',
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Range',
  'X-Conversion-Warnings',
] as const;

/** A PDF that may be downloaded. */
interface Download {
  readonly accountId: string;
  readonly conversionId: string;
  readonly document: BlobRef;
  readonly pdf: PdfDigest;
  readonly contentKey: Buffer;
  readonly name: string;
  /** The number of the conversion's warnings. */
  readonly warnings: number;
}

async function downloadOf(
  deps: RouteDependencies,
  row: ConversionRow | undefined,
): Promise<Download> {
  const { document, pdf } = row ?? {};
  if (row?.completedAt === undefined || document === undefined || pdf === undefined) {
    throw new ServiceError('not_found', 'There is no such file.');
  }
  await assertInRetention(deps, row);
  const contentKey = await unlessErased(deps.vault.contentKey(row.accountId, row.id));
  if (contentKey === undefined) throw new ServiceError('gone', ERASED);
  const { accountId, filename } = row;
  const given = filename && (await deps.vault.unseal(accountId, filename));
  const name =
    given === undefined || given === NOT_OPENED ? `${row.id}.${row.format ?? 'pdf'}` : given;
  const { length: warnings } = (await warningsOf(deps.vault, row)) ?? [];
  return { accountId, conversionId: row.id, document, pdf, contentKey, name, warnings };
}

/** An answer without a file must not look like one. */
function removeFileHeaders(ctx: HttpContext): void {
  for (const name of FILE_HEADERS) ctx.remove(name);
  ctx.set(SECURITY_HEADERS);
}

type Disposition = 'attachment' | 'inline';

/** @throws {ServiceError} `validation_error` */
export function dispositionOf(ctx: HttpContext): Disposition {
  const { disposition = 'attachment' } = ctx.query;
  if (disposition === 'attachment' || disposition === 'inline') return disposition;
  throw fieldError('disposition', 'Must be attachment or inline.');
}

/** A file that is recorded and not there. */
function lost(ctx: HttpContext, cause?: BlobNotFound): ServiceError {
  ctx.state.log.warn({ err: cause }, 'A file that should be there is not.');
  const message = 'The file is no longer kept. Convert again for a new one.';
  return new ServiceError('gone', message, { cause });
}

/**
 * Counts the answer until its connection has taken all of it, or is closed.
 * @param accountId whose file it is: readers of one account's files leave room for those of others
 * @throws {BudgetExceeded}
 */
export function countDownload(
  ctx: HttpContext,
  { budgets }: RouteDependencies,
  accountId: string | undefined,
): void {
  const ofAddress = budgets.get('maxAddressDownloads').take(1, addressKey(ctx.state.clientAddress));
  if (ofAddress === undefined) {
    const message = 'Too many files are being sent to this address. Wait until some have arrived.';
    throw new BudgetExceeded('client', message, RETRY_SECONDS);
  }
  const ofAll = budgets.get('maxDownloads').take(1, accountId);
  if (ofAll === undefined) {
    ofAddress();
    throw new BudgetExceeded('service', 'Too many files are being sent.', RETRY_SECONDS);
  }
  releaseAtEnd(ctx, () => {
    ofAddress();
    ofAll();
  });
}

/** @throws {ServiceError} `gone` where retention was quicker than this, or a restored copy lacks it */
async function openFile(
  ctx: HttpContext,
  { blobs }: RouteDependencies,
  { document, contentKey }: Download,
  range?: BlobRange,
): Promise<Readable> {
  try {
    return await openContent(blobs, contentKey, document, range);
  } catch (cause) {
    throw cause instanceof BlobNotFound ? lost(ctx, cause) : cause;
  }
}

/**
 * Records that the file is sent, before the first byte of it is.
 * @param secret the token of the link, where one was used
 * @throws {ServiceError} `service_unavailable` where it cannot be recorded: then nothing is sent
 */
export async function recordDownload(
  ctx: HttpContext,
  deps: RouteDependencies,
  { accountId, conversionId }: Pick<Download, 'accountId' | 'conversionId'>,
  secret?: string,
): Promise<void> {
  // That an operator looked at the account is recorded already.
  if (isByOperatorSocket(ctx)) return;
  const { clientAddress } = ctx.state;
  const network = createHmac('sha256', deps.addressKey)
    .update(`download\0${conversionId}\0${addressKey(clientAddress)}`)
    .digest('hex');
  const context = await downloadContext(ctx, deps, accountId);
  const command = {
    type: 'RecordDownload',
    accountId,
    conversionId,
    ...(secret !== undefined && { link: tokenHashOf(secret) }),
    network,
    at: context.metadata.time,
  } as const;
  const metadata = { ...context.metadata, correlationId: conversionId };
  orThrow(
    await deps.actors.send(conversionAggregate, conversionId, command, { ...context, metadata }),
  );
}

/**
 * Says whether the client has the whole PDF once it has this range: it is all of it, or the rest to the end, which is how
 * a download is resumed. Viewers, which jump to the end, ask for the last bytes by their number or by both ends.
 */
const isRest = (range: BlobRange | undefined, header: string, size: number): boolean =>
  range === undefined || (range.end === size - 1 && (range.start === 0 || header.endsWith('-')));

/** The range that the request asks for, where it asks for one of this version. */
function wantedRange(ctx: HttpContext, { pdf }: Download, etag: string) {
  const condition = ctx.get('If-Range');
  const wanted = condition === '' || condition === etag ? ctx.get('Range') : '';
  return ctx.method === 'GET' ? byteRange(wanted, pdf.bytes) : undefined;
}

async function send(
  ctx: HttpContext,
  deps: RouteDependencies,
  download: Download,
  range: BlobRange | undefined,
): Promise<void> {
  const { document, pdf } = download;
  if (range === undefined) {
    ctx.status = 200;
    ctx.length = pdf.bytes;
    if (ctx.method !== 'HEAD') ctx.body = await openFile(ctx, deps, download);
    else if (!(await deps.blobs.exists(document))) throw lost(ctx);
  } else {
    ctx.status = 206;
    ctx.set('Content-Range', `bytes ${range.start}-${range.end}/${pdf.bytes}`);
    ctx.body = await openFile(ctx, deps, download, range);
    ctx.length = range.end - range.start + 1;
  }
}

interface HowSent {
  readonly disposition?: Disposition;
  /** The token of the link that was used. */
  readonly secret?: string;
}

/**
 * Answers with the PDF, or the part of it that the request asks for.
 * @throws {ServiceError} `not_found`, `gone` or `range_not_satisfiable`
 * @throws {BudgetExceeded}
 */
export async function sendPdf(
  ctx: HttpContext,
  deps: RouteDependencies,
  row: ConversionRow | undefined,
  { disposition = 'attachment', secret }: HowSent = {},
): Promise<void> {
  countDownload(ctx, deps, row?.accountId);
  const download = await downloadOf(deps, row);
  const etag = `"${download.pdf.sha256}"`;
  ctx.set('ETag', etag);
  ctx.set('Accept-Ranges', 'bytes');
  ctx.set('Cache-Control', 'private, no-cache');
  // Links are passed on, and some end up on public pages.
  ctx.set('X-Robots-Tag', 'noindex');
  ctx.type = row?.format === undefined ? 'application/pdf' : `image/${row.format}`;
  const fallback = download.name.replaceAll(/[^\x20-\x7e]/gu, '_');
  ctx.attachment(download.name, { type: disposition, fallback });
  if (disposition === 'inline') ctx.set('Content-Security-Policy', VIEWER_POLICY);
  // A client that asks for the PDF alone does not read the record.
  if (download.warnings > 0) ctx.set('X-Conversion-Warnings', String(download.warnings));
  if (ctx.method !== 'POST' && hasCopy(ctx, etag)) {
    ctx.status = 304;
    return;
  }
  const range = wantedRange(ctx, download, etag);
  if (range === 'unsatisfiable') {
    removeFileHeaders(ctx);
    ctx.set('Content-Range', `bytes */${download.pdf.bytes}`);
    throw new ServiceError('range_not_satisfiable');
  }
  try {
    if (ctx.method !== 'HEAD') await recordDownload(ctx, deps, download, secret);
    await send(ctx, deps, download, range);
    const isWhole = isRest(range, ctx.get('Range').trim(), download.pdf.bytes);
    if (row !== undefined && ctx.method !== 'HEAD' && isWhole) deleteOnceSent(ctx, deps, [row]);
  } catch (error) {
    removeFileHeaders(ctx);
    throw error;
  }
}

/**
 * Counts a request by a link. A wrong one counts towards the rate limit of the client's address, too.
 * @returns what the link was found to be
 * @throws {ServiceError} `forbidden` where it is nothing
 */
async function byLink<Found>(
  ctx: HttpContext,
  deps: RouteDependencies,
  find: () => Promise<Found | undefined>,
  refusal: string,
): Promise<Found> {
  await setRateLimitHeaders(deps, ctx);
  await countLinkRequest(deps, ctx);
  const found = await find();
  if (found !== undefined) return found;
  await countRequest(deps, ctx);
  throw new ServiceError('forbidden', refusal);
}

export const getFile: Endpoint = {
  doc: getFileDoc,
  handler: (deps) => async (ctx) => {
    const id = pathParameter(ctx, 'id');
    const verified = async () => {
      const { token } = ctx.query;
      const isGood = typeof token === 'string' && (await deps.fileTokens.verify(token, id));
      return isGood ? token : undefined;
    };
    const secret = await byLink(ctx, deps, verified, WRONG_LINK);
    const disposition = dispositionOf(ctx);
    const row = (await consistentQuery(deps, conversionQueries)).byId(id);
    if (row !== undefined && pathParameter(ctx, 'format') !== (row.format ?? 'pdf')) {
      throw new ServiceError('not_found', 'There is no such file.');
    }
    await sendPdf(ctx, deps, row, { disposition, secret });
  },
};

export const getSharedFile: Endpoint = {
  doc: getSharedFileDoc,
  handler: (deps) => async (ctx) => {
    const secret = pathParameter(ctx, 'token');
    const find = async () => {
      const links = await consistentQuery(deps, shareLinkQueries);
      return links.byHash(tokenHashOf(secret), deps.clock.now());
    };
    const { conversionId } = await byLink(ctx, deps, find, WRONG_SHARE_LINK);
    const disposition = dispositionOf(ctx);
    const row = (await consistentQuery(deps, conversionQueries)).byId(conversionId);
    await sendPdf(ctx, deps, row, { disposition, secret });
  },
};

/**
 * The one byte range that a `Range` header asks for (RFC 9110, section 14).
 * `undefined`: send the whole, which is right for anything but a single range of bytes.
 */
function byteRange(header: string, size: number): BlobRange | 'unsatisfiable' | undefined {
  const match = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(header);
  const [, from = '', to = ''] = match ?? [];
  if (match === null || (from === '' && to === '')) return undefined;
  if (from === '') {
    const length = Number(to);
    if (length === 0 || size === 0) return 'unsatisfiable';
    return { start: Math.max(0, size - length), end: size - 1 };
  }
  const start = Number(from);
  if (to !== '' && Number(to) < start) return undefined;
  if (start >= size) return 'unsatisfiable';
  return { start, end: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}
