import type { DriverEvent } from './event.ts';
import type { RecordedEvent } from '../port.ts';

interface DriverSubscription {
  on(event: 'readable' | 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  read(): unknown;
  unsubscribe(): Promise<void>;
}

/** One subscription of the driver, until it drops. What is not taken keeps the server from sending. */
export class EventFeed {
  readonly #subscription: DriverSubscription;
  readonly #convert: (event: DriverEvent) => RecordedEvent;
  #dropped: unknown;
  #rouse = (): void => {};

  constructor(subscription: DriverSubscription, convert: (event: DriverEvent) => RecordedEvent) {
    this.#subscription = subscription;
    this.#convert = convert;
    const drop = (error?: unknown): void => {
      this.#dropped ??= error ?? new Error('The server ended the subscription.');
      this.#rouse();
    };
    subscription.on('readable', () => this.#rouse());
    subscription.on('error', drop);
    subscription.on('end', drop);
    subscription.on('close', drop);
  }

  /** Why no more will come, once what came before is taken. */
  get dropped(): unknown {
    return this.#dropped;
  }

  /** What has come and is not taken yet. @throws {Error} an event is not one of this service */
  take(limit: number): RecordedEvent[] {
    const events: RecordedEvent[] = [];
    while (events.length < limit) {
      const next = this.#subscription.read() as { readonly event?: DriverEvent } | null;
      if (next === null) break;
      if (next.event !== undefined) events.push(this.#convert(next.event));
    }
    return events;
  }

  /** Resolves when there is something to take, or it has dropped. */
  async more(): Promise<void> {
    if (this.#dropped !== undefined) return;
    await new Promise<void>((resolve) => {
      this.#rouse = resolve;
    });
  }

  /** Ends it; who waits goes on. */
  close(): void {
    this.#dropped ??= new Error('The subscription was closed.');
    this.#rouse();
    this.#subscription.unsubscribe().catch(() => {});
  }
}
