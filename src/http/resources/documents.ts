/** Work on finished documents: PDFs that are uploaded, or were made here. */
import { createHash } from 'node:crypto';
import { type ConversionRow, conversionQueries } from '../../../projections/conversions.ts';
import { type RequestedBatch, requestBatch } from '../../conversions/request-batch.ts';
import {
  type AcceptedConversion,
  type ConversionRequest,
  requestConversion,
} from '../../conversions/request-conversion.ts';
import { readContent } from '../../documents/decryption.ts';
import { UnencryptedText } from '../../documents/encryption.ts';
import { DEFAULT_OPTIONS } from '../../domain/event-fields.ts';
import type { DocumentWork } from '../../domain/request-document.ts';
import { fieldError, type ServiceError } from '../../errors/errors.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import {
  type CheckedDocuments,
  type CheckedSource,
  checkDocumentRequest,
} from '../../requests/documents.ts';
import { ValidationIssues } from '../../requests/validation.ts';
import { callerOf, commandContext, type HttpContext, keyTermsOf, mayShow } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { countAgainstPlan } from '../middleware/rate-limit.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { acceptedEarlier, requestKeyOf, requestRules } from '../request-rules.ts';
import { readTestQuery } from '../test-query.ts';
import { createUntilEnded } from '../waiting.ts';
import { answerBatch } from './batches.ts';
import { countBytes, orGone } from './conversion-documents.ts';
import { answerRequested, assertRoom, POLL_SECONDS } from './conversions.ts';
import {
  createDocumentDoc,
  NO_SOURCE,
  SOURCE_FAILED,
  SOURCE_GONE,
  SOURCE_NO_PDF,
  SOURCE_NOT_READY,
} from './documents.api.ts';
import { assertInRetention } from './file-retention.ts';
import { sizeText } from '../../text/size.ts';

/** Each part of a split has a copy of the sources: all copies together are no larger than this many bodies. */
const MOST_COPIES = 4;

/** A source as it is stored, and as the log names it. */
interface ReadSource {
  /** One of the `sources` of a `DocumentWork`, as JSON. */
  readonly json: string;
  readonly named: { readonly sha256: string; readonly bytes: number; readonly conversion?: string };
}

/** @throws {ServiceError} `not_found`, `not_ready`, `conversion_failed`, `validation_error` or `gone`, with the field */
async function ownSource(
  ctx: HttpContext,
  deps: RouteDependencies,
  id: string,
  field: string,
): Promise<ConversionRow & Required<Pick<ConversionRow, 'document' | 'pdf'>>> {
  const { accountId } = callerOf(ctx);
  const row = (await consistentQuery(deps, conversionQueries, ctx.state.asOf)).byId(id);
  if (row?.accountId !== accountId || !mayShow(ctx, row))
    throw fieldError(field, NO_SOURCE, { code: 'not_found' });
  const { status, document, pdf, format = 'pdf' } = row;
  if (status === 'failed') throw fieldError(field, SOURCE_FAILED, { code: 'conversion_failed' });
  if (format !== 'pdf') throw fieldError(field, SOURCE_NO_PDF);
  if (status !== 'completed' || document === undefined || pdf === undefined) {
    throw fieldError(field, SOURCE_NOT_READY, { code: 'not_ready', retryAfter: POLL_SECONDS });
  }
  await assertInRetention(deps, row).catch((cause: unknown) => {
    throw fieldError(field, SOURCE_GONE, { code: 'gone', cause });
  });
  return { ...row, document, pdf };
}

/** Base64 has nothing to escape, and to look for that takes longest of all where the PDFs are large. */
const sourceJson = (file: string, password: string | undefined): string =>
  `{"file":"${file}"${password === undefined ? '' : `,"password":${JSON.stringify(password)}`}}`;

async function readSource(
  ctx: HttpContext,
  deps: RouteDependencies,
  { file, conversion = '', password }: CheckedSource,
  field: string,
): Promise<ReadSource> {
  if (file !== undefined) {
    const content = Buffer.from(file, 'base64');
    const sha256 = createHash('sha256').update(content).digest('hex');
    return { json: sourceJson(file, password), named: { sha256, bytes: content.length } };
  }
  const row = await ownSource(ctx, deps, conversion, field);
  const { accountId, id, document, pdf } = row;
  if (pdf.bytes > deps.config.maxBodyBytes) throw tooLarge(deps);
  countBytes(ctx, deps, accountId, pdf.bytes);
  const contentKey = await deps.vault.contentKey(accountId, id);
  const content = await orGone(
    readContent(deps.blobs, contentKey, document),
    `${field}: ${SOURCE_GONE}`,
  );
  return {
    json: sourceJson(content.toString('base64'), password),
    named: { sha256: pdf.sha256, bytes: pdf.bytes, conversion: id },
  };
}

function tooLarge({ config }: RouteDependencies): ServiceError {
  const message = `All PDFs together must have at most ${sizeText(config.maxBodyBytes)}.`;
  return fieldError('sources', message, { code: 'payload_too_large' });
}

/** Copies the sources into the request: retention may delete them before they are worked on. */
async function readSources(
  ctx: HttpContext,
  deps: RouteDependencies,
  sources: readonly CheckedSource[],
): Promise<readonly ReadSource[]> {
  const read: ReadSource[] = [];
  let bytes = 0;
  for (const [n, source] of sources.entries()) {
    const next = await readSource(ctx, deps, source, `sources.${n}.conversion`);
    bytes += next.named.bytes;
    if (bytes > deps.config.maxBodyBytes) throw tooLarge(deps);
    read.push(next);
  }
  return read;
}

