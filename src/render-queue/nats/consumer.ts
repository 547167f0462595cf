/** A pull consumer with one pull request for each free slot. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Consumer, type JsMsg, jetstream } from '@nats-io/jetstream';
import type { Logger } from 'pino';
import type { NatsLink } from '../../nats/connection.ts';
import { jobsStream, RENDERERS } from './streams.ts';

export interface PullConsumerOptions {
  readonly link: NatsLink;
  readonly slots: number;
  /** The consumer's `ack_wait`: after this time without a sign of life, others get the job. */
  readonly ackWaitMs: number;
  readonly logger: Logger;
  /** Must not reject. The next job may come when it has ended, or after `releaseSlot`. */
  readonly handle: (message: JsMsg, releaseSlot: () => void) => Promise<void>;
}

/**
 * The time that a pull request stays at the server. A stop waits for it: a job it still brings goes back.
 * The client gives it up after as long a silence, so that a process that is busy must not miss its end.
 */
const PULL_MS = 3000;
const RETRY_MS = 200;
const MAX_BEAT_MS = 2000;

export class PullConsumer {
  readonly #options: PullConsumerOptions;
  readonly #inFlight = new Set<JsMsg>();
  readonly #pulls = new Set<Promise<JsMsg | undefined>>();
  readonly #stopping = new AbortController();
  readonly #beat: NodeJS.Timeout;
  #consumer: Consumer | undefined;
  #failed = false;

  constructor(options: PullConsumerOptions) {
    this.#options = options;
    const { slots, ackWaitMs } = options;
    const beat = (): void => {
      for (const message of this.#inFlight) message.working();
    };
    this.#beat = setInterval(beat, Math.min(ackWaitMs / 3, MAX_BEAT_MS));
    for (let slot = 0; slot < slots; slot += 1) void this.#serve();
  }

  /** Ends the handing over of jobs. What is in flight stays there. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#pulls);
    this.#endIfIdle();
  }

  /** As `stop`, and what is in flight is left to the server, which gives it to others. */
  close(): void {
    this.#stopping.abort();
    this.#inFlight.clear();
    this.#endIfIdle();
  }

  /** Serves one slot. One more job may be in flight that has released it. */
  async #serve(): Promise<void> {
    const { handle } = this.#options;
    let previous = Promise.resolve();
    while (!this.#stopping.signal.aborted) {
      const pull = this.#pull();
      this.#pulls.add(pull);
      const message = await pull;
      this.#pulls.delete(pull);
      if (!message) continue;
      this.#inFlight.add(message);
      const { promise: released, resolve: releaseSlot } = Promise.withResolvers<void>();
      const ended = handle(message, releaseSlot).finally(() => {
        this.#inFlight.delete(message);
        this.#endIfIdle();
      });
      await Promise.race([ended, released]);
      await previous;
      previous = ended;
    }
  }

  async #pull(): Promise<JsMsg | undefined> {
    const { link, logger } = this.#options;
    const { signal } = this.#stopping;
    try {
      if (link.isUp()) {
        const message = await this.#next();
        this.#failed = false;
        if (!signal.aborted) return message;
        message?.nak();
        return undefined;
      }
    } catch (error) {
      // Once for a time of failures: it is tried again all the time.
      if (!this.#failed) logger.debug({ err: error }, 'jobs cannot be taken now');
      this.#failed = true;
    }
    await delay(RETRY_MS, undefined, { signal }).catch(() => {});
    return undefined;
  }

  async #next(): Promise<JsMsg | undefined> {
    const { link } = this.#options;
    this.#consumer ??= await link.whileUp(
      jetstream(link.connection).consumers.get(jobsStream(link.namespace), RENDERERS),
    );
    const messages = await this.#consumer.fetch({ max_messages: 1, expires: PULL_MS });
    // A lost connection takes the request along: nothing would take what it brought later.
    const forget = link.onDisconnect(() => void messages.close());
    try {
      for await (const message of messages) return message;
      return undefined;
    } finally {
      forget();
    }
  }

  #endIfIdle(): void {
    if (this.#stopping.signal.aborted && this.#inFlight.size === 0) clearInterval(this.#beat);
  }
}
