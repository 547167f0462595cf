/** The render workers: which one takes a document, and the end of what a stuck one left running. */
import { extname } from 'node:path';
import type { Logger } from 'pino';
import { Piscina } from 'piscina';
import { resultWithin } from './chrome/deadline.ts';
import { killGroup } from './chrome/processes.ts';
import { WARM_ACCOUNTS } from './chrome/warm-tabs.ts';
import type {
  ChromeInfo,
  RenderResult,
  RenderTask,
  WorkerNotice,
  WorkerResult,
  WorkerSettings,
  WorkerTask,
} from './messages.ts';

/** The Chromes and the task of each render thread, by the notices that it sent. */
class RenderThreads {
  /** Chromes by thread. There are two while the next one takes over from one that is worn out. */
  readonly #chromes = new Map<number, Set<number>>();
  readonly #tasks = new Map<string, number>();
  missing: string | undefined;
  started = 0;

  note(notice: WorkerNotice): void {
    switch (notice.kind) {
      case 'chromeStarted': {
        const chromes = this.#chromes.get(notice.threadId) ?? new Set();
        this.#chromes.set(notice.threadId, chromes.add(notice.pid));
        this.missing = undefined;
        this.started += 1;
        break;
      }
      case 'chromeEnded':
        this.#chromes.get(notice.threadId)?.delete(notice.pid);
        break;
      case 'chromeMissing':
        this.missing = notice.message;
        break;
      case 'taskTaken':
        this.#tasks.set(notice.conversionId, notice.threadId);
        break;
    }
  }

  chromes(): readonly number[] {
    return [...this.#chromes.values()].flatMap((pids) => [...pids]);
  }

  killChromesOf(conversionId: string): void {
    this.#kill(this.#tasks.get(conversionId) ?? -1);
  }

  taskEnded(conversionId: string): void {
    this.#tasks.delete(conversionId);
  }

  /** Ends the Chromes of threads that are no more. */
  killOrphans(living: readonly number[]): void {
    for (const thread of this.#chromes.keys()) {
      if (living.includes(thread)) continue;
      this.#kill(thread);
      this.#chromes.delete(thread);
    }
  }

  #kill(thread: number): void {
    for (const pid of this.#chromes.get(thread) ?? []) killGroup(pid);
  }
}

/** Chooses a worker for a document: one with a warm tab of its account, else the longest idle. */
export class Affinity {
  /** The accounts that each worker is warm for. Workers and accounts used last come last. */
  readonly #accounts = new Map<number, readonly string[]>();

