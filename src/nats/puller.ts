/**
 * Takes messages from a shared durable pull consumer, only as many as there are free places, and keeps
 * them while they are in hand. It outlives lost connections, and a server that lost its data.
 */
import { createInbox, type Msg, type Subscription } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { within } from '../within.ts';
import { Acknowledger, type Generation } from './acknowledger.ts';
import type { NatsLink } from './connection.ts';
import { Pauses } from './pauses.ts';
import { PULL_MS, Pulls } from './pulls.ts';
import type { Taken } from './taken.ts';

export interface PullerOptions {
  readonly link: NatsLink;
  readonly stream: string;
  readonly consumer: string;
  /** The most in hand at a time, besides as many that have left their place. */
  readonly places: number;
  /** The consumer's `ack_wait`: after so long without a sign of life, others get the message. */
  readonly ackWaitMs: number;
  readonly logger: Logger;
  /** Must not reject. After `leavePlace` the next message may come. */
  readonly handle: (taken: Taken, leavePlace: () => void) => Promise<void>;
}

const ANSWER_MS = 2000;
const RETRY_MS = 200;
const MAX_BEAT_MS = 2000;

/** Requests of one connection to one incarnation of the consumer. */
interface Session {
  readonly inbox: string;
  readonly subscription: Subscription | undefined;
  readonly pulls: Pulls;
  generation: Generation;
  /** Whether the server refuses to answer requests, which is said once. */
  refused: boolean;
}

export class Puller {
  readonly #options: PullerOptions;
  readonly #acknowledger: Acknowledger;
  readonly #inHand = new Set<Taken>();
  /** Of those in hand: messages that have left their place. */
  readonly #withoutPlace = new Set<Taken>();
  readonly #forget: () => void;
  readonly #beat: NodeJS.Timeout;
  readonly #pauses = new Pauses();
  #session: Session;
  #left: Promise<void> | undefined;
  #stopped = false;
  #closed = false;

  constructor(options: PullerOptions) {
    const { link, ackWaitMs } = options;
    this.#options = options;
    this.#acknowledger = new Acknowledger({
      link,
      current: () => this.#session.generation,
      renew: () => this.#renew(),
    });
    this.#session = this.#begin();
    this.#forget = link.onReconnect(() => this.#renew());
    this.#beat = setInterval(() => this.#beatAll(), Math.min(ackWaitMs / 3, MAX_BEAT_MS));
    void this.#learn(this.#session);
  }

  /** Nothing is handed over any more; what the server has sent meanwhile goes back at once. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#left ??= this.#leave(this.#session);
    await this.#left;
    await this.#acknowledger.settled();
    this.#endIfIdle();
  }

  /** As `stop`, and what is in hand is left to the server, which gives it to others. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#acknowledger.close();
    this.#pauses.endAll();
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
    session = { inbox, subscription, pulls: new Pulls(), generation: undefined, refused: false };
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
          this.#acknowledger.goOn();
          this.#fill();
          return;
        }
        if (tries === 1) logger.debug({ stream, error }, 'the queue is not there yet');
      } catch (error) {
        if (tries === 1) logger.debug({ stream, err: error }, 'the queue does not answer yet');
      }
      await this.#pauses.pause(RETRY_MS);
    }
  }

  #isOver(session: Session): boolean {
    return this.#closed || this.#session !== session || (this.#stopped && this.#inHand.size === 0);
  }

  #fill(): void {
    const { link, stream, consumer } = this.#options;
    const { inbox, pulls, generation } = this.#session;
    if (this.#stopped || generation === undefined || !link.isUp()) return;
    const batch = this.#freePlaces() - pulls.asked;
    if (batch <= 0) return;
    const request = JSON.stringify({ batch, expires: PULL_MS * 1_000_000 });
    link.connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, request, {
      reply: `${inbox}.${pulls.ask(batch)}`,
    });
  }

  #receive(session: Session, message: Msg): void {
    if ((message.headers?.code ?? 0) > 0) return this.#onStatus(session, message);
    session.refused = false;
    session.pulls.came();
    const { reply } = message;
    if (reply === undefined) return;
    if (this.#stopped || this.#freePlaces() <= 0) {
      this.#acknowledger.refuse(reply);
      return;
    }
    const taken = this.#acknowledger.taken(message, reply, session.generation);
    this.#inHand.add(taken);
    void this.#hand(taken);
  }

  async #hand(taken: Taken): Promise<void> {
    const leavePlace = (): void => {
      this.#withoutPlace.add(taken);
      this.#fill();
    };
    try {
      await this.#options.handle(taken, leavePlace);
    } finally {
      this.#inHand.delete(taken);
      this.#withoutPlace.delete(taken);
      this.#fill();
      this.#endIfIdle();
    }
  }

  #freePlaces(): number {
    const { places } = this.#options;
    return Math.min(
      places - this.#inHand.size + this.#withoutPlace.size,
      2 * places - this.#inHand.size,
    );
  }

  /** A request has ended, with fewer messages than it asked for. */
  #onStatus(session: Session, message: Msg): void {
    const { code = 0, description = '' } = message.headers ?? {};
    const left = message.headers?.get('Nats-Pending-Messages');
    const token = message.subject.slice(session.inbox.length + 1);
    session.pulls.ended(token, left ? Number(left) : undefined);
    if (session !== this.#session) return;
    if (code === 408 || code === 404) {
      session.refused = false;
      return this.#fill();
    }
    // 503: nobody listens for that consumer. It is gone, or its server has just started.
    const gone = code === 503 || /deleted/i.test(description);
    if (!gone && !session.refused) {
      this.#options.logger.warn({ code, description }, 'messages cannot be taken now');
      session.refused = true;
    }
    void this.#askAgain(session, gone);
  }

  async #askAgain(session: Session, gone: boolean): Promise<void> {
    await this.#pauses.pause(RETRY_MS);
    // Every request ends so: the first that gets here has begun the next session.
    if (session !== this.#session) return;
    if (gone) this.#renew();
    else this.#fill();
  }

  #beatAll(): void {
    const { generation, pulls } = this.#session;
    if (!this.#options.link.isUp() || generation === undefined) return;
    for (const taken of this.#inHand) taken.alive();
    if (pulls.areLost()) this.#renew();
  }

  /** Messages on their way still arrive, and go back. */
  async #leave({ subscription }: Session): Promise<void> {
    if (!subscription || subscription.isClosed()) return;
    await within(ANSWER_MS, subscription.drain()).catch(() => {});
    subscription.unsubscribe();
  }

  #endIfIdle(): void {
    if (!this.#stopped || this.#inHand.size > 0) return;
    clearInterval(this.#beat);
    this.#forget();
  }
}
