/**
 * The offering side: jobs wait here, in turns, and only as many are in the stream as the renderers will
 * take next. So a newcomer's job waits behind those few, however many another account has.
 */
import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
} from '@nats-io/jetstream';
import type { Logger } from 'pino';
import { LAST_ATTEMPT } from '../domain/conversion.ts';
import type { BlobRef } from '../domain/events.ts';
import type { NatsLink } from '../nats/connection.ts';
import type { RenderJob } from './messages.ts';
import type { NatsHands } from './nats-hands.ts';
import { conversionOfJob, ensureJobs, JOBS, jobSubject, SUBJECT_IS_TAKEN } from './nats-streams.ts';
import { Strays } from './strays.ts';
import { Turns } from './turns.ts';
import { TwoBells } from './two-bells.ts';
import { Unattended } from './unattended.ts';

/** Jobs in the stream that no renderer has taken yet: as many as they have slots, within these. */
const MIN_AHEAD = 8;
const MAX_AHEAD = 256;
/** How often the stream is looked at when nothing happens. */
const LOOK_MS = 2000;
/** How long a look may wait when no job does. */
const LAZY_MS = 50;
const RETRY_MS = 250;
const ANSWER_MS = 3000;
/** After a reconnection: by then every renderer has said again what it has in hand. */
const HEAR_MS = 1500;

export interface NatsOffersOptions {
  readonly link: NatsLink;
  readonly logger: Logger;
  readonly hands: NatsHands;
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly ackWaitMs: number;
  readonly carry: (request: BlobRef) => Buffer | undefined;
}

export class NatsOffers {
  readonly #options: NatsOffersOptions;
  readonly #backlog = new Turns();
  readonly #inBacklog = new Set<string>();
  /** Offered, and as far as was known in the stream or in hand: the next look decides. */
  readonly #doubted = new Map<string, RenderJob>();
  /** What is in the stream, waiting or in hand: as of the last look, and what was published since. */
  #inStream = new Set<string>();
  /** What this node published and a look has not missed yet: it may be put back. */
  readonly #published = new Map<string, RenderJob>();
  readonly #forget: () => void;
  readonly #loop: Promise<void>;
  /** Of those in the stream: seen in a renderer's hands. One that is there no more has left the stream. */
  readonly #seenInHand = new Set<string>();
  readonly #unattended: Unattended;
  readonly #strays = new Strays();
  #looked = false;
  /** Of `performance.now()`. */
  #lookedAt = 0;
  #heardFrom = 0;
  #closed = false;
  #failed = false;
  readonly #bells = new TwoBells();

