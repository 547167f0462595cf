import type { Logger } from 'pino';
import { decryptBlob } from '../blob-store/decryption.ts';
import { type BlobStore, BlobStoreUnavailable } from '../blob-store/port.ts';
import { MAX_ATTEMPTS } from '../domain/conversion.ts';
import type { RequestDocument } from '../domain/request-document.ts';
import type { RenderJob } from '../render-queue/messages.ts';
import { type Patience, untilStoreAnswers } from './patience.ts';
import { type Problem, PUT_BACK } from './problem.ts';

export interface ReadingContext {
  readonly blobs: BlobStore;
  readonly logger: Logger;
  readonly patience: Patience;
}

/** Reads the document to render. */
export async function readRequest(
  { conversionId, request, contentKey, attempt }: RenderJob,
  { blobs, logger, patience }: ReadingContext,
): Promise<RequestDocument | Problem | typeof PUT_BACK> {
  if (patience.stopping.aborted) return PUT_BACK;
  if (attempt > MAX_ATTEMPTS) {
    // Each of its renderers went down with it before it could say anything.
    const broken = `The renderer broke off on each of ${MAX_ATTEMPTS} tries.`;
    return { retry: false, code: 'renderer_failed', message: broken };
  }
  try {
    const stored = await untilStoreAnswers(() => blobs.read(request), patience);
    if (stored === undefined) return PUT_BACK;
    const content = decryptBlob(Buffer.from(contentKey, 'base64url'), request, stored);
    return JSON.parse(content.toString('utf8')) as RequestDocument;
  } catch (error) {
    const message = 'The stored request could not be read.';
    logger.error({ err: error, conversionId }, message);
    const retry = error instanceof BlobStoreUnavailable;
    return { retry, code: 'renderer_failed', message };
  }
}
