/** The render threads: which one takes a document, and the end of what a stuck one left running. */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { resultWithin } from '../async/with-timeout.ts';
import { killGroup } from './browser/processes.ts';
import { TIMEOUT_REASONS } from './chrome/deadline.ts';
import { WARM_ACCOUNTS } from './chrome/warm-tabs.ts';
import type {
  ChromeInfo,
  RenderResult,
  RenderTask,
  WarmUpResult,
  WorkerMessage,
  WorkerSettings,
  WorkerTask,
} from './messages.ts';

/** A worker ends its job by its deadline; this long after it, the job is taken from it. */
const BACKSTOP_MS = 1_000;
/** The thread is ended this long after that. */
const ABORT_MS = 500;
/** A document that is given up has this long; then it is taken from its worker, and the thread is ended this long after. */
const GIVE_UP_MS = 500;
/** The time for ending Chromes before the threads that own them. */
const SHUT_DOWN_MS = 3_000;

/** A look at the clock that comes this much later than every second means that the process stood still. */
const STOOD_STILL_MS = 5_000;
const LOOK_EACH_MS = 1_000;

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
  /**
   * Never rejects. After `unneeded` is aborted the page is ended, and within a second whatever does not answer.
   */
  render(task: RenderTask, unneeded?: AbortSignal): Promise<RenderResult>;
  /** Ends Chromes and threads; what hangs is left to `endNode` on the workers' directory. */
  close(): Promise<void>;
}

const TIMED_OUT: RenderResult = {
  kind: 'failed',
  code: 'timeout',
  message: `The time limit was reached and the renderer had to be stopped. ${TIMEOUT_REASONS}`,
};
const ENDED = {
  kind: 'crashed',
  code: 'renderer_failed',
  message: 'The render worker ended.',
} as const;
/** A frozen process finds the time limit over when it goes on: the document is not at fault. */
const STOOD_STILL = {
  kind: 'crashed',
  code: 'renderer_failed',
  message: "The renderer's process stood still.",
} as const;

/** Keeps count of the Chromes of all threads. */
interface Chromes {
  started: number;
  missing: string | undefined;
}

/** One thread and its Chromes. It does one task at a time. After it has ended, the next task starts another. */
class RenderThread {
  /** There are two while the next one takes over from one that is worn out. */
  readonly pids = new Set<number>();
  /** The accounts that it is warm for, the one used last at the end. */
  accounts: readonly string[] = [];
  readonly #options: RenderPoolOptions;
  readonly #chromes: Chromes;
  #worker: Worker | undefined;
  #asked = Promise.withResolvers<WorkerMessage>();

  constructor(options: RenderPoolOptions, chromes: Chromes) {
    this.#options = options;
    this.#chromes = chromes;
  }

  /** Rejects when the thread ends. */
  async ask(task: WorkerTask): Promise<WorkerMessage> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    worker.ref();
    this.#asked = Promise.withResolvers();
    worker.postMessage(task, []);
    return await this.#asked.promise.finally(() => worker.unref());
  }

  giveUp(): void {
    this.#worker?.postMessage({ kind: 'giveUp' } satisfies WorkerTask, []);
  }

  killChromes(): void {
    for (const pid of this.pids) killGroup(pid);
  }

  async end(): Promise<void> {
    this.killChromes();
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const { worker: settings, workerFile = OWN_WORKER, logger } = this.#options;
    return new Worker(workerFile, { workerData: settings })
      .on('message', (message: WorkerMessage) => this.#hear(message))
      .on('error', (error) => logger.error({ err: error }, 'a render worker failed'))
      .on('exit', () => {
        this.killChromes();
        this.pids.clear();
        this.accounts = [];
        this.#worker = undefined;
        this.#asked.reject(new Error(ENDED.message));
      });
  }

  #hear(message: WorkerMessage): void {
    if (message.kind === 'chromeStarted') {
      this.pids.add(message.pid);
      this.#chromes.started += 1;
      this.#chromes.missing = undefined;
    } else if (message.kind === 'chromeEnded') this.pids.delete(message.pid);
    else if (message.kind === 'chromeMissing') this.#chromes.missing = message.message;
    else this.#asked.resolve(message);
  }
}

/**
 * Chooses a thread for a document: one with a warm tab of its account, else the longest idle.
 * @param idle the longest idle first
 */
