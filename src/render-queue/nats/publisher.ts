/**
 * Publishes jobs in turns. Most wait here, and only as many are in the stream as the renderers will take
 * next. So a newcomer's job waits behind those few, however many another account has. Of an account that is
 * held back only those are there for which a slot is free.
 */
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { Logger } from 'pino';
import type { NatsLink } from '../../nats/connection.ts';
import { FairTurns } from '../fair-turns.ts';
import type { JobProgress, RenderJob } from '../messages.ts';
import { hearProgress } from './progress.ts';
import { MissingRenderers, SlotCounter } from './slots.ts';
import {
  endedSubject,
  ensureJobs,
  isSubjectTaken,
  jobSubject,
  listJobs,
  removeJob,
} from './streams.ts';

/** Jobs in the stream that no renderer has started: as many as they have slots, within these. */
const MIN_AHEAD = 8;
const MAX_AHEAD = 256;
/** The time between two comparisons with the stream. */
const COMPARE_MS = 2000;
const RETRY_MS = 250;
const ANSWER_MS = 3000;
/**
 * A job that nobody starts for so long though slots are free is published again. A server that was killed,
 * or a renderer that was taken over, may keep it from everybody. A dead renderer keeps its job for 15 s
 * only, so this must be longer.
 */
const STUCK_MS = 30_000;

export interface JobPublisherOptions {
  readonly link: NatsLink;
  readonly logger: Logger;
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly ackWaitMs: number;
}

/** A job in the stream, as far as this node knows. */
interface Published {
  /** The job as it would be published again. */
  job: RenderJob;
  /** Resolves when the server has answered, or will not. */
  readonly publication: Promise<unknown>;
  /** Its place in the stream, once the server has told it. */
  sequence?: number;
  /** True if a renderer has it, as a recorder told. */
  started: boolean;
  /** The time of the last news, by `performance.now()`. */
  since: number;
}

export class JobPublisher {
  readonly #options: JobPublisherOptions;
  readonly #turns = new FairTurns();
  readonly #published = new Map<string, Published>();
  readonly #slots: SlotCounter;
  readonly #missing: MissingRenderers;
  readonly #endings: readonly (() => void)[];
  readonly #closing = new AbortController();
  #work: Promise<void> | undefined;
  #woken = false;
  #comparedAt = -Infinity;
  #failed = false;

  constructor(options: JobPublisherOptions) {
    this.#options = options;
    const { link, logger } = options;
    const stopHearing = hearProgress(link, logger, (progress) =>
      this.#hear(progress).catch((error: unknown) =>
        logger.warn({ err: error }, 'jobs cannot be taken out of the queue now'),
      ),
    );
    this.#slots = new SlotCounter(link, logger, () => this.#wake());
    this.#missing = new MissingRenderers(logger);
    const timer = setInterval(() => this.#wake(), COMPARE_MS / 2);
    const forget = link.onReconnect(() => {
      this.#forgetPlaces();
      this.#comparedAt = -Infinity;
      this.#wake();
    });
    this.#endings = [stopHearing, () => this.#slots.close(), () => clearInterval(timer), forget];
  }

  has(conversionId: string): boolean {
    return this.#turns.has(conversionId) || this.#published.has(conversionId);
  }

  offer(job: RenderJob): void {
    if (this.has(job.conversionId)) return;
    this.#turns.add(job);
    this.#wake();
  }