  constructor(options: NatsOffersOptions) {
    this.#options = options;
    this.#unattended = new Unattended(options.logger);
    this.#forget = options.link.onReconnect(() => {
      this.#heardFrom = performance.now() + HEAR_MS;
      this.#lookedAt = 0;
      this.#bells.ring('at once');
    });
    options.hands.follow((putBack) => {
      for (const [id, attempt] of putBack) this.#takeBack(id, attempt);
      this.#followHands();
      this.#bells.ring(this.#backlog.size + this.#doubted.size > 0 ? 'at once' : 'lazily');
    });
    this.#loop = this.#run();
  }

  offer(job: RenderJob): void {
    const { conversionId } = job;
    if (this.#inBacklog.has(conversionId)) return;
    const known = this.#inStream.has(conversionId) || this.#options.hands.has(conversionId);
    // Before the first look nothing is known: another process may have offered it.
    if (known || !this.#looked) this.#doubted.set(conversionId, job);
    else this.#enqueue(job);
    this.#bells.ring('at once');
  }

  waiting(): number {
    let untaken = this.#backlog.size + this.#doubted.size;
    for (const id of this.#inStream) {
      if (!this.#doubted.has(id) && !this.#options.hands.has(id)) untaken += 1;
    }
    return untaken;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#forget();
    this.#bells.end();
    await this.#loop;
  }

  /** A renderer took it out of the stream untried. */
  #takeBack(conversionId: string, attempt: number): void {
    const job = this.#published.get(conversionId);
    if (!job || attempt < job.attempt) return;
    this.#published.delete(conversionId);
    this.#seenInHand.delete(conversionId);
    this.#inStream.delete(conversionId);
    this.#doubted.delete(conversionId);
    if (!this.#inBacklog.has(conversionId))
      this.#enqueue({ ...job, attempt: Math.min(attempt, LAST_ATTEMPT) });
  }

  #enqueue(job: RenderJob): void {
    this.#inBacklog.add(job.conversionId);
    this.#backlog.add(job);
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      this.#bells.reset();
      try {
        if (this.#options.link.isUp()) {
          if (this.#lookIsDue()) await this.#options.link.whileUp(this.#look());
          await this.#publishAhead();
          this.#failed = false;
        }
      } catch (error) {
        // Once for a time of failures: it is tried again all the time.
        if (!this.#failed) this.#options.logger.warn({ err: error }, 'jobs cannot be offered now');
        this.#failed = true;
        // The stream may be gone.
        this.#lookedAt = 0;
        await this.#bells.rest(RETRY_MS);
        continue;
      }
      this.#missRenderers();
      await this.#bells.sleep(LOOK_MS, LAZY_MS);
    }
  }

  #missRenderers(): void {
    const { link, hands } = this.#options;
    if (link.isUp()) this.#unattended.look(this.waiting(), hands.slots(), performance.now());
    else this.#unattended.reset();
  }

  /** What comes and goes is known without it; a look finds what was lost, or came back. */
  #lookIsDue(): boolean {
    return this.#doubted.size > 0 || performance.now() - this.#lookedAt >= LOOK_MS;
  }

  #followHands(): void {
    const { hands } = this.#options;
    for (const id of this.#inStream) {
      if (hands.has(id)) this.#seenInHand.add(id);
      else if (this.#seenInHand.delete(id)) this.#inStream.delete(id);
    }
  }

  async #look(): Promise<void> {
    const { manager, hands, ackWaitMs } = this.#options;
    const jobs = await this.#info();
    if (!jobs?.consumers) await ensureJobs(manager, ackWaitMs);
    this.#inStream = new Set(jobs?.subjects.map(conversionOfJob));
    this.#seenInHand.clear();
    this.#followHands();
    for (const id of this.#published.keys()) {
      if (!this.#inStream.has(id) && !hands.has(id)) this.#published.delete(id);
    }
    await this.#removeStrays();
    this.#looked = true;
    this.#lookedAt = performance.now();
    const heard = performance.now() >= this.#heardFrom;
    for (const [id, job] of this.#doubted) {
      const known = this.#inStream.has(id) || hands.has(id) || this.#inBacklog.has(id);
      if (!known && !heard) continue;
      this.#doubted.delete(id);
      if (!known) this.#enqueue(job);
    }
  }

  /** What is removed is offered again by the log's next sweep. */
  async #removeStrays(): Promise<void> {
    const { manager, hands, logger } = this.#options;
    const untaken = new Set([...this.#inStream].filter((id) => !hands.has(id)));
    for (const id of this.#strays.look(untaken, hands.free(), performance.now())) {
      logger.warn(
        { conversionId: id },
        'nobody takes a job though places are free: it is replaced',
      );
      await manager.streams.purge(JOBS, { filter: jobSubject(id) });
      this.#inStream.delete(id);
      this.#published.delete(id);
    }
  }

  async #info(): Promise<{ consumers: number; subjects: string[] } | undefined> {
    try {
      const { streams } = this.#options.manager;
      const { state } = await streams.info(JOBS, { subjects_filter: '>' });
      return { consumers: state.consumer_count, subjects: Object.keys(state.subjects ?? {}) };
    } catch (error) {
      const missing =
        error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound;
      if (missing) return undefined;
      throw error;
    }
  }

  async #publishAhead(): Promise<void> {
    const { hands } = this.#options;
    const ahead = Math.min(Math.max(hands.slots(), MIN_AHEAD), MAX_AHEAD);
    let room = ahead;
    for (const id of this.#inStream) if (!hands.has(id)) room -= 1;
    const jobs: RenderJob[] = [];
    for (; room > 0; room -= 1) {
      const job = this.#backlog.take();
      if (!job) break;
      jobs.push(job);
    }
    const published = await Promise.allSettled(jobs.map((job) => this.#publish(job)));
    for (const outcome of published) if (outcome.status === 'rejected') throw outcome.reason;
  }

  async #publish(job: RenderJob): Promise<void> {
    const { conversionId } = job;
    try {
      const payload = JSON.stringify({ ...job, storedRequest: this.#carried(job) });
      const options = { timeout: ANSWER_MS };
      const { link, client } = this.#options;
      await link.whileUp(client.publish(jobSubject(conversionId), payload, options));
      this.#published.set(conversionId, job);
    } catch (error) {
      const there = error instanceof JetStreamApiError && error.code === SUBJECT_IS_TAKEN;
      if (!there) {
        this.#backlog.add(job);
        throw error;
      }
    }
    this.#inBacklog.delete(conversionId);
    this.#inStream.add(conversionId);
  }

  #carried({ conversionId, request }: RenderJob): string | undefined {
    try {
      return this.#options.carry(request)?.toString('base64');
    } catch (error) {
      // Its renderer finds that out, too, and says so to the client.
      this.#options.logger.error({ err: error, conversionId }, 'a request cannot be read');
      return undefined;
    }
  }
}