  /** @param idle workers that have nothing to do; at least one */
  choose(accountId: string, idle: readonly number[]): number | undefined {
    const used = [...this.#accounts.keys()];
    const lastUsed = (worker: number): number => used.indexOf(worker);
    const inTurn = idle.toSorted((a, b) => lastUsed(a) - lastUsed(b));
    const warm = inTurn.findLast((each) => this.#accounts.get(each)?.includes(accountId));
    const chosen = warm ?? inTurn[0];
    if (chosen !== undefined) this.#note(chosen, accountId);
    return chosen;
  }

  /** Workers that are no more are forgotten. */
  keep(living: readonly number[]): void {
    for (const worker of this.#accounts.keys()) {
      if (!living.includes(worker)) this.#accounts.delete(worker);
    }
  }

  #note(worker: number, accountId: string): void {
    const others = (this.#accounts.get(worker) ?? []).filter((each) => each !== accountId);
    this.#accounts.delete(worker);
    this.#accounts.set(worker, [...others, accountId].slice(-WARM_ACCOUNTS));
  }
}

/** A worker ends its job by its deadline; this long after it, the job is taken from it. */
const BACKSTOP_MS = 1_000;
/** The thread is ended this long after that. */
const ABORT_MS = 500;
/** The time for ending Chromes before the threads that own them. */
const SHUT_DOWN_MS = 3_000;

/** The worker's file, of the kind of this one: TypeScript in a clone, JavaScript in an installed package. */
const OWN_WORKER = new URL(`worker${extname(import.meta.filename)}`, import.meta.url);

export interface RenderPoolOptions {
  readonly concurrency: number;
  readonly worker: WorkerSettings;
  readonly logger: Logger;
  /** Another worker than ours, for tests. */
  readonly workerFile?: URL;
}

export interface RenderPool {
  readonly chrome: ChromeInfo;
  /** The reason why a worker has no Chrome, where one could not be started again. */
  missing(): string | undefined;
  /** The process groups of the Chromes that run, and the number of those that were started. */
  chromes(): { readonly running: readonly number[]; readonly started: number };
  /** Never rejects. After `abandon` is aborted, its Chrome and its thread are ended at once. */
  render(task: RenderTask, abandon?: AbortSignal): Promise<RenderResult>;
  /** Ends Chromes and threads; what hangs is left to `endNode` on the workers' directory. */
  close(): Promise<void>;
}

const TIMED_OUT: RenderResult = {
  kind: 'failed',
  code: 'timeout',
  message: 'The time limit was reached and the renderer had to be stopped.',
};

/** @throws {Error} with one line for the operator when Chrome does not start */
export async function startRenderPool(options: RenderPoolOptions): Promise<RenderPool> {
  const { concurrency, worker, logger } = options;
  const threads = new RenderThreads();
  const affinity = new Affinity();
  /** The account of the task that is being handed over: Piscina does not show it to its balancer. */
  let handedOver: string | undefined;
  const pool = new Piscina<WorkerTask, WorkerResult>({
    filename: (options.workerFile ?? OWN_WORKER).href,
    minThreads: concurrency,
    maxThreads: concurrency,
    maxQueue: concurrency,
    concurrentTasksPerWorker: 1,
    // Atomics would block an idle worker's event loop, and with it the socket to Chrome.
    atomics: 'disabled',
    workerData: worker,
    loadBalancer: (_task, workers) => {
      const idle = workers.filter((each) => each.currentUsage === 0);
      const ids = idle.map(({ id }) => id);
      const chosen = handedOver === undefined ? undefined : affinity.choose(handedOver, ids);
      return idle.find(({ id }) => id === chosen) ?? idle[0] ?? null;
    },
  });
  const killOrphans = (): void => {
    const living = pool.threads.map(({ threadId }) => threadId);
    threads.killOrphans(living);
    affinity.keep(living);
  };
  pool.on('message', (notice: WorkerNotice) => threads.note(notice));
  pool.on('error', (error: unknown) => {
    logger.error({ err: error }, 'a render worker failed');
    killOrphans();
  });

  const everyWorker = async (message: WorkerTask): Promise<WorkerResult[]> =>
    await Promise.all(Array.from({ length: concurrency }, () => pool.run(message)));
  const close = async (): Promise<void> => {
    await resultWithin(everyWorker({ kind: 'shutDown' }), SHUT_DOWN_MS).catch(() => undefined);
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

  const render = async (task: RenderTask, abandon?: AbortSignal): Promise<RenderResult> => {
    const abort = new AbortController();
    let late = false;
    const kill = setTimeout(() => {
      late = true;
      threads.killChromesOf(task.conversionId);
    }, task.deadlineMs + BACKSTOP_MS);
    const replace = setTimeout(() => abort.abort(), task.deadlineMs + BACKSTOP_MS + ABORT_MS);
    const leave = (): void => {
      threads.killChromesOf(task.conversionId);
      abort.abort();
    };
    abandon?.addEventListener('abort', leave);
    if (abandon?.aborted === true) leave();
    try {
      handedOver = task.accountId;
      const running = pool.run({ kind: 'render', task }, { signal: abort.signal });
      handedOver = undefined;
      const result = await running;
      const ended =
        result.kind === 'completed' || result.kind === 'failed' || result.kind === 'crashed';
      return ended && !late ? result : TIMED_OUT;
    } catch (error) {
      killOrphans();
      if (late) return TIMED_OUT;
      if (abandon?.aborted !== true) {
        logger.error({ err: error, conversionId: task.conversionId }, 'a render worker ended');
      }
      return { kind: 'crashed', code: 'renderer_failed', message: 'The render worker ended.' };
    } finally {
      clearTimeout(kill);
      clearTimeout(replace);
      abandon?.removeEventListener('abort', leave);
      threads.taskEnded(task.conversionId);
    }
  };

  return {
    chrome,
    missing: () => threads.missing,
    chromes: () => ({ running: threads.chromes(), started: threads.started }),
    render,
    close,
  };
}
