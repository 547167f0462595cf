/**
 * The threads that fill templates. One that takes too long or too much memory is ended, and all others go on. Accounts
 * take turns, with one job of each at a time: nobody keeps all threads busy alone.
 */
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ServiceError } from '../errors/errors.ts';
import type { Filled, FillJob, FillProblem, FillReport } from './messages.ts';

/** The thread's file, of the kind of this one: TypeScript in a clone, JavaScript in an installed package. */
const THREAD = join(import.meta.dirname, `fill-worker${extname(import.meta.filename)}`);
const THREADS = 2;
/** For one of the data, from when the thread has the job. The library's own limit is shorter, and names the place. */
const STEP_MS = 3_000;
/** For all data of one job. */
const JOB_MS = 20_000;
/** A busy machine may take long to start a thread. */
const START_MS = 30_000;
const HEAP_MB = 128;
const RETRY_SECONDS = 2;

const SLOW = `It takes more than ${STEP_MS / 1000} s to fill the template and to check its data.`;
const LONG = `It takes more than ${JOB_MS / 1000} s to fill the template with all data. Send smaller batches.`;
const LARGE = 'It takes too much memory to fill the template.';

export interface FillResult {
  /** One for each of the data, in their order; fewer where the job ended before. */
  readonly filled: readonly Filled[];
  /** What is wrong with the template itself, or with what it took. */
  readonly problems: readonly FillProblem[];
}

interface Asked {
  readonly job: FillJob;
  readonly outcome: PromiseWithResolvers<FillResult>;
}

export class TemplateThreads {
  readonly #idle: Worker[] = [];
  readonly #all = new Set<Worker>();
  /** By account, in the order of their turns. */
  readonly #waiting = new Map<string, Asked[]>();
  readonly #running = new Set<string>();
  #isClosed = false;

  /** @throws {ServiceError} `service_unavailable` where the service stops, or no thread starts */
  async fill(accountId: string, job: FillJob): Promise<FillResult> {
    if (this.#isClosed) throw stopped();
    const asked: Asked = { job, outcome: Promise.withResolvers<FillResult>() };
    const own = this.#waiting.get(accountId);
    if (own === undefined) this.#waiting.set(accountId, [asked]);
    else own.push(asked);
    this.#next();
    return await asked.outcome.promise;
  }

  /** Takes no more jobs. Those under way are ended. */
  close(): void {
    this.#isClosed = true;
    for (const worker of this.#idle.splice(0)) void worker.terminate();
  }

  #next(): void {
    for (const [accountId, jobs] of this.#waiting) {
      if (this.#running.size >= THREADS) return;
      if (this.#running.has(accountId)) continue;
      const asked = jobs.shift();
      // It goes behind the others.
      this.#waiting.delete(accountId);
      if (jobs.length > 0) this.#waiting.set(accountId, jobs);
      if (asked === undefined) continue;
      this.#running.add(accountId);
      void this.#run(asked)
        .then(asked.outcome.resolve, asked.outcome.reject)
        .finally(() => {
          this.#running.delete(accountId);
          this.#next();
        });
    }
  }

  async #run({ job }: Asked): Promise<FillResult> {
    const worker = this.#idle.pop() ?? (await this.#start());
    const filled: Filled[] = [];
    const ended = Promise.withResolvers<readonly FillProblem[]>();
    const endWith = (message: string): void => {
      worker.off('message', onReport);
      this.#all.delete(worker);
      void worker.terminate();
      ended.resolve([{ path: ['html'], message }]);
    };
    let step = setTimeout(endWith, STEP_MS, SLOW);
    const whole = setTimeout(endWith, JOB_MS, LONG);
    const onReport = (report: FillReport): void => {
      if (report.kind === 'done') return ended.resolve(report.problems);
      if (report.kind !== 'filled') return;
      filled.push(report.filled);
      clearTimeout(step);
      step = setTimeout(endWith, STEP_MS, SLOW);
    };
    let failure: unknown;
    const onError = (error: unknown): void => {
      failure = error;
    };
    const onExit = (): void => {
      const { code } = { ...(failure as { code?: unknown } | undefined) };
      if (code === 'ERR_WORKER_OUT_OF_MEMORY') endWith(LARGE);
      else ended.reject(failure ?? stopped());
    };
    worker.on('message', onReport).on('error', onError).on('exit', onExit);
    try {
      // It is waited for by requests alone, which keep the process.
      worker.postMessage(job, []);
      const problems = await ended.promise;
      if (this.#isClosed) void worker.terminate();
      else if (this.#all.has(worker)) this.#idle.push(worker);
      return { filled, problems };
    } finally {
      clearTimeout(step);
      clearTimeout(whole);
      worker.off('message', onReport).off('error', onError).off('exit', onExit);
    }
  }

  async #start(): Promise<Worker> {
    const worker = new Worker(THREAD, {
      env: {},
      resourceLimits: {
        maxOldGenerationSizeMb: HEAP_MB,
        maxYoungGenerationSizeMb: 16,
        stackSizeMb: 4,
      },
    });
    this.#all.add(worker);
    worker.unref();
    worker.once('exit', () => {
      this.#all.delete(worker);
      const at = this.#idle.indexOf(worker);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    const started = Promise.withResolvers<void>();
    const late = setTimeout(() => void worker.terminate(), START_MS);
    const onExit = (): void => started.reject(stopped());
    worker.once('message', () => started.resolve()).once('exit', onExit);
    worker.on('error', (cause) => started.reject(cause));
    try {
      await started.promise;
    } finally {
      clearTimeout(late);
      worker.off('exit', onExit);
    }
    return worker;
  }
}

// Another node may answer, or the next thread.
const stopped = (): ServiceError =>
  new ServiceError('service_unavailable', undefined, { retryAfter: RETRY_SECONDS });