  async retain(isUnfinished: (conversionId: string) => boolean): Promise<void> {
    this.#turns.retain(isUnfinished);
    const { link, manager } = this.#options;
    const inStream = await link.whileUp(listJobs(manager, link.namespace));
    // Another node may have recorded the end of one that this node takes for started.
    for (const id of new Set([...(inStream ?? []), ...this.#published.keys()])) {
      if (!isUnfinished(id)) await this.#remove(id);
    }
    this.#wake();
  }

  async discard(conversionIds: ReadonlySet<string>): Promise<void> {
    const others = [...conversionIds].filter((id) => !this.#turns.has(id));
    this.#turns.retain((id) => !conversionIds.has(id));
    await Promise.all(others.map((id) => this.#remove(id)));
    this.#wake();
  }

  waiting(): number {
    return this.#turns.size + this.#notStarted().length;
  }

  waitingOf(accountId: string, priority?: 'normal'): number {
    return this.#turns.sizeOf(accountId, priority);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const end of this.#endings) end();
    await this.#work;
  }

  /** Takes note of what a recorder tells. Who tells of a failure keeps the slot until this resolves. */
  async #hear(progress: JobProgress): Promise<void> {
    const { conversionId, kind } = progress;
    const published = this.#published.get(conversionId);
    switch (kind) {
      case 'started':
        this.#start(progress);
        // It was taken while it was withdrawn, or another node has published it.
        this.#unqueue(conversionId);
        return;
      case 'failed':
        // Another node may have led when its start was reported.
        this.#start(progress);
        this.#turns.learn(progress);
        return await this.#withdraw();
      case 'waiting':
        this.#turns.pause(conversionId);
        if (published) Object.assign(published, { started: false, since: performance.now() });
        break;
      case 'ended':
        this.#unqueue(conversionId);
        // Its recorder may have looked for it in the stream before it was there.
        if (published?.started === false) await this.#remove(conversionId, false);
        else this.#drop(conversionId);
    }
    if (this.#turns.size > 0) this.#wake();
  }

  #start({ conversionId, delivery }: Extract<JobProgress, { delivery: string }>): void {
    const published = this.#published.get(conversionId);
    if (!published) return;
    published.job = { ...published.job, retry: true };
    published.started = true;
    published.since = performance.now();
    this.#turns.begin(conversionId, delivery);
  }

  #unqueue(conversionId: string): void {
    if (this.#turns.has(conversionId)) this.#turns.retain((id) => id !== conversionId);
  }

  /** @param tells says so to the renderer that may have it */
  async #remove(conversionId: string, tells = true): Promise<void> {
    const { link, manager } = this.#options;
    if (tells && link.isUp()) link.connection.publish(endedSubject(link.namespace), conversionId);
    const published = this.#published.get(conversionId);
    // One that is under way could come after the removal.
    await published?.publication;
    await link.whileUp(removeJob(manager, link.namespace, conversionId, published?.sequence));
    this.#drop(conversionId);
  }

  #drop(conversionId: string): void {
    this.#published.delete(conversionId);
    this.#turns.release(conversionId);
  }

  /** A stream that was made again may hold others' jobs at these places. */
  #forgetPlaces(): void {
    for (const published of this.#published.values()) delete published.sequence;
  }

  #notStarted(): Published[] {
    return [...this.#published.values()].filter(({ started }) => !started);
  }

  /** The number of slots that are free, or would be if each published job had one. */
  #free(): number {
    return this.#slots.total() - this.#published.size;
  }

  /** Publishes what may be published. A call while that goes on makes it go on once more. */
  #wake(): void {
    this.#woken = true;
    this.#work ??= this.#run();
  }

