/** The render queue on NATS JetStream: nodes that offer and nodes that render share it. */
import { type JetStreamManager, type JsMsg, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { Logger } from 'pino';
import { MAX_MANIFEST_BYTES } from '../../domain/render-manifest.ts';
import type { NatsLink } from '../../nats/connection.ts';
import { backOffMs, handOver } from '../hand-over.ts';
import {
  parseJob,
  type Recorded,
  type RenderJob,
  type RenderReport,
  type SigningAnswer,
  type SigningRequest,
} from '../messages.ts';
import type { Consumer, Delivery, RenderQueue } from '../port.ts';
import { PullConsumer } from './consumer.ts';
import { JobPublisher } from './publisher.ts';
import { createProgressTeller } from './progress.ts';
import { createReportSender, type ReportSender, receiveReports } from './reports.ts';
import { announceSlots } from './slots.ts';
import { endedSubject, ensureJobs, removeJob } from './streams.ts';

/** After a renderer's last sign of life, another gets its jobs. */
const ACK_WAIT_MS = 15_000;
/** JSON escapes the quotes of a manifest; a report says a little more. */
const MAX_REPORT_BYTES = 2 * MAX_MANIFEST_BYTES + 64 * 1024;

export type NatsQueueSide = 'api' | 'recorder' | 'renderer' | 'both';

export interface NatsRenderQueueOptions {
  readonly link: NatsLink;
  readonly logger: Logger;
  /**
   * The part of this node: to offer jobs and record reports (`api`), the latter alone (`recorder`), to take jobs and
   * report (`renderer`), or all of it (`both`). A renderer needs none of the rights of the others; who offers jobs makes
   * the streams.
   */
  readonly side: NatsQueueSide;
  /** The ack wait of the consumer, where this node makes it. */
  readonly ackWaitMs?: number;
}

export class NatsRenderQueue implements RenderQueue {
  readonly #options: NatsRenderQueueOptions;
  readonly #jobs: JobPublisher | undefined;
  /** Undefined where no reports are recorded. */
  readonly #manager: JetStreamManager | undefined;
  readonly #reports: ReportSender | undefined;
  readonly #closing: (() => void)[] = [];
  /** The jobs that this node renders. */
  readonly #inFlight = new Map<string, AbortController>();

  /** @throws {Error} one line when the server cannot hold the queue */
  static async open(options: NatsRenderQueueOptions): Promise<NatsRenderQueue> {
    const { link, logger, side, ackWaitMs = ACK_WAIT_MS } = options;
    const limit = link.connection.info?.max_payload ?? MAX_REPORT_BYTES;
    if (limit < MAX_REPORT_BYTES) {
      throw new Error(
        `NATS takes messages of at most ${limit} bytes: set its max_payload to 1MB, the default, or more.`,
      );
    }
    if (side === 'renderer') return new NatsRenderQueue(options);
    const manager = await jetstreamManager(link.connection, { checkAPI: false });
    if (side === 'recorder') return new NatsRenderQueue(options, manager);
    await ensureJobs(manager, link, ackWaitMs);
    const client = jetstream(link.connection);
    const jobs = new JobPublisher({ link, logger, client, manager, ackWaitMs });
    return new NatsRenderQueue(options, manager, jobs);
  }

  private constructor(
    options: NatsRenderQueueOptions,
    manager?: JetStreamManager,
    jobs?: JobPublisher,
  ) {
    const { link, logger, side } = options;
    this.#options = options;
    this.#manager = manager;
    this.#jobs = jobs;
    const reports = side === 'renderer' || side === 'both';
    this.#reports = reports ? createReportSender(link, logger) : undefined;
  }

  has(conversionId: string): boolean {
    return this.#publisher().has(conversionId);
  }

  offer(job: RenderJob): Promise<void> {
    this.#publisher().offer(job);
    return Promise.resolve();
  }

  retain(isUnfinished: (conversionId: string) => boolean): Promise<void> {
    return this.#publisher().retain(isUnfinished);
  }

  discard(conversionIds: ReadonlySet<string>): Promise<void> {
    return this.#publisher().discard(conversionIds);
  }

  consume(slots: number, handle: (delivery: Delivery) => Promise<void>): Consumer {
    const { link, logger, ackWaitMs = ACK_WAIT_MS } = this.#options;
    const consumer = new PullConsumer({
      link,
      logger,
      slots,
      ackWaitMs,
      handle: (message, releaseSlot) => this.#deliver(message, releaseSlot, handle),
    });
    const withdrawSlots = announceSlots(link, slots);
    const stopHearing = this.#hearOfEnded();
    this.#closing.push(withdrawSlots, stopHearing, () => consumer.close());
    return {
      stop: () => {
        withdrawSlots();
        return consumer.stop();
      },
    };
  }

  report(report: RenderReport): Promise<Recorded> {
    return this.#sender().send(report);
  }

  sign(request: SigningRequest): Promise<SigningAnswer> {
    return this.#sender().sign(request);
  }

  onReport(
    handle: (report: RenderReport) => Promise<Recorded>,
    sign?: (request: SigningRequest) => Promise<SigningAnswer>,
  ): Consumer {
    const manager = this.#manager;
    if (!manager) throw new Error('This node makes reports and records none.');
    const { link, logger } = this.#options;
    const progress = createProgressTeller(link, logger);
    const record = async (report: RenderReport): Promise<Recorded> => {
      // Before it is answered: the renderer keeps the slot until then.
      await progress.reported(report);
      const recorded = await handle(report);
      // What an acknowledgement deletes stays readable on the server's disk.
      if (recorded.ended) {
        await link.whileUp(removeJob(manager, link.namespace, report.conversionId));
      }
      progress.recorded(report, recorded);
      return recorded;
    };
    const receiver = receiveReports(link, logger, record, sign);
    this.#closing.push(() => receiver.close());
    return { stop: () => receiver.stop() };
  }

  waiting(): number {
    return this.#publisher().waiting();
  }

  waitingOf(accountId: string, priority?: 'normal'): number {
    return this.#publisher().waitingOf(accountId, priority);
  }

  async close(): Promise<void> {
    this.#reports?.close();
    for (const close of this.#closing) close();
    await this.#jobs?.close();
  }

  #sender(): ReportSender {
    if (!this.#reports) throw new Error('This node records reports and makes none.');
    return this.#reports;
  }

  #publisher(): JobPublisher {
    if (!this.#jobs) throw new Error('This node offers no jobs.');
    return this.#jobs;
  }

  /** @returns the function that ends it */
  #hearOfEnded(): () => void {
    const { link, logger } = this.#options;
    const subscription = link.connection.subscribe(endedSubject(link.namespace), {
      callback: (error, message) => {
        if (error)
          logger.warn({ err: error }, 'a page whose conversion is cancelled is not given up');
        else this.#inFlight.get(message.string())?.abort();
      },
    });
    return () => {
      if (!link.connection.isClosed()) subscription.unsubscribe();
    };
  }

  async #deliver(
    message: JsMsg,
    releaseSlot: () => void,
    handle: (delivery: Delivery) => Promise<void>,
  ): Promise<void> {
    const { link, logger } = this.#options;
    const job = parseJob(message.data);
    if (!job) {
      logger.error({ subject: message.subject }, 'a job is unreadable: dropped');
      return message.term();
    }
    const { deliveryCount, redelivered } = message.info;
    // An end that the server does not get brings the job again: the log knows then whether it has ended.
    const end = (tell: () => void) => (): void => {
      if (!link.connection.isClosed()) tell();
    };
    const ends = {
      releaseSlot,
      ack: end(() => message.ack()),
      nack: end(() => message.nak(backOffMs(deliveryCount - 1))),
      requeue: end(() => message.nak()),
    };
    const { conversionId } = job;
    const unneeded = new AbortController();
    this.#inFlight.set(conversionId, unneeded);
    const handed = { ...job, retry: job.retry || redelivered };
    await handOver(handed, ends, unneeded.signal, handle);
    if (this.#inFlight.get(conversionId) === unneeded) this.#inFlight.delete(conversionId);
  }
}
