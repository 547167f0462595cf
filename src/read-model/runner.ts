/** Keeps a read model up with the log: subscription → projections → one transaction per batch. */
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type { Logger } from 'pino';
import {
  type EventStore,
  LogDiffers,
  type RecordedEvent,
  type Subscription,
} from '../event-store/port.ts';
import { findNext } from '../event-store/look-again.ts';
import { ProjectionFailed } from './batch-writer.ts';
import type { ReadModel } from './database.ts';
import { isDamage } from './generations.ts';
import { placeOf } from './last-event.ts';
import { rebuildReadModel } from './rebuild.ts';

type Listener = (events: readonly RecordedEvent[]) => void;

/** Events read at once when it pulls by itself. */
const PULL_BATCH = 1_000;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;

export interface ProjectionRunnerOptions {
  readonly store: EventStore;
  readonly readModel: ReadModel;
  readonly logger?: Logger;
}

interface Waiter {
  readonly position: bigint;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export class ProjectionRunner {
  readonly #store: EventStore;
  readonly #readModel: ReadModel;
  readonly #logger: Logger | undefined;
  /** With the types of events that each asks for; undefined: all. */
  readonly #listeners = new Map<Listener, readonly RecordedEvent['type'][] | undefined>();
  readonly #waiters = new Set<Waiter>();
  readonly #stop = new AbortController();
  #ended: Promise<void> | undefined;
  #failure: Error | undefined;
  /** An attempt to follow the log failed, and the read model has not been seen to reach its head since. */
  #faltered = false;
  #subscription: Subscription | undefined;
  #pulling: Promise<void> | undefined;
  /** The log was read to its end. */
  #hasRead = false;
  /** The position that was reached in a generation that is not in use yet. */
  #building: bigint | undefined;
  #endReopening = (): void => {};

  constructor({ store, readModel, logger }: ProjectionRunnerOptions) {
    this.#store = store;
    this.#readModel = readModel;
    this.#logger = logger;
  }

  /** Subscribes from the own checkpoint and stays subscribed, whatever happens to the store. */
  start(): void {
    if (this.#ended !== undefined) return;
    // Another generation may be behind this one, and no new event may come for long.
    this.#endReopening = this.#readModel.onReopen(() => {
      this.#pull().catch((error: unknown) => this.#logger?.warn({ err: error }, 'catch-up failed'));
    });
    this.#ended = this.#supervise();
    this.#ended.catch(() => {});
  }

  /**
   * Resolves after `stop()`. Rejects with {@link ProjectionFailed} when a projection cannot go on, with
   * {@link LogDiffers}, and when the read model is damaged: the next opening rebuilds it.
   */
  get ended(): Promise<void> {
    return this.#ended ?? Promise.resolve();
  }

  /** Every projection holds all events up to this position. */
  checkpoint(): bigint {
    return this.#readModel.writer().checkpoint();
  }

  /** The position of the last event that was read, also while a first generation is built. */
  progress(): bigint {
    return this.#building ?? this.#readModel.reached();
  }

