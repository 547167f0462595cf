/**
 * Takes messages from a shared durable pull consumer, only as many as there are free places, and keeps
 * them while they are in hand. It outlives lost connections, and a server that lost its data.
 */
import { createInbox, errors, type Msg, type Subscription } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { NatsLink } from './connection.ts';
import { deliveriesOf, Taken } from './taken.ts';

export interface PullerOptions {
  readonly link: NatsLink;
  readonly stream: string;
  readonly consumer: string;
  /** The most in hand at a time. */
  readonly places: number;
  /** The consumer's `ack_wait`: after so long without a sign of life, others get the message. */
  readonly ackWaitMs: number;
  readonly logger: Logger;
  /** Must not reject. */
  readonly handle: (taken: Taken) => Promise<void>;
}

/** How long a request for messages stays at the server. */
const PULL_MS = 5000;
/** By then the server has ended a request, or the request is lost, and its consumer, maybe. */
const PULL_LOST_MS = PULL_MS + 2000;
const ANSWER_MS = 2000;
const RETRY_MS = 200;
const MAX_BEAT_MS = 2000;
/** A 2.9 server tells another time of creation after its restart, by as much as it took to write. */
const SAME_GENERATION_MS = 250;

/** Requests of one connection to one incarnation of the consumer. */
interface Session {
  readonly inbox: string;
  readonly subscription: Subscription | undefined;
  /** When the consumer was created, in milliseconds: tells it from one that came after a loss. */
  generation: number | undefined;
  /** How many messages may still come. */
  asked: number;
  /** What was asked for not long ago, by token. */
  readonly pulls: Map<string, { readonly batch: number; readonly at: number }>;
}

export class Puller {
  readonly #options: PullerOptions;
  readonly #inHand = new Set<Taken>();
  readonly #forget: () => void;
  readonly #beat: NodeJS.Timeout;
  readonly #wakers = new Set<() => void>();
  readonly #endings = new Set<Promise<void>>();
  #session: Session;
  #tokens = 0;
  #stopped = false;
  #closed = false;

  constructor(options: PullerOptions) {
    this.#options = options;
    this.#session = this.#begin();
    this.#forget = options.link.onReconnect(() => this.#renew());
    this.#beat = setInterval(() => this.#beatAll(), Math.min(options.ackWaitMs / 3, MAX_BEAT_MS));
    void this.#learn(this.#session);
  }

  /** Nothing is handed over any more; what the server has sent meanwhile goes back at once. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    await this.#leave(this.#session);
    await Promise.allSettled(this.#endings);
    this.#endIfIdle();
  }

  /** As `stop`, and what is in hand is left to the server, which gives it to others. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#wake();
    await this.stop();
    this.#inHand.clear();
    this.#endIfIdle();
  }

  #begin(): Session {
    const { link } = this.#options;
    const inbox = createInbox(link.inboxPrefix);
    let session: Session;
    const subscription =
      this.#stopped || link.connection.isClosed()
        ? undefined
        : link.connection.subscribe(`${inbox}.*`, {
            callback: (error, message) => {
              if (error) this.#options.logger.error({ err: error }, 'messages cannot be taken');
              else this.#receive(session, message);
            },
          });
    session = { inbox, subscription, generation: undefined, asked: 0, pulls: new Map() };
    return session;
  }

  /** The consumer may be another one now: nothing is asked or answered before that is known. */
  #renew(): void {
    if (this.#closed) return;
    const old = this.#session;
    this.#session = this.#begin();
    void this.#learn(this.#session);
    void this.#leave(old);
  }

