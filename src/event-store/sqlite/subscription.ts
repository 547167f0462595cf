import { setImmediate } from 'node:timers/promises';
import type { BatchHandler, RecordedEvent, Subscription } from '../port.ts';

/** Events handed over at once. */
const BATCH = 500;

/** Reads on from where it is, hands over, and sleeps until it is woken when there is nothing more. */
export class SqliteSubscription implements Subscription {
  readonly ended: Promise<void>;
  readonly #read: (after: bigint, limit: number) => readonly RecordedEvent[];
  readonly #handle: BatchHandler;
  #after: bigint;
  #stopped = false;
  #woken = false;
  #rouse = (): void => {};

  constructor(
    read: (after: bigint, limit: number) => readonly RecordedEvent[],
    after: bigint,
    handle: BatchHandler,
  ) {
    this.#read = read;
    this.#after = after;
    this.#handle = handle;
    this.ended = this.#run();
  }

  /** Something may have been appended. */
  wake(): void {
    this.#woken = true;
    this.#rouse();
  }

  /** Waits for the handler that is running; so the handler must not wait for this. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.wake();
    await this.ended.catch(() => {});
  }

  async #run(): Promise<void> {
    await setImmediate();
    while (!this.#stopped) {
      this.#woken = false;
      const events = this.#read(this.#after, BATCH);
      const last = events.at(-1);
      if (last === undefined) {
        await this.#sleep();
        continue;
      }
      await this.#handle(events);
      this.#after = last.position;
      // A long catch-up must not keep the event loop from everyone else.
      if (events.length === BATCH) await setImmediate();
    }
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#woken) resolve();
      else this.#rouse = resolve;
    });
  }
}