  async #run(): Promise<void> {
    const { link, logger } = this.#options;
    const { signal } = this.#closing;
    while (this.#woken && !signal.aborted) {
      // Jobs that are offered in one turn of the event loop are published together.
      await turn();
      this.#woken = false;
      if (!link.isUp()) break;
      try {
        if (performance.now() - this.#comparedAt >= COMPARE_MS) await link.whileUp(this.#compare());
        await this.#withdraw();
        await this.#publishAhead();
        this.#failed = false;
      } catch (error) {
        // Once for a time of failures: it is tried again all the time.
        if (!this.#failed) logger.warn({ err: error }, 'jobs cannot be published now');
        this.#failed = true;
        // The stream may be gone.
        this.#comparedAt = -Infinity;
        await delay(RETRY_MS, undefined, { signal }).catch(() => {});
        this.#woken = true;
      }
    }
    this.#work = undefined;
  }

  /** Compares with the stream, and takes up again what was lost there or what nobody gets. */
  async #compare(): Promise<void> {
    const { link, manager, ackWaitMs, logger } = this.#options;
    const now = performance.now();
    const inStream = await listJobs(manager, link.namespace);
    if (!inStream) {
      this.#forgetPlaces();
      await ensureJobs(manager, link, ackWaitMs);
    }
    const hasFree = this.#slots.total() > this.#published.size - this.#notStarted().length;
    for (const [id, published] of this.#published) {
      const { job, started, since } = published;
      if (!started && !hasFree) published.since = now;
      if (since >= now) continue;
      const isStuck = now - published.since >= STUCK_MS;
      const isLost = !inStream?.has(id);
      // A renderer that has started it may still end it, though it is lost.
      const comesAgain = started ? isLost && isStuck : isLost || isStuck;
      if (!comesAgain) continue;
      if (isStuck) {
        const about = { conversionId: id, waitedMs: Math.round(now - published.since) };
        const where = started
          ? 'a started job is lost at NATS'
          : 'nobody takes a job though slots are free';
        logger.warn(about, `${where}: it is published again`);
      }
      if (!isLost) await removeJob(manager, link.namespace, id);
      // It ended, or a renderer began it, while it was removed.
      if (this.#published.get(id) !== published || published.started !== started) continue;
      this.#drop(id);
      this.#turns.add(job);
    }
    this.#comparedAt = performance.now();
    this.#missing.look(this.#turns.size + this.#published.size, this.#slots.total());
  }

  /**
   * Takes out of the stream what has no slot and is held back by now, or of low priority while others of its account
   * wait: there it would be before others.
   */
  async #withdraw(): Promise<void> {
    const { link, manager } = this.#options;
    if (this.#free() >= 0) return;
    // Ids begin with a time: of one account, the oldest is withdrawn last and so is next.
    const ids = this.#notStarted().map(({ job }) => job.conversionId);
    for (const id of ids.toSorted().toReversed()) {
      const published = this.#published.get(id);
      if (!published || !this.#givesWay(published.job)) continue;
      const wasThere = await link.whileUp(removeJob(manager, link.namespace, id));
      if (!wasThere || published.started || !this.#published.delete(id)) continue;
      this.#turns.untake(published.job);
    }
  }

  #givesWay({ accountId, priority }: RenderJob): boolean {
    if (this.#turns.isHeldBack(accountId)) return true;
    return priority === 'low' && this.#turns.sizeOf(accountId, 'normal') > 0;
  }

  async #publishAhead(): Promise<void> {
    const total = this.#slots.total();
    const ahead = Math.min(Math.max(total, MIN_AHEAD), MAX_AHEAD);
    const jobs: RenderJob[] = [];
    const inStream = this.#notStarted().length;
    while (inStream + jobs.length < ahead) {
      const job = this.#turns.take({ free: this.#free() - jobs.length, total });
      if (!job) break;
      jobs.push(job);
    }
    const published = await Promise.allSettled(jobs.map((job) => this.#publish(job)));
    for (const outcome of published) if (outcome.status === 'rejected') throw outcome.reason;
  }

  async #publish(job: RenderJob): Promise<void> {
    const { conversionId } = job;
    const { link, client } = this.#options;
    const subject = jobSubject(link.namespace, conversionId);
    const options = { timeout: ANSWER_MS };
    const answer = link.whileUp(client.publish(subject, JSON.stringify(job), options));
    const publication = Promise.allSettled([answer]);
    const published: Published = { job, publication, started: false, since: performance.now() };
    // At once: a renderer may report its start before the server's answer comes.
    this.#published.set(conversionId, published);
    try {
      published.sequence = (await answer).seq;
    } catch (error) {
      if (isSubjectTaken(error)) return;
      if (this.#published.get(conversionId) === published && !published.started) {
        this.#published.delete(conversionId);
        this.#turns.untake(job);
      }
      throw error;
    }
  }
}
