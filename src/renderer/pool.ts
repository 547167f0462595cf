/** The render threads: which one takes a document, and the end of what a stuck one left running. */
import { MessageChannel } from 'node:worker_threads';
import type { Logger } from 'pino';
import { threadFile, Threads } from '../async/threads.ts';
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
  WorkerNotice,
  WorkerSettings,
  WorkerTask,
} from './messages.ts';

/** A worker ends its job by its deadline; this long after it, the job is taken from it. */
const BACKSTOP_MS = 1_000;
/** The thread is ended this long after that. */
const ABORT_MS = 500;
/** A worker begins within this, even if its Chrome is not up. */
const BEGIN_MS = 30_000;
/** A document that is given up has this long; then it is taken from its worker, and the thread is ended this long after. */
const GIVE_UP_MS = 500;
/** The time for ending Chromes before the threads that own them. */
const SHUT_DOWN_MS = 3_000;

/** A look at the clock that comes this much later than every second means that the process stood still. */
const STOOD_STILL_MS = 5_000;
const LOOK_EACH_MS = 1_000;

const OWN_WORKER = threadFile(import.meta, 'worker');

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

/** A thread and its Chromes. */
interface Thread {
  readonly id: number;
  /** There are two while the next one takes over from one that is worn out. */
  readonly pids: Set<number>;
  /** The accounts that it is warm for, the one used last at the end. */
  accounts: readonly string[];
}

/** A document's account, and the thread that has it. */
interface Errand {
  readonly accountId: string;
  thread?: Thread;
}

function killChromes(thread: Thread | undefined): void {
  for (const pid of thread?.pids ?? []) killGroup(pid);
}

/**
 * Chooses a thread for a document: one with a warm tab of its account, else the longest idle.
 * @param idle the longest idle first
 */
export function chooseThread<T extends Pick<Thread, 'accounts'>>(
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
  const { concurrency, logger, worker, workerFile = OWN_WORKER } = options;
  /** By their ids, the longest idle first. */
  const threads = new Map<number, Thread>();
  let started = 0;
  let missing: string | undefined;

  function choose(idle: readonly number[], errand: Errand | undefined): number | undefined {
    for (const id of idle) {
      if (!threads.has(id)) threads.set(id, { id, pids: new Set(), accounts: [] });
    }
    const among = [...threads.values()].filter(({ id }) => idle.includes(id));
    if (errand === undefined) return among[0]?.id;
    const { accountId } = errand;
    const thread = chooseThread(accountId, among);
    if (thread === undefined) return undefined;
    thread.accounts = withLatest(thread.accounts, accountId);
    errand.thread = thread;
    return thread.id;
  }

  function hear(notice: WorkerNotice): void {
    if (notice.kind === 'chromeMissing') {
      missing = notice.message;
      return;
    }
    const { kind, pid } = notice;
    const thread = threads.get(notice.thread);
    if (kind === 'chromeEnded') thread?.pids.delete(pid);
    else {
      started += 1;
      missing = undefined;
      // Its thread may have ended since.
      if (thread === undefined) killGroup(pid);
      else thread.pids.add(pid);
    }
  }

  function forget(left: ReadonlySet<number>): void {
    for (const thread of threads.values()) {
      if (left.has(thread.id)) continue;
      killChromes(thread);
      threads.delete(thread.id);
    }
  }

  const pool = new Threads<WorkerTask, WorkerMessage, Errand>(workerFile, {
    minThreads: concurrency,
    maxThreads: concurrency,
    env: process.env,
    workerData: worker,
    choose,
    onMessage: (notice) => hear(notice as WorkerNotice),
    onEnd: forget,
    onError: (err) => logger.error({ err }, 'a render worker failed'),
  });

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

  const askEach = async (count: number, task: WorkerTask): Promise<WorkerMessage[]> =>
    await Promise.all(Array.from({ length: count }, () => pool.run(task)));

  const close = async (): Promise<void> => {
    clearInterval(watch);
    const ending = askEach(pool.idle, { kind: 'shutDown' }).catch(() => {});
    await resultWithin(ending, SHUT_DOWN_MS);
    await pool.close();
  };

  const renderInTime: RenderPool['render'] = async (task, unneeded) => {
    const errand: Errand = { accountId: task.accountId };
    const { port1, port2: port } = new MessageChannel();
    const abort = new AbortController();
    let late = false;
    let timers: NodeJS.Timeout[] = [];
    const end = (): void => abort.abort();
    const kill = (): void => {
      late = true;
      killChromes(errand.thread);
    };
    const limit = (ms: number): void => {
      for (const timer of timers) clearTimeout(timer);
      timers = [setTimeout(kill, ms), setTimeout(end, ms + ABORT_MS)];
    };
    const giveUp = (): void => {
      port1.postMessage('giveUp', []);
      timers.push(setTimeout(() => killChromes(errand.thread), GIVE_UP_MS));
      timers.push(setTimeout(end, 2 * GIVE_UP_MS));
    };
    unneeded?.addEventListener('abort', giveUp);
    limit(BEGIN_MS + task.deadlineMs + BACKSTOP_MS);
    port1.once('message', () => {
      if (unneeded?.aborted !== true) limit(task.deadlineMs + BACKSTOP_MS);
    });
    try {
      if (unneeded?.aborted === true) return ENDED;
      const asked = { kind: 'render', task, port } as const;
      const { signal } = abort;
      const running = pool.run(asked, { signal, transferList: [port], about: errand });
      const result = (await running) as RenderResult;
      return late ? TIMED_OUT : result;
    } catch (error) {
      if (late) return TIMED_OUT;
      if (unneeded?.aborted !== true) {
        logger.error({ err: error, conversionId: task.conversionId }, 'a render worker ended');
      }
      return ENDED;
    } finally {
      port1.close();
      for (const timer of timers) clearTimeout(timer);
      unneeded?.removeEventListener('abort', giveUp);
      const { thread } = errand;
      if (thread !== undefined && threads.delete(thread.id)) threads.set(thread.id, thread);
    }
  };

  const render: RenderPool['render'] = async (task, unneeded) => {
    const before = look();
    const result = await renderInTime(task, unneeded);
    const isLate = result.kind === 'failed' && result.code === 'timeout';
    // The thread may tell of its time limit before this one has looked at the clock again.
    return isLate && look() !== before ? STOOD_STILL : result;
  };

  const warmed = (await askEach(concurrency, { kind: 'warmUp' }).catch(async (error: unknown) => {
    await close();
    throw error;
  })) as WarmUpResult[];
  const cold = warmed.find((each) => each.kind === 'cold');
  const chrome = warmed.find((each) => each.kind === 'warm')?.chrome;
  if (cold !== undefined || chrome === undefined) {
    await close();
    throw new Error(cold?.message ?? 'No render worker started.');
  }
  return {
    chrome,
    missing: () => missing,
    chromes: () => ({ running: [...threads.values()].flatMap(({ pids }) => [...pids]), started }),
    render,
    close,
  };
}
