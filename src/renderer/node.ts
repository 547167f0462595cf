/** A renderer node: takes jobs from the render queue, renders them, stores the PDFs, reports. */
import type { Logger } from 'pino';
import type { Stoppable } from '../async/stoppable.ts';
import type { BlobStore } from '../documents/port.ts';
import type { RenderQueue } from '../render-queue/port.ts';
import type { Clock } from '../time/clock.ts';
import { findInstalledChrome, FULL_CHROME_COST, isHeadlessShell } from './browser/find.ts';
import { usedBytes } from './browser/memory.ts';
import { endNode, makeNodeDirectory, reapLeftovers } from './browser/processes.ts';
import { JobRun } from './job.ts';
import type { WorkerSettings } from './messages.ts';
import { type RenderPool, startRenderPool } from './pool.ts';

export interface RendererSettings extends Omit<WorkerSettings, 'chromePath' | 'directory'> {
  readonly concurrency: number;
  /** The time limit for rendering: from the request that is read to the printed file. */
  readonly timeoutMs: number;
  readonly chromePath?: string | undefined;
  /** Pages that fail are pictured. */
  readonly pictures: boolean;
  /** A directory in the blob store's data directory, so that a PDF moves there by renaming. */
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

export interface BrowserCount {
  readonly running: number;
  /** Since the node started. */
  readonly started: number;
  readonly memoryBytes: number;
}

export interface RendererNode extends Stoppable {
  ready(): Readiness;
  /** Looks at every process of the machine. */
  browsers(): BrowserCount;
  /**
   * Takes no more jobs, requeues those that have not begun, and resolves when those under way have
   * ended, Chrome has and its files are gone.
   *
   * @param hurry aborted when those under way are to be requeued, not to be ended
   */
  stop(hurry?: AbortSignal): Promise<void>;
}

/** @throws {Error} one clear line when Chrome cannot be found or started */
export async function startRendererNode(options: RendererNodeOptions): Promise<RendererNode> {
  const { queue, settings, logger } = options;
  const { concurrency, timeoutMs, chromePath, pictures, tempDir, ...bounds } = settings;
  const found = await findInstalledChrome(chromePath);
  const ended = await reapLeftovers(tempDir);
  if (ended > 0) logger.warn({ ended }, 'ended Chromes that an earlier node left behind');
  const directory = await makeNodeDirectory(tempDir);
  let pool: RenderPool;
  try {
    pool = await startRenderPool({
      concurrency,
      worker: { ...bounds, chromePath: found.path, directory },
      logger,
    });
  } catch (error) {
    await endNode(directory);
    throw error;
  }
  const { product, sandboxNote } = pool.chrome;
  const sandboxed = sandboxNote === undefined;
  logger.info(
    { chrome: product, ...found, sandboxed, sandboxNote, concurrency },
    `${product} renders, ${sandboxed ? 'in its sandbox' : `without its sandbox: ${sandboxNote}`}`,
  );
  if (!isHeadlessShell(found.path)) logger.warn(FULL_CHROME_COST);
  if (bounds.allowPrivateNetwork) {
    logger.warn('ALLOW_PRIVATE_NETWORK is on: pages can reach every address and port');
  }

  const stop = new AbortController();
  const stopping = stop.signal;
  const abandon = new AbortController();
  const underWay = new Set<Promise<void>>();
  const consumer = queue.consume(concurrency, async (delivery) => {
    const limits = { timeoutMs, pictures, stopping, abandoned: abandon.signal };
    const context = { ...options, ...limits, pool, directory };
    const work = new JobRun(context, delivery).run();
    underWay.add(work);
    await work.finally(() => underWay.delete(work));
  });

  return {
    ready: () => {
      const reason = stopping.aborted ? 'the renderer is stopping' : pool.missing();
      return { ready: reason === undefined, chrome: product, ...(reason && { reason }) };
    },
    browsers: () => {
      const { running, started } = pool.chromes();
      return { running: running.length, started, memoryBytes: usedBytes(new Set(running)) };
    },
    stop: async (hurry) => {
      hurry?.addEventListener('abort', () => abandon.abort());
      if (hurry?.aborted === true) abandon.abort();
      // First, so that nothing that is requeued comes here again.
      const stopped = consumer.stop();
      stop.abort();
      await stopped;
      await Promise.allSettled(underWay);
      await pool.close();
      await endNode(directory);
    },
  };
}
