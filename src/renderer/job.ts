/** One delivery of a job: render, store, report; then `done`, or `giveBack` for another try. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type BlobStore, BlobStoreUnavailable } from '../blob-store/port.ts';
import type { Clock } from '../clock.ts';
import { MAX_ATTEMPTS } from '../domain/conversion.ts';
import type { BlobRef, ConversionFailureCode } from '../domain/events.ts';
import type { RequestDocument } from '../domain/request-document.ts';
import type { RenderJob } from '../render-queue/messages.ts';
import type { Delivery, RenderQueue } from '../render-queue/port.ts';
import { within } from './chrome/deadline.ts';
import { composeManifest } from './manifest.ts';
import type { RenderResult } from './messages.ts';
import type { RenderPool } from './pool.ts';
import type { Slots } from './slots.ts';

export interface JobContext {
  readonly queue: RenderQueue;
  readonly blobs: BlobStore;
  readonly pool: Pick<RenderPool, 'render'>;
  readonly slots: Slots;
  /** From taking the job to the stored file; while it waits for a slot, it is not taken yet. */
  readonly timeoutMs: number;
  /** Where the PDF lies until the blob store adopts it. */
  readonly directory: string;
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Completed = Extract<RenderResult, { kind: 'completed' }>;

/** Why there is no PDF. */
interface Problem {
  /** Whether it may be no fault of the document, so that another try is in order. */
  readonly retry: boolean;
  readonly code: ConversionFailureCode;
  /** The client's text, when no further try follows. */
  readonly message: string;
}

/** Never rejects but when the queue does. */
export async function runJob(context: JobContext, delivery: Delivery): Promise<void> {
  await new JobRun(context, delivery).run();
}

class JobRun {
  readonly #context: JobContext;
  readonly #delivery: Delivery;
  readonly #job: RenderJob;
  readonly #outputPath: string;
  #started = performance.now();
  /** Gives the slot back; storing and reporting need none. */
  #free: () => void = () => {};
  /** When a slot was free for it: waiting for one is waiting in the queue. */
  #takenAt = 0;

  constructor(context: JobContext, delivery: Delivery) {
    this.#context = context;
    this.#delivery = delivery;
    this.#job = delivery.job;
    const { conversionId, attempt } = delivery.job;
    this.#outputPath = join(context.directory, `${conversionId}-${attempt}.pdf`);
  }

  async run(): Promise<void> {
    const { logger } = this.#context;
    const { conversionId, attempt } = this.#job;
    this.#free = await this.#context.slots.acquire();
    this.#started = performance.now();
    this.#takenAt = this.#context.clock.now();
    try {
      // Recorded while the document is rendered; a lost start changes nothing for the outcome.
      const started = this.#context.queue
        .report({ kind: 'started', ...this.#reportOf() })
        .catch((error: unknown) => logger.warn({ err: error, conversionId }, 'start not recorded'));
      const problem = await this.#renderAndReport(started);
      if (problem?.retry === true && attempt < MAX_ATTEMPTS) {
        logger.warn({ conversionId, attempt, reason: problem.message }, 'rendering is tried again');
        await started;
        await this.#delivery.giveBack();
        return;
      }
      if (problem) {
        const { code, message } = problem;
        await started;
        await this.#context.queue.report({ kind: 'failed', ...this.#reportOf(), code, message });
      }
      await this.#delivery.done();
    } catch (error) {
      logger.error({ err: error, conversionId }, 'the outcome was not recorded; the job goes back');
      await this.#delivery.giveBack();
    } finally {
      this.#free();
      await rm(this.#outputPath, { force: true });
    }
  }

  #reportOf() {
    const { conversionId, accountId, attempt } = this.#job;
    const { name, clock } = this.#context;
    return { conversionId, accountId, attempt, renderer: name, at: clock.now() };
  }

  #remaining(): number {
    return Math.max(0, this.#context.timeoutMs - (performance.now() - this.#started));
  }

  /** @returns what went wrong; nothing when the PDF is stored and reported */
  async #renderAndReport(started: Promise<void>): Promise<Problem | undefined> {
    const { logger } = this.#context;
    const { conversionId, accountId, options, attempt } = this.#job;
    if (attempt > MAX_ATTEMPTS) {
      // Each of its renderers went down with it before it could say anything.
      const message = `The renderer broke off on each of ${MAX_ATTEMPTS} tries.`;
      return { retry: false, code: 'renderer_failed', message };
    }
    const request = await this.#readRequest();
    if ('code' in request) return request;
    const result = await this.#context.pool.render({
      conversionId,
      accountId,
      request,
      options,
      deadlineMs: this.#remaining(),
      outputPath: this.#outputPath,
    });
    this.#free();
    if (result.kind === 'failed') {
      return { retry: false, code: result.code, message: result.message };
    }
    if (result.kind === 'crashed') {
      logger.warn({ conversionId, reason: result.message }, 'a rendering crashed');
      const message =
        result.code === 'page_crashed'
          ? 'The browser crashed while it rendered the page, on every try.'
          : 'The renderer could not do its work, on every try.';
      return { retry: true, code: result.code, message };
    }
    return await this.#store(result, started);
  }

  async #readRequest(): Promise<RequestDocument | Problem> {
    const message = 'The stored request could not be read.';
    try {
      const content = await within(this.#context.blobs.read(this.#job.request), this.#remaining());
      if (content === undefined) return { retry: true, code: 'renderer_failed', message };
      return JSON.parse(content.toString('utf8')) as RequestDocument;
    } catch (error) {
      this.#context.logger.error({ err: error, conversionId: this.#job.conversionId }, message);
      const retry = error instanceof BlobStoreUnavailable;
      return { retry, code: 'renderer_failed', message };
    }
  }

  async #store(result: Completed, started: Promise<void>): Promise<Problem | undefined> {
    const { blobs, queue, logger } = this.#context;
    const { conversionId } = this.#job;
    const { pages, page } = result;
    const rendered = performance.now();
    const message = 'The PDF could not be stored.';
    let document: BlobRef | undefined;
    try {
      document = await within(blobs.adopt(conversionId, 'document', result), this.#remaining());
    } catch (error) {
      logger.error({ err: error, conversionId }, message);
      return { retry: true, code: 'renderer_failed', message };
    }
    if (document === undefined) {
      const late = 'The time limit was reached while the PDF was being stored.';
      return { retry: false, code: 'timeout', message: late };
    }
    const { load, ready, print } = result.timings;
    const store = performance.now() - rendered;
    const queued = Math.max(0, rendered - this.#started - load - ready - print);
    const timings = { queued, load, ready, print, store };
    const { name } = this.#context;
    const manifest = composeManifest({
      job: this.#job,
      renderer: name,
      takenAt: this.#takenAt,
      timings,
      document,
      pages,
      page,
    });
    await started;
    await queue.report({
      kind: 'completed',
      ...this.#reportOf(),
      document,
      pages,
      timings,
      chrome: page.chrome.product,
      manifest,
    });
    return undefined;
  }
}
