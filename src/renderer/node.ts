/** A renderer node: takes jobs from the render queue, renders them, stores the PDFs, reports. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { BlobStore } from '../blob-store/port.ts';
import type { Clock } from '../clock.ts';
import type { ConversionFailureCode } from '../domain/events.ts';
import type { RequestDocument } from '../domain/request-document.ts';
import type { RenderJob } from '../render-queue/messages.ts';
import type { Delivery, RenderQueue } from '../render-queue/port.ts';
import { within } from './chrome/deadline.ts';
import { findChrome } from './chrome/find.ts';
import { endNode, makeNodeDirectory, reapLeftovers } from './chrome/processes.ts';
import type { RenderResult } from './messages.ts';
import { type RenderPool, startRenderPool } from './pool.ts';

export interface RendererSettings {
  readonly concurrency: number;
  /** From taking a job to the stored file. */
  readonly timeoutMs: number;
  readonly chromePath?: string | undefined;
  readonly allowPrivateNetwork: boolean;
  readonly egressPorts: readonly number[];
  /** In the blob store's data directory, so that a PDF moves there by renaming. */
  readonly tempDir: string;
}

export interface RendererNodeOptions {
  readonly queue: RenderQueue;
  readonly blobs: BlobStore;
  readonly settings: RendererSettings;
  /** This node's name in events. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Readiness {
  readonly ready: boolean;
  readonly reason?: string;
  readonly chrome?: string;
}

export interface RendererNode {
  ready(): Readiness;
  /** Takes no more jobs and resolves when those under way have ended, Chrome has and its files are gone. */
  stop(): Promise<void>;
}

/** As the domain has it: a document that ends its renderer this often is given up. */
const MAX_ATTEMPTS = 3;
/** Where the set-up writes the path of the Chrome that it brought. */
const FALLBACK_FILE = join(import.meta.dirname, '../../setup/chrome/executable');

type Completed = Extract<RenderResult, { kind: 'completed' }>;
/** What to do with a job in the end. */
type Outcome =
  | { readonly kind: 'failed'; readonly code: ConversionFailureCode; readonly message: string }
  /** No fault of the document: another try, and `code` when there were enough of them. */
  | { readonly kind: 'again'; readonly code: ConversionFailureCode; readonly message: string };

/** @throws {Error} one clear line when Chrome cannot be found or started */
export async function startRendererNode(options: RendererNodeOptions): Promise<RendererNode> {
  const { queue, settings, logger } = options;
  const found = await findChrome({
    chromePath: settings.chromePath,
    searchPath: process.env['PATH'],
    fallbackFile: FALLBACK_FILE,
  });
  const ended = await reapLeftovers(settings.tempDir);
  if (ended > 0) logger.warn({ ended }, 'ended Chromes that an earlier node left behind');
  const directory = await makeNodeDirectory(settings.tempDir);
  const { concurrency, allowPrivateNetwork, egressPorts } = settings;
  let pool: RenderPool;
  try {
    pool = await startRenderPool({
      concurrency,
      worker: { chromePath: found.path, directory, allowPrivateNetwork, egressPorts },
      logger,
    });
  } catch (error) {
    await endNode(directory);
    throw error;
  }
  const { product, path, sandboxed, sandboxNote } = pool.chrome;
  logger.info(
    { chrome: product, path, source: found.source, sandboxed, sandboxNote, concurrency },
    `rendering with ${product}, sandbox ${sandboxed ? 'on' : `off: ${sandboxNote}`}`,
  );
  if (allowPrivateNetwork) {
    logger.warn('ALLOW_PRIVATE_NETWORK is on: pages can reach every address and port');
  }

  let stopping = false;
  const underWay = new Set<Promise<void>>();
  const consumer = queue.consume(concurrency, async (delivery) => {
    const work = new JobRun(options, pool, directory, delivery).run();
    underWay.add(work);
    await work.finally(() => underWay.delete(work));
  });

  return {
    ready: () => {
      const reason = stopping ? 'the renderer is stopping' : pool.missing();
      return { ready: reason === undefined, chrome: product, ...(reason && { reason }) };
    },
    stop: async () => {
      stopping = true;
      await consumer.stop();
      await Promise.allSettled(underWay);
      await pool.close();
      await endNode(directory);
    },
  };
}

/** One delivery, from taking it to `done` or `giveBack`. */
class JobRun {
  readonly #options: RendererNodeOptions;
  readonly #pool: RenderPool;
  readonly #delivery: Delivery;
  readonly #job: RenderJob;
  readonly #outputPath: string;
  readonly #started = performance.now();