/** @param pages those that are to be kept after all other steps */
function requestOf(
  { steps, pdf, texts, marks }: CheckedDocuments,
  sources: readonly ReadSource[],
  pages?: { readonly pages: string; readonly number: number },
): ConversionRequest {
  const last = steps.findIndex(({ type }) => type === 'encrypt' || type === 'optimize');
  const at = last === -1 ? steps.length : last;
  const chosen = pages === undefined ? [] : [{ type: 'pages', pages: pages.pages } as const];
  const all: DocumentWork['steps'] = [...steps.slice(0, at), ...chosen, ...steps.slice(at)];
  const read = sources.map(({ json }) => json).join();
  const after = pdf === undefined ? '' : `,"pdf":${JSON.stringify(pdf)}`;
  const document = `{"document":{"sources":[${read}],"steps":${JSON.stringify(all)}}${after}}`;
  const { filename, ...others } = texts;
  const name = pages && filename?.replace(/\.pdf$/i, ` ${pages.number}.pdf`);
  return {
    source: 'document',
    options: DEFAULT_OPTIONS,
    texts: {
      ...others,
      ...(filename !== undefined && { filename: name ?? filename }),
      sources: JSON.stringify(sources.map(({ named }) => named)),
    },
    marks,
    document: new UnencryptedText(document),
  };
}

/** Each has the text of all sources: they are made one at a time. */
function* requestsOf(
  checked: CheckedDocuments,
  sources: readonly ReadSource[],
  parts: readonly string[],
): Generator<ConversionRequest> {
  for (const [n, pages] of parts.entries()) {
    yield requestOf(checked, sources, { pages, number: n + 1 });
  }
}

/** Accepts a conversion for each part, as a batch. */
async function requestParts(
  ctx: HttpContext,
  deps: RouteDependencies,
  checked: CheckedDocuments,
  sources: readonly ReadSource[],
  key: ReturnType<typeof requestKeyOf>,
) {
  const { parts = [], texts } = checked;
  const bytes = sources.reduce((sum, { named }) => sum + named.bytes, 0) * parts.length;
  const most = MOST_COPIES * deps.config.maxBodyBytes;
  if (bytes > most) {
    const message = `The PDFs times the number of parts must be at most ${most} bytes: make fewer parts at a time.`;
    throw fieldError('steps', message, { code: 'payload_too_large' });
  }
  assertRoom(ctx, deps, bytes);
  const { accountId } = callerOf(ctx);
  await deps.bounds.admit(accountId, parts.length - 1);
  // The batch tells its webhook when all parts have ended, and has no name of its own.
  const { webhookUrl: _webhookUrl, ...ofPart } = texts;
  const { filename: _filename, ...ofBatch } = texts;
  const requests = requestsOf({ ...checked, texts: ofPart }, sources, parts);
  const batch = { accountId, requests, texts: ofBatch, terms: keyTermsOf(ctx), ...key };
  return await requestBatch(deps, batch, await commandContext(ctx, deps));
}

type Accepted =
  | { readonly kind: 'one'; readonly conversion: AcceptedConversion }
  | { readonly kind: 'parts'; readonly batch: RequestedBatch };

async function request(
  ctx: HttpContext,
  deps: RouteDependencies,
  checked: CheckedDocuments,
  key: ReturnType<typeof requestKeyOf>,
): Promise<Accepted> {
  const { accountId } = callerOf(ctx);
  // A source may have been deleted since: what was accepted with it stays accepted.
  const earlier = await acceptedEarlier(deps, accountId, key);
  if (earlier !== undefined) {
    const { conversionId, requestedAt } = earlier;
    return conversionId.startsWith('batch_')
      ? { kind: 'parts', batch: { batchId: conversionId, requestedAt } }
      : { kind: 'one', conversion: earlier };
  }
  deps.failedWork.assertLeft(accountId);
  const sources = await readSources(ctx, deps, checked.sources);
  if (checked.parts !== undefined) {
    return { kind: 'parts', batch: await requestParts(ctx, deps, checked, sources, key) };
  }
  const trace = deps.tracing?.current();
  const terms = keyTermsOf(ctx);
  const asked = { accountId, ...requestOf(checked, sources), ...key, terms, trace };
  return {
    kind: 'one',
    conversion: await requestConversion(deps, asked, await commandContext(ctx, deps)),
  };
}

export const createDocument: Endpoint = {
  doc: createDocumentDoc,
  handler: (deps) => {
    const untilEnded = createUntilEnded(deps);
    return async (ctx) => {
      await countAgainstPlan(deps, ctx);
      readTestQuery(ctx);
      assertRoom(ctx, deps);
      await deps.bounds.admit(callerOf(ctx).accountId);
      const accepted = await deps.bodies.read(
        ctx,
        deps.config.maxBodyBytes,
        async (body) => {
          const issues = new ValidationIssues();
          const key = requestKeyOf(ctx, deps, issues, 'documents');
          const rules = await requestRules(ctx, deps, { ...key, body });
          const checked = checkDocumentRequest(body, issues, rules);
          issues.throwIfAny();
          return { checked, key };
        },
        async ({ checked, key }) => await request(ctx, deps, checked, key),
        { forms: true },
      );
      if (accepted.kind === 'one')
        await answerRequested(ctx, deps, untilEnded, accepted.conversion);
      else await answerBatch(ctx, deps, accepted.batch);
    };
  },
};