  /**
   * Resolves when the read model holds everything up to `position`. Reads on at once where it does
   * not, instead of waiting for the subscription's turn; works without `start()` too.
   * @throws {ProjectionFailed} it never will
   */
  async waitFor(position: bigint, signal?: AbortSignal): Promise<void> {
    if (!(await this.#readThrough(position, signal))) await this.#committed(position, signal);
  }

  /**
   * True while it cannot follow the log, for now or for good.
   * @throws {EventStoreUnavailable}
   */
  async isStuck(): Promise<boolean> {
    if (this.#failure !== undefined) return true;
    if (this.#faltered) this.#faltered = this.#readModel.reached() < (await this.#store.head());
    return this.#faltered;
  }

  /**
   * Calls `listener` with each batch that this process has seen committed, or with those that have an event of one of the
   * types; returns how to end that.
   */
  onCommit(listener: Listener, types?: readonly RecordedEvent['type'][]): () => void {
    this.#listeners.set(listener, types);
    return () => this.#listeners.delete(listener);
  }

  async stop(): Promise<void> {
    this.#endReopening();
    this.#stop.abort();
    await this.#subscription?.stop();
    await this.#ended?.catch(() => {});
    await this.#pulling?.catch(() => {});
    this.#fail(new Error('The projections were stopped.'));
  }

  async #supervise(): Promise<void> {
    let wait = FIRST_RETRY_MS;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#follow(() => {
          wait = FIRST_RETRY_MS;
        });
      } catch (error) {
        const failure = forGood(error);
        if (failure !== undefined) {
          // Its line is the operator's, and is logged by who stops the service.
          if (!(error instanceof LogDiffers)) {
            this.#logger?.error({ err: error }, 'projections stopped');
          }
          this.#fail(failure);
          if (isDamage(error)) {
            // The next start finds an empty one: it is not checked before it is used.
            this.#endReopening();
            this.#readModel.startAnew();
          }
          throw failure;
        }
        this.#faltered = true;
        this.#logger?.warn({ err: error, retryMs: wait }, 'projections will be taken up again');
        await delay(wait, undefined, { signal }).catch(() => {});
        wait = Math.min(wait * 2, LONGEST_RETRY_MS);
      }
    }
  }

  /** One subscription, to its end. It begins where the log ended: what was there is read by pages, which is faster. */
  async #follow(progressed: () => void): Promise<void> {
    if ((await placeOf(this.#store, this.#readModel.lastEvent())) === 'another') {
      throw new LogDiffers('The events of the log are at other positions than before.');
    }
    await this.#pull();
    let handed = this.checkpoint();
    const subscription = this.#store.subscribe(handed, async (events) => {
      const last = events.at(-1);
      if (last === undefined) return;
      if (!this.#apply(handed, events) && !(await this.#readThrough(last.position))) {
        throw new Error(`The log was read to its end without its position ${last.position}.`);
      }
      handed = last.position;
      progressed();
    });
    this.#subscription = subscription;
    if (this.#stop.signal.aborted) await subscription.stop();
    await subscription.ended;
  }

  /** Reads on; false where the log ends before `position`. */
  async #readThrough(position: bigint, signal?: AbortSignal): Promise<boolean> {
    for (let readToEnd = false; ; ) {
      signal?.throwIfAborted();
      if (this.#failure !== undefined) throw this.#failure;
      this.checkpoint();
      if (this.#readModel.reached() >= position) return true;
      if (readToEnd) return false;
      // A pull under way may have looked at the log too early for this position.
      readToEnd = this.#pulling === undefined;
      await this.#pull();
    }
  }

  /** Applies what the log holds beyond the checkpoint. One at a time. */
  #pull(): Promise<void> {
    this.#pulling ??= this.#readOn().finally(() => {
      this.#pulling = undefined;
    });
    return this.#pulling;
  }

  async #readOn(): Promise<void> {
    this.#answerWaiters();
    for (;;) {
      const writer = this.#readModel.writer();
      const after = writer.checkpoint();
      const events = await this.#store.readAll({ after, limit: PULL_BATCH });
      if (events.length === PULL_BATCH && this.#isAtFirst()) await this.#build();
      else if (events.length > 0) this.#apply(after, events);
      if (events.length < PULL_BATCH) {
        this.#hasRead = true;
        // Another generation may not have reached the end.
        if (this.#readModel.writer() !== writer) return;
        if (writer.guard?.isBehind() !== true) return writer.guard?.checkEnd();
        const next = await findNext(this.#store, writer.checkpoint());
        if (next === undefined) return writer.guard.checkEnd();
      }
      if (this.#stop.signal.aborted) return;
      // A long catch-up must not keep the event loop from everyone else.
      await setImmediate();
    }
  }

  /** True where the generation in use is empty and nobody has heard of a commit. */
  #isAtFirst(): boolean {
    return !this.#hasRead && this.#readModel.lastEvent() === undefined;
  }

  /** Builds a generation in the place of an empty one, in less time than it takes to fill that. */
  async #build(): Promise<void> {
    const { signal } = this.#stop;
    try {
      await rebuildReadModel({
        readModel: this.#readModel,
        store: this.#store,
        signal,
        batch: PULL_BATCH,
        onProgress: ({ position }) => {
          this.#building = position;
        },
      });
      this.#readModel.refresh();
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#building = undefined;
    }
  }

  /** False where the generation in use lacks events before these. */
  #apply(after: bigint, events: readonly RecordedEvent[]): boolean {
    let outcome = this.#readModel.writer().apply(after, events);
    // Its successor is in use by now; that one may be superseded too, but hardly at once.
    if (outcome === 'superseded') outcome = this.#readModel.writer().apply(after, events);
    if (outcome === 'superseded') throw new Error('The read model is replaced all the time.');
    if (outcome === 'applied') this.#afterCommit(events);
    return outcome === 'applied';
  }

  #answerWaiters(): void {
    const reached = this.#readModel.reached();
    for (const waiter of this.#waiters) if (waiter.position <= reached) waiter.resolve();
  }

  #afterCommit(events: readonly RecordedEvent[]): void {
    this.#answerWaiters();
    const seen = new Set(events.map(({ type }) => type));
    for (const [listener, types] of this.#listeners) {
      if (types?.some((type) => seen.has(type)) === false) continue;
      try {
        listener(events);
      } catch (error) {
        this.#logger?.error({ err: error }, 'a listener of the projections failed');
      }
    }
  }

  async #committed(position: bigint, signal: AbortSignal | undefined): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { position, resolve, reject };
    const abort = (): void => reject(signal?.reason as Error);
    signal?.addEventListener('abort', abort, { once: true });
    this.#waiters.add(waiter);
    try {
      await promise;
    } finally {
      this.#waiters.delete(waiter);
      signal?.removeEventListener('abort', abort);
    }
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const waiter of this.#waiters) waiter.reject(error);
  }
}

/** The reason to stop for good, for the operator; undefined where another try may succeed. */
function forGood(error: unknown): Error | undefined {
  if (error instanceof ProjectionFailed || error instanceof LogDiffers) return error;
  if (!isDamage(error)) return undefined;
  const remedy = 'The read model is damaged; start again, and it is rebuilt from the log.';
  return new Error(remedy, { cause: error });
}