  constructor(
    options: RendererNodeOptions,
    pool: RenderPool,
    directory: string,
    delivery: Delivery,
  ) {
    this.#options = options;
    this.#pool = pool;
    this.#delivery = delivery;
    this.#job = delivery.job;
    this.#outputPath = join(directory, `${this.#job.conversionId}-${this.#job.attempt}.pdf`);
  }

  async run(): Promise<void> {
    const { logger } = this.#options;
    const { conversionId, attempt } = this.#job;
    try {
      // Recorded while the document is rendered; a lost start changes nothing for the outcome.
      const started = this.#options.queue
        .report({ kind: 'started', ...this.#reportOf() })
        .catch((error: unknown) => logger.warn({ err: error, conversionId }, 'start not recorded'));
      const outcome = await this.#renderAndReport(started);
      if (outcome?.kind === 'again' && attempt < MAX_ATTEMPTS) {
        logger.warn({ conversionId, attempt, reason: outcome.message }, 'rendering is tried again');
        await started;
        await this.#delivery.giveBack();
        return;
      }
      if (outcome) {
        const { code, message } = outcome;
        await started;
        await this.#options.queue.report({ kind: 'failed', ...this.#reportOf(), code, message });
      }
      await this.#delivery.done();
    } catch (error) {
      logger.error({ err: error, conversionId }, 'the outcome was not recorded; the job goes back');
      await this.#delivery.giveBack();
    } finally {
      await rm(this.#outputPath, { force: true });
    }
  }

  #reportOf() {
    const { conversionId, accountId, attempt } = this.#job;
    const { name, clock } = this.#options;
    return { conversionId, accountId, attempt, renderer: name, at: clock.now() };
  }

  #remaining(): number {
    return Math.max(0, this.#options.settings.timeoutMs - (performance.now() - this.#started));
  }

  /** @returns what went wrong; nothing when the PDF is stored and reported */
  async #renderAndReport(started: Promise<void>): Promise<Outcome | undefined> {
    const { logger } = this.#options;
    const { conversionId, options } = this.#job;
    const request = await this.#readRequest();
    if ('kind' in request) return request;
    const result = await this.#pool.render({
      conversionId,
      request,
      options,
      deadlineMs: this.#remaining(),
      outputPath: this.#outputPath,
    });
    if (result.kind === 'failed') return result;
    if (result.kind === 'crashed') {
      logger.warn({ conversionId, reason: result.message }, 'a rendering crashed');
      const message =
        result.code === 'page_crashed'
          ? 'The browser crashed while it rendered the page, on every try.'
          : 'The renderer could not do its work, on every try.';
      return { kind: 'again', code: result.code, message };
    }
    return await this.#store(result, started);
  }

  async #readRequest(): Promise<RequestDocument | Outcome> {
    const message = 'The stored request could not be read.';
    try {
      const content = await within(this.#options.blobs.read(this.#job.request), this.#remaining());
      if (content === undefined) return { kind: 'again', code: 'renderer_failed', message };
      return JSON.parse(content.toString('utf8')) as RequestDocument;
    } catch (error) {
      this.#options.logger.error({ err: error, conversionId: this.#job.conversionId }, message);
      return { kind: 'failed', code: 'renderer_failed', message };
    }
  }

  async #store(result: Completed, started: Promise<void>): Promise<Outcome | undefined> {
    const { blobs, queue, logger } = this.#options;
    const { conversionId } = this.#job;
    const rendered = performance.now();
    const message = 'The PDF could not be stored.';
    let document: Awaited<ReturnType<BlobStore['adopt']>> | undefined;
    try {
      document = await within(blobs.adopt(conversionId, 'document', result), this.#remaining());
    } catch (error) {
      logger.error({ err: error, conversionId }, message);
      return { kind: 'again', code: 'renderer_failed', message };
    }
    if (document === undefined) {
      const late = 'The time limit was reached while the PDF was being stored.';
      return { kind: 'failed', code: 'timeout', message: late };
    }
    const { load, ready, print } = result.timings;
    const store = performance.now() - rendered;
    const queued = Math.max(0, rendered - this.#started - load - ready - print);
    await started;
    await queue.report({
      kind: 'completed',
      ...this.#reportOf(),
      document,
      pages: result.pages,
      timings: { queued, load, ready, print, store },
      chrome: result.chrome,
    });
    return undefined;
  }
}
