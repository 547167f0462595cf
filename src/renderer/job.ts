/**
 * One delivery of a job: read the request, render, store, report; then `done`, `giveBack` for another try,
 * or `putBack` when the node stops before it has begun, or the request could not be read at once.
 */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { encryptFile } from '../blob-store/encryption.ts';
import type { BlobStore, BlobStoreUnavailable } from '../blob-store/port.ts';
import type { Clock } from '../clock.ts';
import { MAX_ATTEMPTS } from '../domain/conversion.ts';
import type { BlobRef } from '../domain/events.ts';
import type { RequestDocument } from '../domain/request-document.ts';
import type { RenderJob } from '../render-queue/messages.ts';
import type { Delivery, RenderQueue } from '../render-queue/port.ts';
import { readRequest } from './job-request.ts';
import { composeManifest } from './manifest.ts';
import type { RenderResult } from './messages.ts';
import { untilStoreAnswers } from './patience.ts';
import type { RenderPool } from './pool.ts';
import { type Problem, PUT_BACK } from './problem.ts';
import { StartReport } from './start-report.ts';
import { warningsOf } from './warnings.ts';

export interface JobContext {
  readonly queue: RenderQueue;
  readonly blobs: BlobStore;
  readonly pool: Pick<RenderPool, 'render'>;
  /** The time limit for rendering: it begins when the request has been read. */
  readonly timeoutMs: number;
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

/** Never rejects but when the queue does. */
export async function runJob(context: JobContext, delivery: Delivery): Promise<void> {
  await new JobRun(context, delivery).run();
}

/** A stopping node has its render time limit and 15 s: the blob store may take this long of it. */
const STORE_GRACE_MS = 10_000;
/** Shorter renderings report their start with their outcome: nobody misses so short a `processing`. */
const START_REPORT_MS = 250;

class JobRun {
  readonly #context: JobContext;
  readonly #delivery: Delivery;
  readonly #job: RenderJob;
  readonly #outputPath: string;
  readonly #encryptedPath: string;
  /** The time when its request had been read, by `performance.now()`. */
  #begunAt = 0;
  /** The same by the clock; before that, when it was handed over. */
  #takenAt: number;
  /** The encrypted PDF is the blob store's: there is no file any more. */
  #adopted = false;

  constructor(context: JobContext, delivery: Delivery) {
    this.#context = context;
    this.#delivery = delivery;
    this.#job = delivery.job;
    this.#takenAt = context.clock.now();
    const { conversionId, attempt } = delivery.job;
    // The name is for this delivery alone: a job may come a second time while the first is still in hand.
    const name = `${conversionId}-${attempt}-${randomUUID()}.pdf`;
    this.#outputPath = join(context.directory, name);
    this.#encryptedPath = `${this.#outputPath}.encrypted`;
  }

