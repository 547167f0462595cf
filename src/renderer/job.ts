/**
 * One delivery of a job: report the start, read the request, render, store, report the outcome. Then `ack`,
 * `nack` for another try, or `requeue` when the node stops or the request could not be read at once.
 */
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { resultWithin } from '../async/with-timeout.ts';
import { decryptBlob } from '../documents/decryption.ts';
import { encryptFile, UnencryptedText } from '../documents/encryption.ts';
import { type BlobStore, BlobStoreUnavailable } from '../documents/port.ts';
import type { BlobRef } from '../domain/event-fields.ts';
import type { RequestDocument } from '../domain/request-document.ts';
import {
  type CompletedOutcome,
  type FailedOutcome,
  MAX_PICTURE_BYTES,
  MAX_TITLE_CHARACTERS,
  type RenderJob,
  type RenderOutcome,
  type RequeuedOutcome,
} from '../render-queue/messages.ts';
import type { Delivery, RenderQueue } from '../render-queue/port.ts';
import { isBlank, plainText } from '../text/plain-text.ts';
import type { Clock } from '../time/clock.ts';
import { pagesThatDiffer } from './finishing/comparison.ts';
import { composeManifest } from './manifest.ts';
import type { RenderResult } from './messages.ts';
import type { RenderPool } from './pool.ts';
import { type RetryOptions, retryWhileAway } from './retry.ts';
import { type Signed, signFile } from './finishing/signing.ts';
import { warningsOf } from './warnings.ts';

export interface JobContext {
  readonly queue: RenderQueue;
  readonly blobs: BlobStore;
  readonly pool: Pick<RenderPool, 'render'>;
  /** The time limit for rendering: it begins when the request has been read. */
  readonly timeoutMs: number;
  readonly pictures: boolean;
  /** Aborted when the node stops: what has not begun goes back. */
  readonly stopping: AbortSignal;
  /** Aborted when the node stops in a hurry: what is being rendered goes back, too. */
  readonly abandoned: AbortSignal;
  /** The directory where the PDF lies until it is encrypted, and then until the blob store adopts it. */
  readonly directory: string;
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Completed = Extract<RenderResult, { kind: 'completed' }>;
type Failed = Extract<RenderResult, { kind: 'failed' }>;
/** The end of a try without a PDF, as it is reported. `#about` names the try. */
type NoPdf =
  | Pick<FailedOutcome, 'kind' | 'code' | 'message' | 'retryable' | 'picture'>
  | Pick<RequeuedOutcome, 'kind'>;

/** A stopping node has its render time limit and 15 s: the blob store may take this long of it. */
const STORE_GRACE_MS = 10_000;

/** A failure keeps its slot until it is recorded: it does not wait longer for its picture to be stored. */
const STORE_PICTURE_MS = 500;

/** Chrome writes about so much for a small document. */
const ROOM_BYTES = 2 ** 20;

const rendererFailed = (message: string, retryable: boolean): NoPdf => ({
  kind: 'failed',
  code: 'renderer_failed',
  message,
  retryable,
});

export class JobRun {
  readonly #context: JobContext;
  readonly #delivery: Delivery;
  readonly #job: RenderJob;
  /** A name for this delivery alone: a job may come a second time while the first is still in flight. */
  readonly #name = randomUUID();
  readonly #takenAt: number;
  readonly #outputPath: string;
  readonly #encryptedPath: string;
  /** The time when its request had been read, by `performance.now()`. */
  #readAt = 0;
  /** Aborted when nobody needs its result: its conversion has ended without it, or the node stops in a hurry. */
  readonly #unneeded: AbortSignal;
  readonly #ended = new AbortController();
  /** The pages that differ from the PDF that it is compared with, where that is known. */
  #differing: number[] | undefined;
  /** The encrypted PDF is the blob store's: there are no files any more. */
  #adopted = false;

  constructor(context: JobContext, delivery: Delivery) {
    this.#context = context;
    this.#delivery = delivery;
    this.#job = delivery.job;
    this.#takenAt = context.clock.now();
    this.#unneeded = AbortSignal.any([context.abandoned, delivery.unneeded, this.#ended.signal]);
    this.#outputPath = join(context.directory, `${delivery.job.conversionId}-${this.#name}.pdf`);
    this.#encryptedPath = `${this.#outputPath}.encrypted`;
  }

