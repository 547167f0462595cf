/** The one way to start threads: a pool for each kind, whose threads start with the first task that needs them. */
import { extname } from 'node:path';
import type { Transferable } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { Semaphore } from './semaphore.ts';

/** The task was not done: its threads were closed. */
export class ThreadsClosed extends Error {}

export const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';

/** What a load balancer sees of a task lies under it. It is not sent. */
const ABOUT: unique symbol = Piscina.queueOptionsSymbol as never;

type PoolOptions = NonNullable<ConstructorParameters<typeof Piscina>[0]>;

export interface ThreadsOptions<About>
  extends Pick<PoolOptions, 'env' | 'minThreads' | 'resourceLimits' | 'workerData'> {
  readonly maxThreads: number;
  /** Threads that nobody needs for so many milliseconds end. They stay if there is none. */
  readonly idleTimeout?: number;
  /** Chooses one of the idle threads by its id, if one is to have the task at once. */
  readonly choose?: (idle: readonly number[], about: About | undefined) => number | undefined;
  readonly onMessage?: (message: unknown) => void;
  /** Hears the ids of the threads that are left once one has ended. */
  readonly onEnd?: (left: ReadonlySet<number>) => void;
  /** Hears of the error of a thread without a task. */
  readonly onError?: (error: Error) => void;
}

export interface RunOptions<About> {
  /** Ends the thread that has the task, if any. The task rejects with its reason. */
  readonly signal?: AbortSignal;
  readonly transferList?: readonly Transferable[];
  /** Goes to `choose`, and not to the thread. */
  readonly about?: About;
}

const { NODE_COMPILE_CACHE } = process.env;

/** A file beside its caller, and of its kind: TypeScript in a clone, JavaScript in an installed package. */
export const threadFile = ({ filename, url }: ImportMeta, name: string): URL =>
  new URL(`${name}${extname(filename)}`, url);

/** Threads that run the default export of a file, one task at a time each. Tasks begin in their order. */
export class Threads<Task extends object, Answer, About = undefined> {
  readonly #pool: Piscina<Task, Answer>;
  readonly #closing = new AbortController();
  /** Piscina gets no more tasks than it may have threads: it would mix up the order of those that wait. */
  readonly #places: Semaphore;
  /** Aborted when no thread is left for tasks whose threads did not start: Piscina would let them wait for the next task. */
  #starting = new AbortController();

  constructor(file: URL, { choose, onMessage, onEnd, onError, ...options }: ThreadsOptions<About>) {
    this.#places = new Semaphore(options.maxThreads);
    this.#pool = new Piscina({
      filename: file.href,
      minThreads: 0,
      idleTimeout: Infinity,
      // They would block an idle thread's event loop, and with it the pipe to Chrome.
      atomics: 'disabled',
      recordTiming: false,
      // Threads see no setting, such as a key, and no flag of ours, such as one that opens a debugger. Without the folder of
      // compiled modules a thread takes 100 ms more of processor time to start.
      env: NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE },
      execArgv: [],
      ...options,
      ...(choose && {
        loadBalancer: (task, workers) => {
          const idle = workers.filter((each) => each.currentUsage === 0 && !each.destroyed);
          const { [ABOUT]: about } = task as typeof task & Record<typeof ABOUT, About | null>;
          const chosen = choose(
            idle.map(({ id }) => id),
            about ?? undefined,
          );
          return idle.find(({ id }) => id === chosen) ?? null;
        },
      }),
    });
    let failure: Error;
    if (onMessage) this.#pool.on('message', onMessage);
    this.#pool.on('workerDestroy', ({ id }: { readonly id: number }) => {
      failure = new Error('The thread ended.');
      // The id of a thread that has exited is unknown by now, so its owner learns who is left.
      const left = new Set(this.#pool.threads.map(({ threadId }) => threadId));
      left.delete(id);
      onEnd?.(left);
      // Its own task learns of its error first.
      queueMicrotask(() => this.#rejectStarting(failure));
    });
    this.#pool.on('error', (error: Error) => {
      failure = error;
      onError?.(error);
    });
  }

  /** The threads that have no task. */
  get idle(): number {
    return this.#pool.idleThreads;
  }

  /**
   * Rejects with what the thread threw, or ended of.
   * @throws {ThreadsClosed}
   */
  async run(
    task: Task,
    { signal, transferList = [], about }: RunOptions<About> = {},
  ): Promise<Answer> {
    const stopping = this.#closing.signal;
    const release = await this.#places.acquire(anyOf(signal, stopping));
    stopping.throwIfAborted();
    if (release === undefined) throw signal?.reason;
    const ends = anyOf(signal, this.#starting.signal);
    try {
      const asked = about === undefined ? task : { ...task, [ABOUT]: about };
      return await this.#pool.run(asked, { signal: ends, transferList: [...transferList] });
    } catch (error) {
      if (stopping.aborted) throw new ThreadsClosed('The threads were closed.', { cause: error });
      const isAborted = ends.aborted && error instanceof Error && error.name === 'AbortError';
      throw isAborted ? ends.reason : error;
    } finally {
      release();
    }
  }

  /** Ends the threads, whatever they do. */
  async close(): Promise<void> {
    this.#closing.abort(new ThreadsClosed('The threads are closed.'));
    await this.#pool.destroy();
  }

  #rejectStarting(reason: Error): void {
    if (this.#pool.threads.length > 0) return;
    this.#starting.abort(reason);
    this.#starting = new AbortController();
  }
}

const anyOf = (signal: AbortSignal | undefined, ours: AbortSignal): AbortSignal =>
  signal === undefined ? ours : AbortSignal.any([signal, ours]);
