/** GET /files/{id}.pdf: the PDF, for whoever holds a link to it. */
import type { Readable } from 'node:stream';
import { conversionQueries } from '../../../projections/conversions.ts';
import { openContent } from '../../blob-store/decryption.ts';
import { BlobNotFound, type BlobRange } from '../../blob-store/port.ts';
import { BudgetExceeded } from '../../budgets.ts';
import type { BlobRef, PdfDigest } from '../../domain/events.ts';
import { ServiceError } from '../../errors.ts';
import { contentKeyUnlessErased } from '../../keyring/vault.ts';
import { consistentQuery } from '../../use-cases/consistent-query.ts';
import { addressKey } from '../../use-cases/rate-limits.ts';
import { hasCopy, type HttpContext, type HttpMiddleware, pathParameter } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { countLinkRequest, countRequest, setRateLimitHeaders } from '../middleware/rate-limit.ts';

const RETRY_SECONDS = 2;
const ERASED = 'The file can no longer be read: its account was erased.';
const FILE_HEADERS = ['ETag', 'Accept-Ranges', 'Content-Disposition', 'Content-Range'] as const;

/** A PDF that may be downloaded. */
interface Download {
  readonly document: BlobRef;
  readonly pdf: PdfDigest;
  readonly contentKey: Buffer;
}

async function downloadOf(deps: RouteDependencies, id: string): Promise<Download> {
  const row = (await consistentQuery(deps, conversionQueries)).byId(id);
  const { document, pdf } = row ?? {};
  if (row?.completedAt === undefined || document === undefined || pdf === undefined) {
    throw new ServiceError('not_found', 'There is no such file.');
  }
  // The deletion itself may still be under way.
  const keptUntil = row.completedAt + deps.config.retentionSeconds * 1000;
  if (row.expired || deps.clock.now() >= keptUntil) throw new ServiceError('gone');
  const contentKey = await contentKeyUnlessErased(deps.vault, row.accountId, id);
  if (contentKey === undefined) throw new ServiceError('gone', ERASED);
  return { document, pdf, contentKey };
}

/** An answer that is no file does not look like one. */
function removeFileHeaders(ctx: HttpContext): void {
  for (const name of FILE_HEADERS) ctx.remove(name);
}

/** A file that is recorded and not there. */
function lost(ctx: HttpContext, cause?: BlobNotFound): ServiceError {
  ctx.state.log.warn({ err: cause }, 'A file that should be there is not.');
  removeFileHeaders(ctx);
  const message = 'The file is no longer kept. Convert again for a new one.';
  return new ServiceError('gone', message, { cause });
}

/**
 * Counts the answer until its connection has taken all of it, or is closed.
 * @throws {BudgetExceeded}
 */
function countDownload(ctx: HttpContext, { budgets }: RouteDependencies): void {
  const ofAddress = budgets.get('maxAddressDownloads').take(1, addressKey(ctx.state.clientAddress));
  if (ofAddress === undefined) {
    const message = 'Too many files are being sent to this address. Wait until some have arrived.';
    throw new BudgetExceeded('client', message, RETRY_SECONDS);
  }
  const ofAll = budgets.get('maxDownloads').take();
  if (ofAll === undefined) {
    ofAddress();
    throw new BudgetExceeded('service', 'Too many files are being sent.', RETRY_SECONDS);
  }
  const release = (): void => {
    ofAddress();
    ofAll();
  };
  if (ctx.res.destroyed) release();
  else ctx.res.once('close', release);
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
    if (cause instanceof BlobNotFound) throw lost(ctx, cause);
    removeFileHeaders(ctx);
    throw cause;
  }
}

async function send(
  ctx: HttpContext,
  deps: RouteDependencies,
  download: Download,
  etag: string,
): Promise<void> {
  const { document, pdf } = download;
  const condition = ctx.get('If-Range');
  const wanted = condition === '' || condition === etag ? ctx.get('Range') : '';
  const range = ctx.method === 'GET' ? byteRange(wanted, pdf.bytes) : undefined;
  if (range === 'unsatisfiable') {
    ctx.set('Content-Range', `bytes */${pdf.bytes}`);
    throw new ServiceError('range_not_satisfiable');
  }
  if (range === undefined) {
    ctx.status = 200;
    ctx.length = pdf.bytes;
    if (ctx.method === 'GET') ctx.body = await openFile(ctx, deps, download);
    else if (!(await deps.blobs.exists(document))) throw lost(ctx);
  } else {
    ctx.status = 206;
    ctx.set('Content-Range', `bytes ${range.start}-${range.end}/${pdf.bytes}`);
    ctx.body = await openFile(ctx, deps, download, range);
    ctx.length = range.end - range.start + 1;
  }
}

export function getFile(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const id = pathParameter(ctx, 'id');
    const { token } = ctx.query;
    await setRateLimitHeaders(deps, ctx);
    await countLinkRequest(deps, ctx);
    if (typeof token !== 'string' || !(await deps.fileTokens.verify(token, id))) {
      await countRequest(deps, ctx);
      throw new ServiceError('forbidden');
    }
    countDownload(ctx, deps);
    const download = await downloadOf(deps, id);
    const etag = `"${download.pdf.sha256}"`;
    ctx.set('ETag', etag);
    ctx.set('Accept-Ranges', 'bytes');
    ctx.set('Cache-Control', 'private, no-cache');
    ctx.set('Content-Disposition', `attachment; filename="${id}.pdf"`);
    ctx.type = 'application/pdf';
    if (hasCopy(ctx, etag)) {
      ctx.status = 304;
    } else await send(ctx, deps, download, etag);
  };
}

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