  async run(): Promise<void> {
    const { logger } = this.#context;
    const { conversionId } = this.#job;
    let start: StartReport | undefined;
    try {
      const request = await this.#begin();
      if (request === PUT_BACK) {
        logger.info({ conversionId }, 'the job goes back as it came');
        return await this.#delivery.putBack();
      }
      start = this.#start();
      const problem = 'code' in request ? request : await this.#renderAndReport(request, start);
      await this.#end(problem, start);
    } catch (error) {
      logger.error({ err: error, conversionId }, 'the outcome was not recorded; the job goes back');
      await this.#delivery.giveBack();
    } finally {
      start?.drop();
      await rm(this.#outputPath, { force: true });
      if (!this.#adopted) await rm(this.#encryptedPath, { force: true });
    }
  }

  /** Recorded while the document is rendered; a lost start changes nothing for the outcome. */
  #start(): StartReport {
    const { queue, logger } = this.#context;
    const { conversionId } = this.#job;
    const report = { kind: 'started', ...this.#reportOf() } as const;
    const make = (): Promise<void> =>
      queue.report(report).catch((error: unknown) => {
        logger.warn({ err: error, conversionId }, 'start not recorded');
      });
    return new StartReport(make, queue.countsTries ? START_REPORT_MS : 0);
  }

  /** @param problem nothing when the PDF is stored and reported */
  async #end(problem: Problem | typeof PUT_BACK | undefined, start: StartReport): Promise<void> {
    const { queue, logger } = this.#context;
    const { conversionId, attempt } = this.#job;
    if (problem === PUT_BACK) {
      logger.warn(
        { conversionId },
        'the renderer stops before the PDF is stored: the job goes back',
      );
      if (await start.leaveToOutcome()) {
        await queue.report({ kind: 'requeued', ...this.#reportOf() });
      }
      return await this.#delivery.putBack();
    }
    if (problem?.retry === true && attempt < MAX_ATTEMPTS) {
      logger.warn({ conversionId, attempt, reason: problem.message }, 'rendering is tried again');
      await start.now();
      return await this.#delivery.giveBack();
    }
    if (problem) {
      const { code, message } = problem;
      await start.leaveToOutcome();
      await queue.report({ kind: 'failed', ...this.#outcomeOf(), code, message });
    }
    await this.#delivery.done();
  }

  /** Reads the request: until then nothing is reported. */
  async #begin(): Promise<RequestDocument | Problem | typeof PUT_BACK> {
    const { blobs, clock, logger } = this.#context;
    let hasWaited = false;
    const patience = this.#patience(0, 'the request cannot be read now', () => {
      // Others may be able to read theirs. This one gets a slot again when its turn comes.
      hasWaited = true;
      this.#delivery.releaseSlot();
    });
    const request = await readRequest(this.#job, { blobs, logger, patience });
    if (request === PUT_BACK || 'code' in request) return request;
    if (hasWaited) return PUT_BACK;
    this.#begunAt = performance.now();
    this.#takenAt = clock.now();
    return request;
  }

  #reportOf() {
    const { conversionId, accountId, attempt } = this.#job;
    const { name, clock } = this.#context;
    return { conversionId, accountId, attempt, renderer: name, at: clock.now() };
  }

  #outcomeOf() {
    return { ...this.#reportOf(), startedAt: this.#takenAt };
  }

  /** @returns what went wrong; nothing when the PDF is stored and reported */
  async #renderAndReport(
    request: RequestDocument,
    start: StartReport,
  ): Promise<Problem | typeof PUT_BACK | undefined> {
    const { pool, timeoutMs, abandoned, logger } = this.#context;
    const { conversionId, accountId, options } = this.#job;
    const task = { conversionId, accountId, request, options, outputPath: this.#outputPath };
    const result = await pool.render({ ...task, deadlineMs: timeoutMs }, abandoned);
    if (abandoned.aborted && result.kind !== 'completed') return PUT_BACK;
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
    // Storing needs no slot. A failure keeps its slot until it is reported.
    this.#delivery.releaseSlot();
    return await this.#store(result, start);
  }

  #patience(graceMs: number, what: string, release = (): void => {}) {
    const { stopping, logger } = this.#context;
    const { conversionId } = this.#job;
    const onAway = (error: BlobStoreUnavailable): void => {
      logger.warn({ err: error, conversionId }, `${what}: it is tried again`);
      release();
    };
    return { stopping, graceMs, onAway };
  }

  /** The PDF stays readable no longer than this, however long the blob store is away. */
  async #encrypt(result: Completed) {
    const { conversionId, contentKey } = this.#job;
    const owner = { conversionId, contentKey: Buffer.from(contentKey, 'base64url') };
    const encrypted = await encryptFile(owner, 'document', result, this.#encryptedPath);
    await rm(result.path, { force: true });
    return encrypted;
  }

  async #store(
    result: Completed,
    start: StartReport,
  ): Promise<Problem | typeof PUT_BACK | undefined> {
    const { blobs, queue, logger } = this.#context;
    const { conversionId } = this.#job;
    const { sha256, bytes, pages, page } = result;
    const rendered = performance.now();
    let document: BlobRef | undefined;
    try {
      const patience = this.#patience(STORE_GRACE_MS, 'the PDF cannot be stored now');
      const encrypted = await this.#encrypt(result);
      document = await untilStoreAnswers(
        () => blobs.adopt(conversionId, 'document', encrypted),
        patience,
      );
    } catch (error) {
      const message = 'The PDF could not be stored.';
      logger.error({ err: error, conversionId }, message);
      return { retry: true, code: 'renderer_failed', message };
    }
    if (document === undefined) return PUT_BACK;
    this.#adopted = true;
    const { load, ready, print } = result.timings;
    const store = performance.now() - rendered;
    const queued = Math.max(0, rendered - this.#begunAt - load - ready - print);
    const timings = { queued, load, ready, print, store };
    const { name } = this.#context;
    const manifest = composeManifest({
      job: this.#job,
      renderer: name,
      takenAt: this.#takenAt,
      timings,
      pdf: { sha256, bytes },
      pages,
      page,
    });
    const warnings = warningsOf(page);
    await start.leaveToOutcome();
    await queue.report({
      kind: 'completed',
      ...this.#outcomeOf(),
      document,
      pdf: { sha256, bytes },
      pages,
      timings,
      chrome: page.chrome.product,
      manifest,
      ...(warnings.length === 0 ? {} : { warnings }),
    });
    return undefined;
  }
}
