/** The render queue of one process: jobs wait in memory, and the log has them all. */
import { setImmediate } from 'node:timers/promises';
import { LAST_ATTEMPT } from '../domain/conversion.ts';
import { FairTurns, type FreeSlots } from './fair-turns.ts';
import type { RenderJob, RenderReport } from './messages.ts';
import type { Consumer, Delivery, RenderQueue } from './port.ts';

/** Between two tries to hand over a report that could not be recorded. */
const REPORT_RETRY_MS = 1000;

type ReportHandler = (report: RenderReport) => Promise<void>;

interface Pump {
  readonly slots: number;
  readonly handle: (delivery: Delivery) => Promise<void>;
  inHand: number;
  /** The number of jobs in hand that hold a slot. */
  holding: number;
}

/** Counts the jobs that may be taken now. At most twice as many as there are slots may be in hand. */
const freeSlots = ({ slots, holding, inHand }: Pump): number =>
  Math.min(slots - holding, 2 * slots - inHand);

export class InProcessRenderQueue implements RenderQueue {
  readonly countsTries: boolean = false;
  readonly #waiting: FairTurns;
  /** Every conversion that waits or is in a renderer's hands. */
  readonly #known = new Set<string>();
  readonly #pumps = new Set<Pump>();
  #onReport: ReportHandler | undefined;
  readonly #reportsWaiting = new Set<() => void>();
  #closed = false;

  /** @param now milliseconds of a clock that never goes back */
  constructor(now?: () => number) {
    this.#waiting = new FairTurns(now);
  }

  offer(job: RenderJob): Promise<void> {
    if (!this.#known.has(job.conversionId)) {
      this.#known.add(job.conversionId);
      this.#enqueue(job);
    }
    return Promise.resolve();
  }

  retain(isUnfinished: (conversionId: string) => boolean): Promise<void> {
    for (const id of this.#waiting.retain(isUnfinished)) this.#known.delete(id);
    return Promise.resolve();
  }

  consume(slots: number, handle: (delivery: Delivery) => Promise<void>): Consumer {
    const pump: Pump = { slots, handle, inHand: 0, holding: 0 };
    this.#pumps.add(pump);
    this.#pump();
    return {
      stop: () => {
        this.#pumps.delete(pump);
        return Promise.resolve();
      },
    };
  }

  async report(report: RenderReport): Promise<void> {
    this.#waiting.learn(report);
    while (!this.#closed) {
      const handle = this.#onReport;
      if (!handle) {
        await this.#nextTry();
        continue;
      }
      try {
        return await handle(report);
      } catch {
        // The handler has logged why; what the renderer found out must not be lost for it.
        await this.#nextTry(REPORT_RETRY_MS);
      }
    }
    throw new Error('The render queue is closed: the report was not recorded.');
  }

  reports(handle: ReportHandler): Consumer {
    this.#onReport = handle;
    this.#wakeReports();
    return {
      stop: () => {
        if (this.#onReport === handle) this.#onReport = undefined;
        return Promise.resolve();
      },
    };
  }

  waiting(): number {
    return this.#waiting.size;
  }

  close(): Promise<void> {
    this.#closed = true;
    this.#pumps.clear();
    this.#wakeReports();
    return Promise.resolve();
  }

  /** Resolves when reports are followed anew, when the queue is closed, or after that time. */
  async #nextTry(afterMs?: number): Promise<void> {
    if (this.#closed) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#reportsWaiting.delete(wake);
        resolve();
      };
      const timer = afterMs === undefined ? undefined : setTimeout(wake, afterMs);
      this.#reportsWaiting.add(wake);
    });
  }

  #wakeReports(): void {
    for (const wake of this.#reportsWaiting) wake();
  }

  #enqueue(job: RenderJob): void {
    this.#waiting.add(job);
    this.#pump();
  }

  #pump(): void {
    for (const pump of this.#pumps) {
      while (freeSlots(pump) > 0) {
        const job = this.#waiting.take(this.#slots());
        if (!job) return;
        this.#waiting.begin(job.conversionId);
        pump.inHand += 1;
        pump.holding += 1;
        void this.#deliver(pump, job);
      }
    }
  }

  #slots(): FreeSlots {
    let [free, total] = [0, 0];
    for (const pump of this.#pumps) {
      free += freeSlots(pump);
      total += pump.slots;
    }
    return { free, total };
  }

  async #deliver(pump: Pump, job: RenderJob): Promise<void> {
    let ended = false;
    let holds = true;
    const leaveSlot = (): void => {
      if (holds) pump.holding -= 1;
      holds = false;
    };
    const end = (next: () => void): Promise<void> => {
      if (!ended) {
        ended = true;
        this.#waiting.release(job.conversionId);
        next();
      }
      return Promise.resolve();
    };
    const attempt = Math.min(job.attempt + 1, LAST_ATTEMPT);
    const giveBack = () => end(() => this.#enqueue({ ...job, attempt }));
    try {
      await pump.handle({
        job,
        releaseSlot: () => {
          if (ended) return;
          leaveSlot();
          this.#waiting.release(job.conversionId);
          this.#pump();
        },
        done: () => end(() => this.#known.delete(job.conversionId)),
        giveBack,
        putBack: () => end(() => this.#enqueue(job)),
      });
    } catch {
      // The renderer logs its own faults; here it only matters that the job is not lost, and that
      // one which fails at once, every time, leaves the event loop to others.
      await setImmediate();
    } finally {
      // A handler that neither finished nor gave back has failed: nothing may stay in its hands.
      await giveBack();
      leaveSlot();
      pump.inHand -= 1;
      this.#pump();
    }
  }
}
