/** Sends the PDFs of a batch, or of chosen conversions, as one ZIP file, one after the other. */
import { Readable } from 'node:stream';
import { Zip, ZipPassThrough } from 'fflate';
import { batchQueries } from '../../../projections/batches.ts';
import { type ConversionRow, conversionQueries } from '../../../projections/conversions.ts';
import { openContent } from '../../documents/decryption.ts';
import { NOT_OPENED } from '../../documents/keys/vault.ts';
import { BlobNotFound } from '../../documents/port.ts';
import { MAX_BATCH } from '../../domain/acceptance.ts';
import type { BlobRef } from '../../domain/event-fields.ts';
import { fieldError, ServiceError } from '../../errors/errors.ts';
import { ValidationIssues } from '../../requests/validation.ts';
import { callerOf, type HttpContext, pathParameter } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { checkQuery } from '../pagination.ts';
import { getBatchZipDoc, NOT_READY } from './batches.api.ts';
import { ownBatch } from './batches.ts';
import { ownConversion, POLL_SECONDS } from './conversions.ts';
import {
  DELETED,
  getConversionsZipDoc,
  MAX_ZIPPED,
  NO_PDF,
  NONE_READY,
  TOO_LARGE,
  WRONG_ZIPPED,
} from './zip.api.ts';
import { deleteOnceSent } from './file-retention.ts';
import { countDownload, recordDownload } from './files.ts';

/** What a ZIP file without 64-bit sizes holds, less the room for its names. */
const MAX_BYTES = 2 ** 32 - 2 ** 20;

/** What file systems take: bytes in UTF-8. */
const MAX_NAME_BYTES = 255;
/** For the number of a name that others have, too. */
const NUMBER_BYTES = Buffer.byteLength(` (${MAX_BATCH})`);

/** "Made by" Unix: `unzip` takes names of other systems for ones of DOS, whatever their mark for UTF-8 says. */
const UNIX = 3;
/** A file that its owner may write and all may read, where ZIP has the modes of Unix. */
const READABLE = 0o100_644 * 2 ** 16;

const CHARACTERS = new Intl.Segmenter();

interface ZippedPdf {
  readonly row: ConversionRow;
  readonly name: string;
  readonly document: BlobRef;
}

/** @throws {ServiceError} `validation_error` */
function isPartial({ query: { partial = 'false' } }: HttpContext): boolean {
  if (partial === 'true' || partial === 'false') return partial === 'true';
  throw fieldError('partial', 'Must be true or false.');
}

/** Makes the names of files differ, also where case does not count. */
class Names {
  /** The next number to try for each name, folded. */
  readonly #next = new Map<string, number>();

  /** @param name with an extension; one that is too long for a file is cut before it */
  take(name: string): string {
    const dot = name.lastIndexOf('.');
    const extension = name.slice(dot);
    const room = MAX_NAME_BYTES - NUMBER_BYTES - Buffer.byteLength(extension);
    const stem = withinBytes(name.slice(0, dot), room);
    const [foldedStem, foldedExtension] = [folded(stem), folded(extension)];
    const whole = foldedStem + foldedExtension;
    for (let n = this.#next.get(whole) ?? 1; ; n += 1) {
      const number = n === 1 ? '' : ` (${n})`;
      const own = `${foldedStem}${number}${foldedExtension}`;
      if (n > 1 && this.#next.has(own)) continue;
      this.#next.set(whole, n + 1);
      if (n > 1) this.#next.set(own, 2);
      return `${stem}${number}${extension}`;
    }
  }
}

/** As many whole characters, with the marks that belong to them, as so many bytes in UTF-8 hold. */
function withinBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  let kept = '';
  let left = most;
  for (const { segment } of CHARACTERS.segment(text)) {
    left -= Buffer.byteLength(segment);
    if (left < 0) break;
    kept += segment;
  }
  return kept.trimEnd();
}

const folded = (text: string): string => text.normalize('NFC').toLowerCase();

/** @throws {ServiceError} there is none to send, or they are too large together */
async function pdfsOf(
  { vault }: RouteDependencies,
  rows: readonly ConversionRow[],
): Promise<readonly ZippedPdf[]> {
  const completed = rows.filter(({ status }) => status === 'completed');
  if (completed.length === 0) {
    if (rows.some(({ status }) => status !== 'failed')) throw notReady(NONE_READY);
    throw new ServiceError('conversion_failed', NO_PDF);
  }
  const names = new Names();
  const pdfs: ZippedPdf[] = [];
  let bytes = 0;
  for (const row of completed) {
    const { id, accountId, filename, document, pdf, format = 'pdf', expired } = row;
    if (expired || document === undefined) continue;
    const given = filename && (await vault.unseal(accountId, filename));
    const own = given === undefined || given === NOT_OPENED ? `${id}.${format}` : given;
    pdfs.push({ row, name: names.take(own), document });
    bytes += pdf?.bytes ?? 0;
  }
  if (pdfs.length === 0) throw new ServiceError('gone', DELETED);
  if (bytes > MAX_BYTES) throw new ServiceError('payload_too_large', TOO_LARGE);
  return pdfs;
}