  /** Never rejects but when the queue does. */
  async run(): Promise<void> {
    const { queue, stopping, logger } = this.#context;
    const { conversionId } = this.#job;
    if (stopping.aborted) return this.#delivery.requeue();
    try {
      const outcome = await this.#try();
      if (outcome === undefined || (await queue.report(outcome)).ended) return this.#delivery.ack();
      const { kind, attempt } = outcome;
      if (kind === 'requeued') {
        logger.info({ conversionId }, 'the job is requeued, and its try does not count');
        return this.#delivery.requeue();
      }
      logger.warn({ conversionId, attempt }, 'the rendering is tried again');
      this.#delivery.nack();
    } catch (error) {
      logger.error({ err: error, conversionId }, 'the outcome was not recorded; the job goes back');
      this.#delivery.nack();
    } finally {
      if (!this.#adopted) {
        await rm(this.#outputPath, { force: true });
        await rm(this.#encryptedPath, { force: true });
      }
    }
  }

  /** @returns undefined where the conversion has ended: nobody needs the outcome */
  async #try(): Promise<RenderOutcome | undefined> {
    const { queue } = this.#context;
    const start = queue.report({ ...this.#about, at: this.#takenAt, kind: 'started' });
    start.then(
      ({ ended }) => ended && this.#ended.abort(),
      () => {},
    );
    // A page that takes its renderer down must not be rendered again before the log has counted it.
    if (this.#job.retry && (await start).ended) return undefined;
    const rendered = await this.#render();
    const { ended, attempt } = await start;
    if (ended) return undefined;
    const signed = await this.#signed(rendered);
    const end = signed.kind === 'completed' ? await this.#store(signed, attempt) : signed;
    if (end.kind === 'completed') return end;
    const told = await this.#unlessDiskIsFull(end);
    return { ...told, ...this.#about, attempt, at: this.#context.clock.now() };
  }

  get #about() {
    const { conversionId, accountId } = this.#job;
    return { conversionId, accountId, renderer: this.#context.name, delivery: this.#name };
  }

  async #render(): Promise<Completed | NoPdf> {
    const { pool, timeoutMs, pictures, logger } = this.#context;
    const { conversionId, accountId, options, signer, isTest } = this.#job;
    const request = await this.#readRequest();
    if ('kind' in request) return request;
    this.#readAt = performance.now();
    const about = { conversionId, accountId, request, options, signer, isTest, pictures };
    const task = { ...about, deadlineMs: timeoutMs, outputPath: this.#outputPath };
    const result = await pool.render(task, this.#unneeded);
    if (this.#unneeded.aborted && result.kind !== 'completed') return { kind: 'requeued' };
    if (result.kind === 'failed') return await this.#failed(result);
    if (result.kind === 'crashed') {
      // It may quote the address of a page.
      const reason = result.message.replaceAll(/\S+:\/\/\S+/g, '…');
      logger.warn({ conversionId, reason }, 'a rendering crashed');
      const message =
        result.code === 'page_crashed'
          ? 'The browser crashed while it rendered the page, on every try.'
          : 'The renderer could not do its work, on every try.';
      return { kind: 'failed', code: result.code, message, retryable: true };
    }
    const { original } = this.#job;
    if (original !== undefined && original.sha256 !== result.sha256) {
      this.#differing = await pagesThatDiffer(this.#context, this.#job, result, {
        remaining: () => this.#readAt + timeoutMs - performance.now(),
        unneeded: this.#unneeded,
      });
    }
    // Storing needs no slot. A failure keeps its slot until it is recorded.
    this.#delivery.releaseSlot();
    return result;
  }

  /** Stores the picture, if it can be stored at once: the failure is reported without it otherwise. */
  async #failed({ picture, ...failure }: Failed): Promise<NoPdf> {
    const { blobs, logger } = this.#context;
    const { conversionId, contentKey } = this.#job;
    const failed = { ...failure, retryable: false };
    if (picture === undefined) return failed;
    const owner = { conversionId, contentKey: Buffer.from(contentKey, 'base64url') };
    const staged = new UnencryptedText(picture).stage(blobs, owner, 'picture');
    if (staged.ref.bytes > MAX_PICTURE_BYTES) return failed;
    const storing = staged.store().then(() => true);
    const isStored = await resultWithin(storing, STORE_PICTURE_MS).catch((error: unknown) => {
      logger.warn({ err: error, conversionId }, 'the picture of a failure could not be stored');
    });
    return isStored === true ? { ...failed, picture: staged.ref } : failed;
  }

  /** A try that failed while the disk was full is taken back when there is room: the document is not at fault. */
  async #unlessDiskIsFull(end: NoPdf): Promise<NoPdf> {
    // Chrome crashes where its shared memory does not fit.
    if (end.kind !== 'failed' || !(end.retryable || end.code === 'page_crashed')) return end;
    let wasFull = false;
    const retry = this.#retry(0, 'a rendering failed and nothing can be written', () => {
      wasFull = true;
    });
    try {
      await retryWhileAway(() => this.#assertRoom(), retry);
    } catch {
      // There was no room for so long that its client had better be told.
      return end;
    }
    return wasFull ? { kind: 'requeued' } : end;
  }

  /** @throws {BlobStoreUnavailable} the disk takes no file where Chrome's files and the PDF lie */
  async #assertRoom(): Promise<void> {
    const path = `${this.#outputPath}.room`;
    try {
      await writeFile(path, Buffer.alloc(ROOM_BYTES), { flush: true });
    } catch (error) {
      throw new BlobStoreUnavailable('The disk of the renderer takes no files.', { cause: error });
    } finally {
      await rm(path, { force: true });
    }
  }

  /** @returns the document to render, or the end of the try if it cannot be read */
  async #readRequest(): Promise<RequestDocument | NoPdf> {
    const { blobs, logger } = this.#context;
    const { conversionId, request, contentKey } = this.#job;
    let hasWaited = false;
    const retry = this.#retry(0, 'the request cannot be read now', () => {
      // Others may be able to read theirs. This one gets a slot again when its turn comes.
      hasWaited = true;
      this.#delivery.releaseSlot();
    });
    try {
      const stored = await retryWhileAway(() => blobs.read(request), retry);
      if (stored === undefined || hasWaited) return { kind: 'requeued' };
      const content = decryptBlob(Buffer.from(contentKey, 'base64url'), request, stored);
      return JSON.parse(content.toString('utf8')) as RequestDocument;
    } catch (error) {
      const message = 'The stored request could not be read.';
      logger.error({ err: error, conversionId }, message);
      return rendererFailed(message, error instanceof BlobStoreUnavailable);
    }
  }

  #retry(graceMs: number, what: string, release = (): void => {}): RetryOptions {
    const { stopping, logger } = this.#context;
    const { conversionId } = this.#job;
    const onAway = (error: BlobStoreUnavailable): void => {
      logger.warn({ err: error, conversionId }, `${what}: it is tried again`);
      release();
    };
    return { stopping, graceMs, onAway };
  }

  async #signed(rendered: Completed | NoPdf): Promise<Signed | NoPdf> {
    if (rendered.kind !== 'completed' || rendered.signature === undefined) return rendered;
    const { clock, queue } = this.#context;
    return await signFile(queue, { ...this.#about, at: clock.now() }, rendered, rendered.signature);
  }

  async #store(result: Signed, attempt: number): Promise<CompletedOutcome | NoPdf> {
    const { blobs, logger, name, clock } = this.#context;
    const { conversionId, contentKey } = this.#job;
    const { sha256, bytes, pages, page, title, conformance, shortfalls, signed } = result;
    const rendered = performance.now();
    let document: BlobRef | undefined;
    try {
      const owner = { conversionId, contentKey: Buffer.from(contentKey, 'base64url') };
      // The PDF stays readable no longer than this, however long the blob store is away.
      const encrypted = await encryptFile(owner, 'document', result, this.#encryptedPath);
      document = await retryWhileAway(
        () => blobs.adopt(conversionId, 'document', encrypted),
        this.#retry(STORE_GRACE_MS, 'the PDF cannot be stored now'),
      );
    } catch (error) {
      const message = 'The PDF could not be stored.';
      logger.error({ err: error, conversionId }, message);
      return rendererFailed(message, true);
    }
    if (document === undefined) return { kind: 'requeued' };
    this.#adopted = true;
    const { load, ready, print } = result.timings;
    const store = performance.now() - rendered;
    const queued = Math.max(0, rendered - this.#readAt - load - ready - print);
    const made = { pdf: { sha256, bytes }, pages, timings: { queued, load, ready, print, store } };
    const about = { job: this.#job, attempt, renderer: name, takenAt: this.#takenAt };
    const warnings = warningsOf(page, shortfalls);
    const reached = conformance && { conformance: [...conformance] };
    // The rendering thread bounds it. Should that fail, a long text would hold up this thread.
    const named = plainText(title.slice(0, 4 * MAX_TITLE_CHARACTERS))
      .trim()
      .slice(0, MAX_TITLE_CHARACTERS)
      .toWellFormed();
    return {
      ...this.#about,
      attempt,
      at: clock.now(),
      kind: 'completed',
      document,
      ...made,
      ...reached,
      ...(signed && { signature: signed }),
      chrome: page.chrome.product,
      manifest: composeManifest({ ...about, ...made, ...reached, page }),
      ...(warnings.length === 0 ? {} : { warnings }),
      ...(!isBlank(named) && { title: named }),
      ...(this.#differing && { differingPages: this.#differing }),
    };
  }
}
