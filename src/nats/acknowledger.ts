/**
 * What is said to the server of the messages in hand. It is said to the incarnation of the consumer that
 * sent them: to one that came after a loss, the same number may be another message.
 */
import { errors, type Msg } from '@nats-io/transport-node';
import type { NatsLink } from './connection.ts';
import { Pauses } from './pauses.ts';
import { deliveriesOf, Taken } from './taken.ts';

const ANSWER_MS = 2000;
const RETRY_MS = 200;
/** A 2.9 server tells another time of creation after its restart, by as much as it took to write. */
const SAME_GENERATION_MS = 250;

/** When a consumer was created, in milliseconds: tells it from one that came after a loss. */
export type Generation = number | undefined;

export interface AcknowledgerOptions {
  readonly link: NatsLink;
  /** Of the consumer as it is now; undefined while that is not known. */
  readonly current: () => Generation;
  /** To be called when the consumer seems to be gone. */
  readonly renew: () => void;
}

export class Acknowledger {
  readonly #options: AcknowledgerOptions;
  readonly #pauses = new Pauses();
  readonly #underWay = new Set<Promise<void>>();
  #closed = false;

  constructor(options: AcknowledgerOptions) {
    this.#options = options;
  }

  /** @param reply where answers to the message go */
  taken(message: Msg, reply: string, generation: Generation): Taken {
    let givenBack = false;
    return new Taken(message, deliveriesOf(reply), {
      done: () => this.#acknowledge(reply, generation),
      giveBack: (delayMs) => {
        givenBack = true;
        const delay = JSON.stringify({ delay: delayMs * 1_000_000 });
        this.#say(reply, generation, delayMs > 0 ? `-NAK ${delay}` : '-NAK');
      },
      alive: () => {
        if (!givenBack) this.#say(reply, generation, '+WPI');
      },
    });
  }

  /** Somebody else gets it at once. */
  refuse(reply: string): void {
    const { connection } = this.#options.link;
    if (!connection.isClosed()) connection.publish(reply, '-NAK');
  }

  /** The consumer as it is now has become known: what waited for that goes on. */
  goOn(): void {
    this.#pauses.endAll();
  }

  /** Resolves when nothing waits to be acknowledged any more. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  /** What waits to be acknowledged is said once more, and no longer waited for. */
  close(): void {
    this.#closed = true;
    this.#pauses.endAll();
  }

  /** Resolves when the server has removed it, or no longer knows it, or all is over. */
  #acknowledge(reply: string, generation: Generation): Promise<void> {
    const acknowledged = this.#untilAcknowledged(reply, generation);
    this.#underWay.add(acknowledged);
    return acknowledged.finally(() => this.#underWay.delete(acknowledged));
  }

  async #untilAcknowledged(reply: string, generation: Generation): Promise<void> {
    const { link, current, renew } = this.#options;
    while (!this.#closed) {
      if (current() === undefined || !link.isUp()) {
        await this.#pauses.pause(RETRY_MS);
        continue;
      }
      if (!this.#isCurrent(generation)) return;
      try {
        const { connection } = link;
        await link.whileUp(connection.request(reply, '+ACK', { timeout: ANSWER_MS }));
        return;
      } catch (error) {
        if (error instanceof errors.RequestError && error.isNoResponders()) renew();
        await this.#pauses.pause(RETRY_MS);
      }
    }
    // Nobody waits for it: it may still arrive.
    this.#say(reply, generation, '+ACK');
  }

  #say(reply: string, generation: Generation, what: string): void {
    const { connection } = this.#options.link;
    if (this.#isCurrent(generation) && !connection.isClosed()) connection.publish(reply, what);
  }

  #isCurrent(generation: Generation): boolean {
    const current = this.#options.current();
    if (current === undefined || generation === undefined) return false;
    return Math.abs(current - generation) < SAME_GENERATION_MS;
  }
}