const notReady = (message: string) =>
  new ServiceError('not_ready', message, { retryAfter: POLL_SECONDS });

/** Reads each PDF when its turn has come: none is held as a whole, whatever the pace of the client. */
async function* zipOf(
  ctx: HttpContext,
  deps: RouteDependencies,
  accountId: string,
  pdfs: readonly ZippedPdf[],
): AsyncGenerator<Uint8Array> {
  let chunks: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    chunks.push(chunk);
  });
  function* written(): Generator<Uint8Array> {
    yield* chunks;
    chunks = [];
  }
  const sent: ConversionRow[] = [];
  for (const { row, name, document } of pdfs) {
    const { id } = row;
    const content = await opened(ctx, deps, accountId, { id, document });
    if (content === undefined) continue;
    await recordDownload(ctx, deps, { accountId, conversionId: id }).catch((error: unknown) => {
      content.destroy();
      throw error;
    });
    const file = new ZipPassThrough(name);
    [file.os, file.attrs] = [UNIX, READABLE];
    zip.add(file);
    for await (const chunk of content as AsyncIterable<Buffer>) {
      file.push(chunk);
      yield* written();
    }
    file.push(new Uint8Array(0), true);
    yield* written();
    sent.push(row);
  }
  deleteOnceSent(ctx, deps, sent);
  zip.end();
  yield* written();
}

/** @returns undefined where it was deleted meanwhile */
async function opened(
  ctx: HttpContext,
  { blobs, vault }: RouteDependencies,
  accountId: string,
  { id, document }: { readonly id: string; readonly document: BlobRef },
): Promise<Readable | undefined> {
  try {
    return await openContent(blobs, await vault.contentKey(accountId, id), document);
  } catch (err) {
    if (!(err instanceof BlobNotFound)) throw err;
    ctx.state.log.warn({ err }, 'A PDF for a ZIP file that should be there is not.');
    return undefined;
  }
}

/** @throws {ServiceError} there is none to send, or they are too large together */
async function sendZip(
  ctx: HttpContext,
  deps: RouteDependencies,
  accountId: string,
  { name, rows }: { readonly name: string; readonly rows: readonly ConversionRow[] },
): Promise<void> {
  const pdfs = await pdfsOf(deps, rows);
  ctx.status = 200;
  ctx.set('Cache-Control', 'private, no-cache');
  ctx.attachment(name);
  if (ctx.method !== 'HEAD') {
    ctx.body = Readable.from(zipOf(ctx, deps, accountId, pdfs), { objectMode: false });
  }
  ctx.type = 'application/zip';
}

export const getBatchZip: Endpoint = {
  doc: getBatchZipDoc,
  handler: (deps) => async (ctx) => {
    const partial = isPartial(ctx);
    const id = pathParameter(ctx, 'id');
    const { accountId, endedAt } = await ownBatch(ctx, deps, id, ctx.state.asOf);
    if (endedAt === undefined && !partial) throw notReady(NOT_READY);
    countDownload(ctx, deps, accountId);
    const conversions = deps.readModel.query(conversionQueries);
    const ids = deps.readModel.query(batchQueries).conversionsOf(id);
    const rows = ids.flatMap((each) => conversions.byId(each) ?? []);
    await sendZip(ctx, deps, accountId, { name: `${id}.zip`, rows });
  },
};

/** @throws {ServiceError} `validation_error` */
function chosenIds(ctx: HttpContext): readonly string[] {
  const issues = new ValidationIssues();
  checkQuery(ctx, issues, ['id']);
  const ids = new Set([ctx.query['id'] ?? []].flat());
  if (ids.size < 1 || ids.size > MAX_ZIPPED) issues.add('id', WRONG_ZIPPED);
  issues.throwIfAny();
  return [...ids];
}

export const getConversionsZip: Endpoint = {
  doc: getConversionsZipDoc,
  handler: (deps) => async (ctx) => {
    const rows: ConversionRow[] = [];
    for (const id of chosenIds(ctx)) rows.push(await ownConversion(ctx, deps, id, ctx.state.asOf));
    const { accountId } = callerOf(ctx);
    countDownload(ctx, deps, accountId);
    await sendZip(ctx, deps, accountId, { name: 'conversions.zip', rows });
  },
};
