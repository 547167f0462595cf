/**
 * The offering side: jobs wait here, in turns, and only as many are in the stream as the renderers will
 * take next. So a newcomer's job waits behind those few, however many another account has. Of an account
 * that is held back only those are there for which a slot is free.
 */
import { JetStreamApiError, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream';
import type { Logger } from 'pino';
import { LAST_ATTEMPT } from '../domain/conversion.ts';
import type { NatsLink } from '../nats/connection.ts';
import { FairTurns } from './fair-turns.ts';
import type { RenderJob, RenderReport } from './messages.ts';
import type { NatsHands } from './nats-hands.ts';
import { ensureJobs, jobSubject, lookAtJobs, removeJob, SUBJECT_IS_TAKEN } from './nats-streams.ts';
import { StuckJobs } from './stuck-jobs.ts';
import { TwoBells } from './two-bells.ts';
import { Unattended } from './unattended.ts';

/** Jobs in the stream that no renderer has taken yet: as many as they have slots, within these. */
const MIN_AHEAD = 8;
const MAX_AHEAD = 256;
/** The pause between two looks at the stream when nothing happens. */
const LOOK_MS = 2000;
/** The longest time that a look may wait when no job does. */
const LAZY_MS = 50;
const RETRY_MS = 250;
const ANSWER_MS = 3000;
/** The wait after a reconnection: by then every renderer has said again what it has in hand. */
const HEAR_MS = 1500;

export interface NatsOffersOptions {
  readonly link: NatsLink;
  readonly logger: Logger;
  readonly hands: NatsHands;
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly ackWaitMs: number;
}

export class NatsOffers {
  readonly #options: NatsOffersOptions;
  readonly #backlog = new FairTurns();
  readonly #inBacklog = new Set<string>();
  /** Offered, and as far as was known in the stream or in hand: the next look decides. */
  readonly #doubted = new Map<string, RenderJob>();
  /** Jobs in the stream, waiting or in hand: as of the last look, and those published since. */
  #inStream = new Set<string>();
  /** Jobs that this node published and a look has not missed yet. They may be put back. */
  readonly #published = new Map<string, RenderJob>();
  readonly #forget: () => void;
  readonly #loop: Promise<void>;
  /** Jobs in the stream seen at a renderer. One that no renderer has any more has left the stream. */
  readonly #seenInHand = new Set<string>();
  readonly #unattended: Unattended;
  readonly #stuck = new StuckJobs();
  /** Jobs that left the stream since the last look began. */
  readonly #left = new Set<string>();
  #looked = false;
  /** The time of the last look, by `performance.now()`. */
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

  /**
   * A server that was killed comes back with jobs that were acknowledged just before, and hands them to
   * nobody: they would be taken for jobs that wait.
   */
  async retain(isUnfinished: (conversionId: string) => boolean): Promise<void> {
    for (const id of this.#backlog.retain(isUnfinished)) this.#inBacklog.delete(id);
    for (const id of this.#doubted.keys()) if (!isUnfinished(id)) this.#doubted.delete(id);
    const { link, manager, hands } = this.#options;
    const jobs = await link.whileUp(lookAtJobs(manager, link.namespace));
    for (const id of jobs?.conversionIds ?? []) {
      if (!isUnfinished(id) && !hands.has(id))
        await link.whileUp(removeJob(manager, link.namespace, id));
    }
    this.#lookedAt = 0;
    this.#bells.ring('at once');
  }

  /** Resolves when nothing in the stream is before others because the report was not known. */
  async learn(report: RenderReport): Promise<void> {
    this.#backlog.learn(report);
    await this.#withdraw().catch((error: unknown) =>
      this.#options.logger.warn({ err: error }, 'jobs cannot be withdrawn now'),
    );
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
          await this.#withdraw();
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

  /** True if a look is due. Ordinary changes need none: a look finds jobs that were lost or came back. */
  #lookIsDue(): boolean {
    return this.#doubted.size > 0 || performance.now() - this.#lookedAt >= LOOK_MS;
  }

  #followHands(): void {
    const { hands } = this.#options;
    for (const id of this.#inStream) {
      if (hands.has(id)) {
        this.#seenInHand.add(id);
      } else if (this.#seenInHand.delete(id)) {
        this.#inStream.delete(id);
        this.#left.add(id);
      }
    }
    this.#backlog.follow(hands);
  }

  async #look(): Promise<void> {
    const { link, manager, hands, ackWaitMs } = this.#options;
    this.#left.clear();
    const jobs = await lookAtJobs(manager, link.namespace);
    if (!jobs?.consumers) await ensureJobs(manager, link.namespace, ackWaitMs);
    const inStream = new Set(jobs?.conversionIds);
    for (const id of this.#left) inStream.delete(id);
    this.#inStream = inStream;
    this.#seenInHand.clear();
    this.#followHands();
    for (const id of this.#published.keys()) {
      if (this.#inStream.has(id) || hands.has(id)) continue;
      this.#published.delete(id);
      this.#backlog.release(id);
    }
    await this.#removeStuckJobs();
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

  /** Removes jobs that nobody takes. The log's next sweep offers them again. */
  async #removeStuckJobs(): Promise<void> {
    const { link, manager, hands, logger } = this.#options;
    const free = hands.free();
    for (const id of this.#stuck.check(new Set(this.#untaken()), free, performance.now())) {
      logger.warn({ conversionId: id }, 'nobody takes a job though slots are free: it is replaced');
      await removeJob(manager, link.namespace, id);
      this.#inStream.delete(id);
      this.#published.delete(id);
      this.#backlog.release(id);
    }
  }

  /** Takes out of the stream what is held back by now and has no slot: there it would be before others. */
  async #withdraw(): Promise<void> {
    const { link, manager, hands } = this.#options;
    const untaken = this.#untaken();
    if (untaken.length <= hands.free()) return;
    // Ids begin with a time: of one account, the oldest is put back last and so is next.
    for (const id of untaken.toSorted().toReversed()) {
      const job = this.#published.get(id);
      if (!job || !this.#backlog.isHeldBack(job.accountId)) continue;
      const wasThere = await link.whileUp(removeJob(manager, link.namespace, id));
      if (!this.#published.delete(id) || !wasThere) continue;
      this.#inStream.delete(id);
      this.#inBacklog.add(id);
      this.#backlog.untake(job);
    }
  }

  #untaken(): string[] {
    return [...this.#inStream].filter((id) => !this.#options.hands.has(id));
  }

  async #publishAhead(): Promise<void> {
    const { hands } = this.#options;
    const total = hands.slots();
    const ahead = Math.min(Math.max(total, MIN_AHEAD), MAX_AHEAD);
    const jobs: RenderJob[] = [];
    for (let untaken = this.#untaken().length; untaken < ahead; untaken += 1) {
      const job = this.#backlog.take({ free: hands.free() - untaken, total });
      if (!job) break;
      jobs.push(job);
    }
    const published = await Promise.allSettled(jobs.map((job) => this.#publish(job)));
    for (const outcome of published) if (outcome.status === 'rejected') throw outcome.reason;
  }

  async #publish(job: RenderJob): Promise<void> {
    const { conversionId } = job;
    try {
      const options = { timeout: ANSWER_MS };
      const { link, client } = this.#options;
      await link.whileUp(
        client.publish(jobSubject(link.namespace, conversionId), JSON.stringify(job), options),
      );
    } catch (error) {
      const there = error instanceof JetStreamApiError && error.code === SUBJECT_IS_TAKEN;
      if (!there) {
        this.#backlog.untake(job);
        throw error;
      }
    }
    this.#published.set(conversionId, job);
    this.#inBacklog.delete(conversionId);
    this.#inStream.add(conversionId);
    // A renderer may have it before its acceptance is answered.
    this.#followHands();
  }
}
