/** The render workers, and the hand that ends what a stuck one left running. */

import type { Logger } from 'pino';
import { Piscina } from 'piscina';
import { within } from './chrome/deadline.ts';
import { killGroup } from './chrome/processes.ts';
import type {
  ChromeInfo,
  RenderResult,
  RenderTask,
  WorkerNotice,
  WorkerResult,
  WorkerSettings,
  WorkerTask,
} from './messages.ts';

/** A worker ends its job by its deadline; this long after it, the job is taken from it. */
const BACKSTOP_MS = 1_000;
/** And this long after that, its thread. */
const ABORT_MS = 500;
/** For ending Chromes before the threads that own them. */
const SHUT_DOWN_MS = 3_000;

export interface RenderPoolOptions {
  readonly concurrency: number;
  readonly worker: WorkerSettings;
  readonly logger: Logger;
  /** Another worker than ours, for tests. */
  readonly workerFile?: URL;
}

export interface RenderPool {
  readonly chrome: ChromeInfo;
  /** Why a worker has no Chrome, where one could not be started again. */
  missing(): string | undefined;
  /** Never rejects. */
  render(task: RenderTask): Promise<RenderResult>;
  /** Ends Chromes and threads; what hangs is left to `endNode` on the workers' directory. */
  close(): Promise<void>;
}

const TIMED_OUT: RenderResult = {
  kind: 'failed',
  code: 'timeout',
  message: 'The time limit was reached and the renderer had to be stopped.',
};

/** Which Chrome and which task each thread has, by what the threads told. */
class Threads {
  readonly #chromes = new Map<number, number>();
  readonly #tasks = new Map<string, number>();
  missing: string | undefined;

  note(notice: WorkerNotice): void {
    switch (notice.kind) {
      case 'chromeStarted':
        this.#chromes.set(notice.threadId, notice.pid);
        this.missing = undefined;
        break;
      case 'chromeEnded':
        if (this.#chromes.get(notice.threadId) === notice.pid) {
          this.#chromes.delete(notice.threadId);
        }
        break;
      case 'chromeMissing':
        this.missing = notice.message;
        break;
      case 'taskTaken':
        this.#tasks.set(notice.conversionId, notice.threadId);
        break;
    }
  }

  killChromeOf(conversionId: string): void {
    const pid = this.#chromes.get(this.#tasks.get(conversionId) ?? -1);
    if (pid !== undefined) killGroup(pid);
  }

  taskEnded(conversionId: string): void {
    this.#tasks.delete(conversionId);
  }

  /** Ends the Chromes of threads that are no more. */
  killOrphans(living: readonly number[]): void {
    for (const [thread, pid] of this.#chromes) {
      if (living.includes(thread)) continue;
      this.#chromes.delete(thread);
      killGroup(pid);
    }
  }
}

/** @throws {Error} with one line for the operator when Chrome does not start */
export async function startRenderPool(options: RenderPoolOptions): Promise<RenderPool> {
  const { concurrency, worker, logger } = options;
  const threads = new Threads();
  const pool = new Piscina<WorkerTask, WorkerResult>({
    filename: (options.workerFile ?? new URL('worker.ts', import.meta.url)).href,
    minThreads: concurrency,
    maxThreads: concurrency,
    maxQueue: concurrency,
    concurrentTasksPerWorker: 1,
    // Atomics would block an idle worker's event loop, and with it the socket to Chrome.
    atomics: 'disabled',
    workerData: worker,
  });
  const killOrphans = (): void => threads.killOrphans(pool.threads.map(({ threadId }) => threadId));
  pool.on('message', (notice: WorkerNotice) => threads.note(notice));
  pool.on('error', (error: unknown) => {
    logger.error({ err: error }, 'a render worker failed');
    killOrphans();
  });

  const everyWorker = async (message: WorkerTask): Promise<WorkerResult[]> =>
    await Promise.all(Array.from({ length: concurrency }, () => pool.run(message)));
  const close = async (): Promise<void> => {
    await within(everyWorker({ kind: 'shutDown' }), SHUT_DOWN_MS).catch(() => undefined);
    await pool.destroy();
  };

  const warmed = await everyWorker({ kind: 'warmUp' });
  let chrome: ChromeInfo | undefined;
  for (const each of warmed) {
    if (each.kind === 'warm') chrome = each.chrome;
    else if (each.kind === 'cold') {
      await close();
      throw new Error(each.message);
    }
  }
  if (chrome === undefined) throw new Error('No render worker started.');

  const render = async (task: RenderTask): Promise<RenderResult> => {
    const abort = new AbortController();
    let late = false;
    const kill = setTimeout(() => {
      late = true;
      threads.killChromeOf(task.conversionId);
    }, task.deadlineMs + BACKSTOP_MS);
    const replace = setTimeout(() => abort.abort(), task.deadlineMs + BACKSTOP_MS + ABORT_MS);
    try {
      const result = await pool.run({ kind: 'render', task }, { signal: abort.signal });
      const ended =
        result.kind === 'completed' || result.kind === 'failed' || result.kind === 'crashed';
      return ended && !late ? result : TIMED_OUT;
    } catch (error) {
      killOrphans();
      if (late) return TIMED_OUT;
      logger.error({ err: error, conversionId: task.conversionId }, 'a render worker ended');
      return { kind: 'crashed', code: 'renderer_failed', message: 'The render worker ended.' };
    } finally {
      clearTimeout(kill);
      clearTimeout(replace);
      threads.taskEnded(task.conversionId);
    }
  };

  return {
    chrome,
    missing: () => threads.missing,
    render,
    close,
  };
}
