/** The render queue of one process: jobs wait in memory, and the log has them all. */
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { FairTurns, type FreeSlots } from './fair-turns.ts';
import { backOffMs, handOver } from './hand-over.ts';
import type {
  Recorded,
  RenderJob,
  RenderReport,
  SigningAnswer,
  SigningRequest,
} from './messages.ts';
import type { Consumer, Delivery, RenderQueue } from './port.ts';

/** The pause before a report is handed over again that could not be recorded, or that nobody follows. */
const REPORT_RETRY_MS = 500;

interface Handlers {
  readonly report: (report: RenderReport) => Promise<Recorded>;
  readonly sign: ((request: SigningRequest) => Promise<SigningAnswer>) | undefined;
}

interface Renderer {
  readonly slots: number;
  readonly handle: (delivery: Delivery) => Promise<void>;
  /** The number of its deliveries, and of those that hold a slot. */
  inFlight: number;
  holding: number;
}

/** Counts the jobs that may be taken now. At most twice as many as there are slots may be in flight. */
const freeSlots = ({ slots, holding, inFlight }: Renderer): number =>
  Math.min(slots - holding, 2 * slots - inFlight);

export class InProcessRenderQueue implements RenderQueue {
  readonly #waiting: FairTurns;
  /** Every conversion that waits or is in flight. */
  readonly #known = new Set<string>();
  /** The number of failed tries of each that had one. */
  readonly #failures = new Map<string, number>();
  /** Jobs that wait for the end of a pause, and those that renderers have. */
  readonly #pauses = new Map<string, NodeJS.Timeout>();
  readonly #inFlight = new Map<string, AbortController>();
  readonly #renderers = new Set<Renderer>();
  #handlers: Handlers | undefined;
  readonly #closing = new AbortController();

  /** @param now milliseconds of a clock that never goes back */
  constructor(now?: () => number) {
    this.#waiting = new FairTurns(now);
  }

  has(conversionId: string): boolean {
    return this.#known.has(conversionId);
  }

  offer(job: RenderJob): Promise<void> {
    if (!this.has(job.conversionId)) {
      this.#known.add(job.conversionId);
      this.#enqueue(job);
    }
    return Promise.resolve();
  }

  retain(isUnfinished: (conversionId: string) => boolean): Promise<void> {
    for (const id of this.#waiting.retain(isUnfinished)) this.#forget(id);
    return Promise.resolve();
  }

  discard(conversionIds: ReadonlySet<string>): Promise<void> {
    this.#waiting.retain((id) => !conversionIds.has(id));
    for (const id of conversionIds) {
      const inFlight = this.#inFlight.get(id);
      // A renderer's own end forgets it.
      if (inFlight !== undefined) inFlight.abort();
      else this.#forget(id);
    }
    return Promise.resolve();
  }

  consume(slots: number, handle: (delivery: Delivery) => Promise<void>): Consumer {
    const renderer: Renderer = { slots, handle, inFlight: 0, holding: 0 };
    this.#renderers.add(renderer);
    this.#handOut();
    return {
      stop: () => {
        this.#renderers.delete(renderer);
        return Promise.resolve();
      },
    };
  }

  report(report: RenderReport): Promise<Recorded> {
    if (report.kind === 'failed') this.#waiting.learn(report);
    return this.#untilAnswered((handlers) => handlers.report(report));
  }

  sign(request: SigningRequest): Promise<SigningAnswer> {
    return this.#untilAnswered(({ sign }) => sign?.(request));
  }

  async #untilAnswered<T>(ask: (handlers: Handlers) => Promise<T> | undefined): Promise<T> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        const answer = this.#handlers && ask(this.#handlers);
        if (answer) return await answer;
      } catch {
        // The handler has logged why; what the renderer found out must not be lost for it.
      }
      await delay(REPORT_RETRY_MS, undefined, { signal }).catch(() => {});
    }
    throw new Error('The render queue is closed: the report was not recorded.');
  }

  onReport(report: Handlers['report'], sign?: Handlers['sign']): Consumer {
    const handlers = { report, sign };
    this.#handlers = handlers;
    return {
      stop: () => {
        if (this.#handlers === handlers) this.#handlers = undefined;
        return Promise.resolve();
      },
    };
  }

  waiting(): number {
    return this.#waiting.size;
  }

  waitingOf(accountId: string, priority?: 'normal'): number {
    return this.#waiting.sizeOf(accountId, priority);
  }

  close(): Promise<void> {
    this.#closing.abort();
    for (const pause of this.#pauses.values()) clearTimeout(pause);
    this.#renderers.clear();
    return Promise.resolve();
  }

  #forget(conversionId: string): void {
    clearTimeout(this.#pauses.get(conversionId));
    this.#pauses.delete(conversionId);
    this.#known.delete(conversionId);
    this.#failures.delete(conversionId);
  }

  #enqueueLater(job: RenderJob): void {
    if (this.#closing.signal.aborted) return;
    const failures = this.#failures.get(job.conversionId) ?? 0;
    this.#failures.set(job.conversionId, failures + 1);
    const pause = setTimeout(() => {
      this.#pauses.delete(job.conversionId);
      this.#enqueue(job);
    }, backOffMs(failures));
    this.#pauses.set(job.conversionId, pause);
  }

  #enqueue(job: RenderJob): void {
    this.#waiting.add(job);
    this.#handOut();
  }

  #handOut(): void {
    for (const renderer of this.#renderers) {
      while (freeSlots(renderer) > 0) {
        const job = this.#waiting.take(this.#slots());
        if (!job) return;
        this.#waiting.begin(job.conversionId);
        renderer.inFlight += 1;
        renderer.holding += 1;
        void this.#deliver(renderer, job);
      }
    }
  }

  #slots(): FreeSlots {
    let [free, total] = [0, 0];
    for (const renderer of this.#renderers) {
      free += freeSlots(renderer);
      total += renderer.slots;
    }
    return { free, total };
  }

  async #deliver(renderer: Renderer, job: RenderJob): Promise<void> {
    const { conversionId } = job;
    let holds = true;
    const release = (): void => {
      if (holds) renderer.holding -= 1;
      holds = false;
      this.#waiting.release(conversionId);
    };
    const end = (next: () => void) => (): void => {
      this.#waiting.release(conversionId);
      next();
    };
    const ends = {
      releaseSlot: () => {
        release();
        this.#handOut();
      },
      ack: end(() => this.#forget(conversionId)),
      nack: end(() => this.#enqueueLater({ ...job, retry: true })),
      requeue: end(() => this.#enqueue(job)),
    };
    const unneeded = new AbortController();
    this.#inFlight.set(conversionId, unneeded);
    // A job that fails at once, every time, must leave the event loop to others.
    if (!(await handOver(job, ends, unneeded.signal, renderer.handle))) await turn();
    if (this.#inFlight.get(conversionId) === unneeded) this.#inFlight.delete(conversionId);
    release();
    renderer.inFlight -= 1;
    this.#handOut();
  }
}