  async #learn(session: Session): Promise<void> {
    const { link, stream, consumer, logger } = this.#options;
    for (let tries = 1; !this.#isOver(session); tries += 1) {
      try {
        const subject = `$JS.API.CONSUMER.INFO.${stream}.${consumer}`;
        const answer = await link.whileUp(
          link.connection.request(subject, '', { timeout: ANSWER_MS }),
        );
        const { created, error } = answer.json<{ created?: string; error?: unknown }>();
        if (created !== undefined) {
          session.generation = Date.parse(created);
          this.#wake();
          this.#fill();
          return;
        }
        if (tries === 1) logger.debug({ stream, error }, 'the queue is not there yet');
      } catch (error) {
        if (tries === 1) logger.debug({ stream, err: error }, 'the queue does not answer yet');
      }
      await this.#pause(RETRY_MS);
    }
  }

  #isOver(session: Session): boolean {
    return this.#closed || this.#session !== session || (this.#stopped && this.#inHand.size === 0);
  }

  #isCurrent(generation: number | undefined): boolean {
    const current = this.#session.generation;
    if (current === undefined || generation === undefined) return false;
    return Math.abs(current - generation) < SAME_GENERATION_MS;
  }

  #fill(): void {
    const { link, places, stream, consumer } = this.#options;
    const session = this.#session;
    if (this.#stopped || session.generation === undefined || !link.isUp()) return;
    const batch = places - this.#inHand.size - session.asked;
    if (batch <= 0) return;
    this.#tokens += 1;
    const token = String(this.#tokens);
    session.asked += batch;
    session.pulls.set(token, { batch, at: performance.now() });
    const request = JSON.stringify({ batch, expires: PULL_MS * 1_000_000 });
    link.connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, request, {
      reply: `${session.inbox}.${token}`,
    });
  }

  #receive(session: Session, message: Msg): void {
    if ((message.headers?.code ?? 0) > 0) return this.#onStatus(session, message);
    // It comes under the subject that it was published on: which request brought it is not told.
    session.asked = Math.max(0, session.asked - 1);
    const { reply } = message;
    if (reply === undefined) return;
    if (this.#stopped || this.#inHand.size >= this.#options.places) {
      this.#publish(reply, '-NAK');
      return;
    }
    let givenBack = false;
    const taken = new Taken(message, deliveriesOf(reply), {
      done: () => this.#acknowledge(reply, session.generation),
      forget: () => {
        if (this.#isCurrent(session.generation)) this.#publish(reply, '+ACK');
      },
      giveBack: (delayMs) => {
        givenBack = true;
        if (!this.#isCurrent(session.generation)) return;
        const delay = JSON.stringify({ delay: delayMs * 1_000_000 });
        this.#publish(reply, delayMs > 0 ? `-NAK ${delay}` : '-NAK');
      },
      alive: () => {
        if (givenBack || !this.#isCurrent(session.generation)) return;
        this.#publish(reply, '+WPI');
      },
    });
    this.#inHand.add(taken);
    void this.#hand(taken);
  }

  async #hand(taken: Taken): Promise<void> {
    try {
      await this.#options.handle(taken);
    } finally {
      this.#inHand.delete(taken);
      this.#fill();
      this.#endIfIdle();
    }
  }

  /** A request has ended, with fewer messages than it asked for. */
  #onStatus(session: Session, message: Msg): void {
    const { code = 0, description = '' } = message.headers ?? {};
    const token = message.subject.slice(session.inbox.length + 1);
    const left = Number(
      message.headers?.get('Nats-Pending-Messages') || session.pulls.get(token)?.batch,
    );
    session.pulls.delete(token);
    session.asked = Math.max(0, session.asked - (left || 0));
    if (session !== this.#session) return;
    if (code === 408 || code === 404) return this.#fill();
    // 503: nobody listens for that consumer. It is gone, or its server has just started.
    const gone = code === 503 || /deleted/i.test(description);
    if (!gone) this.#options.logger.warn({ code, description }, 'messages cannot be taken now');
    void this.#pause(RETRY_MS).then(() => (gone ? this.#renew() : this.#fill()));
  }

  /** Resolves when the server has removed it, or no longer knows it, or all is over. */
  #acknowledge(reply: string, generation: number | undefined): Promise<void> {
    const ending = this.#acknowledged(reply, generation);
    this.#endings.add(ending);
    return ending.finally(() => this.#endings.delete(ending));
  }

  async #acknowledged(reply: string, generation: number | undefined): Promise<void> {
    const { link } = this.#options;
    while (!this.#closed) {
      const current = this.#session.generation;
      if (current === undefined || !link.isUp()) {
        await this.#pause(RETRY_MS);
        continue;
      }
      // The same number may be another message by now.
      if (!this.#isCurrent(generation)) return;
      try {
        const { connection } = link;
        await link.whileUp(connection.request(reply, '+ACK', { timeout: ANSWER_MS }));
        return;
      } catch (error) {
        if (error instanceof errors.RequestError && error.isNoResponders()) this.#renew();
        await this.#pause(RETRY_MS);
      }
    }
    // Nobody waits for it: it may still arrive.
    if (this.#isCurrent(generation)) this.#publish(reply, '+ACK');
  }

  #beatAll(): void {
    const { link } = this.#options;
    if (!link.isUp() || this.#session.generation === undefined) return;
    for (const taken of this.#inHand) taken.alive();
    const { pulls, asked } = this.#session;
    const since = performance.now() - PULL_LOST_MS;
    let mayCome = 0;
    for (const [token, { at, batch }] of pulls) {
      if (at < since) pulls.delete(token);
      else mayCome += batch;
    }
    if (asked > mayCome) this.#renew();
  }

  /** Messages on their way still arrive, and go back. */
  async #leave({ subscription }: Session): Promise<void> {
    if (!subscription || subscription.isClosed()) return;
    const drained = subscription.drain().catch(() => {});
    await Promise.race([drained, this.#pause(ANSWER_MS)]);
    subscription.unsubscribe();
  }

  #publish(subject: string, payload: string): void {
    const { connection } = this.#options.link;
    if (!connection.isClosed()) connection.publish(subject, payload);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#wakers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#wakers.add(wake);
    });
  }

  #wake(): void {
    for (const wake of this.#wakers) wake();
  }

  #endIfIdle(): void {
    if (!this.#stopped || this.#inHand.size > 0) return;
    clearInterval(this.#beat);
    this.#forget();
  }
}