export function chooseThread<T extends Pick<RenderThread, 'accounts'>>(
  accountId: string,
  idle: readonly T[],
): T | undefined {
  return idle.findLast(({ accounts }) => accounts.includes(accountId)) ?? idle[0];
}

/** @returns the accounts that a thread is warm for once it has served this one */
export function withLatest(accounts: readonly string[], accountId: string): readonly string[] {
  return [...accounts.filter((each) => each !== accountId), accountId].slice(-WARM_ACCOUNTS);
}

/** @throws {Error} with one line for the operator when Chrome does not start */
export async function startRenderPool(options: RenderPoolOptions): Promise<RenderPool> {
  const chromes: Chromes = { started: 0, missing: undefined };
  const { concurrency, logger } = options;
  const threads = Array.from({ length: concurrency }, () => new RenderThread(options, chromes));
  const idle = [...threads];
  /** Those who wait for a thread. */
  const waiting: (() => void)[] = [];

  let standstills = 0;
  let lookedAt = performance.now();
  /** Counts the times that the process stood still, up to now. */
  const look = (): number => {
    const now = performance.now();
    if (now - lookedAt > LOOK_EACH_MS + STOOD_STILL_MS) standstills += 1;
    lookedAt = now;
    return standstills;
  };
  const watch = setInterval(look, LOOK_EACH_MS).unref();

  const close = async (): Promise<void> => {
    clearInterval(watch);
    const ending = idle.map((thread) => thread.ask({ kind: 'shutDown' }));
    await resultWithin(Promise.allSettled(ending), SHUT_DOWN_MS);
    await Promise.all(threads.map((thread) => thread.end()));
  };

  const take = async (accountId: string): Promise<RenderThread> => {
    for (;;) {
      const thread = chooseThread(accountId, idle);
      if (thread !== undefined) {
        idle.splice(idle.indexOf(thread), 1);
        thread.accounts = withLatest(thread.accounts, accountId);
        return thread;
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };

  const renderInTime: RenderPool['render'] = async (task, unneeded) => {
    const thread = await take(task.accountId);
    let late = false;
    const kill = setTimeout(() => {
      late = true;
      thread.killChromes();
    }, task.deadlineMs + BACKSTOP_MS);
    const end = (): void => void thread.end();
    const timers = [kill, setTimeout(end, task.deadlineMs + BACKSTOP_MS + ABORT_MS)];
    const giveUp = (): void => {
      thread.giveUp();
      timers.push(setTimeout(() => thread.killChromes(), GIVE_UP_MS));
      timers.push(setTimeout(end, 2 * GIVE_UP_MS));
    };
    unneeded?.addEventListener('abort', giveUp);
    try {
      if (unneeded?.aborted === true) return ENDED;
      const result = (await thread.ask({ kind: 'render', task })) as RenderResult;
      return late ? TIMED_OUT : result;
    } catch (error) {
      if (late) return TIMED_OUT;
      if (unneeded?.aborted !== true) {
        logger.error({ err: error, conversionId: task.conversionId }, 'a render worker ended');
      }
      return ENDED;
    } finally {
      for (const timer of timers) clearTimeout(timer);
      unneeded?.removeEventListener('abort', giveUp);
      idle.push(thread);
      waiting.shift()?.();
    }
  };

  const render: RenderPool['render'] = async (task, unneeded) => {
    const before = look();
    const result = await renderInTime(task, unneeded);
    const isLate = result.kind === 'failed' && result.code === 'timeout';
    // The thread may tell of its time limit before this one has looked at the clock again.
    return isLate && look() !== before ? STOOD_STILL : result;
  };

  const warmed = await Promise.all(
    threads.map(async (thread) => (await thread.ask({ kind: 'warmUp' })) as WarmUpResult),
  ).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const cold = warmed.find((each) => each.kind === 'cold');
  const chrome = warmed.find((each) => each.kind === 'warm')?.chrome;
  if (cold !== undefined || chrome === undefined) {
    await close();
    throw new Error(cold?.message ?? 'No render worker started.');
  }
  return {
    chrome,
    missing: () => chromes.missing,
    chromes: () => ({
      running: threads.flatMap(({ pids }) => [...pids]),
      started: chromes.started,
    }),
    render,
    close,
  };
}
