/** The render queue on NATS JetStream: nodes that offer and nodes that render share it. */
import { type JsMsg, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { Logger } from 'pino';
import { LAST_ATTEMPT } from '../domain/conversion.ts';
import { MAX_MANIFEST_BYTES } from '../domain/render-manifest.ts';
import type { NatsLink } from '../nats/connection.ts';
import { parseJob } from './job-schema.ts';
import type { RenderJob, RenderReport } from './messages.ts';
import { NatsConsumer } from './nats-consumer.ts';
import { NatsHands } from './nats-hands.ts';
import { NatsOffers } from './nats-offers.ts';
import { followReports, type ReportFollower } from './nats-report-follower.ts';
import { NatsReportSender } from './nats-report-sender.ts';
import { ensureJobs } from './nats-streams.ts';
import type { Consumer, Delivery, RenderQueue } from './port.ts';

/** After a renderer's last sign of life, another gets its jobs. */
const ACK_WAIT_MS = 15_000;
/** The longest time that the server may take to confirm the end of a job. */
const ANSWER_MS = 2000;
/** The delay before a job that was given back is handed over again: doubled each time, up to the cap. */
const BACK_OFF_MS = 250;
const MAX_BACK_OFF_MS = 10_000;
/** In JSON, which escapes the quotes of a manifest's own; with what else a report says. */
const MAX_REPORT_BYTES = 2 * MAX_MANIFEST_BYTES + 64 * 1024;

export interface NatsRenderQueueOptions {
  readonly link: NatsLink;
  readonly logger: Logger;
  /**
   * The part of this node: to offer jobs and record reports (`api`), to take jobs and report (`renderer`),
   * or both. Neither needs the rights of the other; only the first makes the streams.
   */
  readonly side: 'api' | 'renderer' | 'both';
  /** The ack wait of the consumer, where this node makes it. */
  readonly ackWaitMs?: number;
}

interface Parts {
  readonly hands: NatsHands;
  readonly offers: NatsOffers | undefined;
  readonly sender: NatsReportSender | undefined;
}

export class NatsRenderQueue implements RenderQueue {
  /** The server does: see `deliveries`. */
  readonly countsTries = true;
  readonly #options: NatsRenderQueueOptions;
  readonly #parts: Parts;
  readonly #takers = new Set<NatsConsumer | ReportFollower>();

  /** @throws {Error} one line when the server cannot hold the queue */
  static async open(options: NatsRenderQueueOptions): Promise<NatsRenderQueue> {
    const { link, logger, side, ackWaitMs = ACK_WAIT_MS } = options;
    const limit = link.connection.info?.max_payload ?? MAX_REPORT_BYTES;
    if (limit < MAX_REPORT_BYTES) {
      throw new Error(
        `NATS takes messages of at most ${limit} bytes: set its max_payload to 1MB, the default, or more.`,
      );
    }
    const hands = new NatsHands(link);
    const sender = side === 'api' ? undefined : new NatsReportSender(link, logger);
    if (side === 'renderer')
      return new NatsRenderQueue(options, { hands, offers: undefined, sender });
    const manager = await jetstreamManager(link.connection, { checkAPI: false });
    await ensureJobs(manager, link.namespace, ackWaitMs);
    const client = jetstream(link.connection);
    const offers = new NatsOffers({ link, logger, hands, client, manager, ackWaitMs });
    return new NatsRenderQueue(options, { hands, offers, sender });
  }

  private constructor(options: NatsRenderQueueOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
  }

  offer(job: RenderJob): Promise<void> {
    this.#offers().offer(job);
    return Promise.resolve();
  }

  retain(isUnfinished: (conversionId: string) => boolean): Promise<void> {
    return this.#offers().retain(isUnfinished);
  }

  consume(slots: number, handle: (delivery: Delivery) => Promise<void>): Consumer {
    const { link, logger, ackWaitMs = ACK_WAIT_MS } = this.#options;
    const { hands } = this.#parts;
    const consumer = new NatsConsumer({
      link,
      logger,
      slots,
      ackWaitMs,
      handle: (message, releaseSlot) => this.#deliver(message, releaseSlot, handle),
    });
    this.#takers.add(consumer);
    hands.addSlots(slots);
    let stopped = false;
    return {
      stop: async () => {
        if (!stopped) hands.removeSlots(slots);
        stopped = true;
        await consumer.stop();
      },
    };
  }

  report(report: RenderReport): Promise<void> {
    const { sender } = this.#parts;
    if (!sender) throw new Error('This node records reports and makes none.');
    return sender.report(report);
  }

  reports(handle: (report: RenderReport) => Promise<void>): Consumer {
    const offers = this.#offers();
    const follower = followReports(this.#options.link, this.#options.logger, async (report) => {
      // Before it is answered: the renderer keeps the slot until then.
      await offers.learn(report);
      await handle(report);
    });
    this.#takers.add(follower);
    return { stop: () => follower.stop() };
  }

  waiting(): number {
    return this.#offers().waiting();
  }

  async close(): Promise<void> {
    const { hands, offers, sender } = this.#parts;
    sender?.close();
    hands.close();
    for (const taker of this.#takers) taker.close();
    await offers?.close();
  }

  #offers(): NatsOffers {
    const { offers } = this.#parts;
    if (!offers) throw new Error('This node takes jobs and offers none.');
    return offers;
  }

  async #deliver(
    message: JsMsg,
    releaseSlot: () => void,
    handle: (delivery: Delivery) => Promise<void>,
  ): Promise<void> {
    const { link, logger } = this.#options;
    const { hands } = this.#parts;
    const offered = parseJob(message.data);
    if (!offered) {
      logger.error({ subject: message.subject }, 'a job is unreadable: dropped');
      return message.term();
    }
    const { deliveryCount } = message.info;
    const attempt = Math.min(offered.attempt + deliveryCount - 1, LAST_ATTEMPT);
    // Unconfirmed it may come again: then its second outcome is ignored.
    const acknowledge = (): Promise<unknown> =>
      link.whileUp(message.ackAck({ timeout: ANSWER_MS })).catch((error: unknown) => {
        logger.warn({ err: error, conversionId: job.conversionId }, 'a job may come again');
      });
    const job = { ...offered, attempt };
    hands.take(job.conversionId);
    let ended: Promise<void> | undefined;
    const done = async (): Promise<void> => {
      await acknowledge();
      hands.drop(job.conversionId);
    };
    const giveBack = async (): Promise<void> => {
      hands.drop(job.conversionId);
      message.nak(Math.min(BACK_OFF_MS * 2 ** (deliveryCount - 1), MAX_BACK_OFF_MS));
    };
    // The server counts every delivery: an untried job leaves the stream, and whoever offered it is told
    // to offer it again. Should that be lost, the log's next sweep does so, with the same attempt.
    const putBack = async (): Promise<void> => {
      if (!link.isUp()) return await giveBack();
      await acknowledge();
      hands.putBack(job.conversionId, job.attempt);
    };
    try {
      await handle({
        job,
        releaseSlot: () => {
          if (ended) return;
          hands.releaseSlot(job.conversionId);
          releaseSlot();
        },
        done: () => (ended ??= done()),
        giveBack: () => (ended ??= giveBack()),
        putBack: () => (ended ??= putBack()),
      });
    } catch {
      // The renderer logs its own faults; here it only matters that the job is not lost.
    } finally {
      // A handler that neither finished nor gave back has failed: nothing may stay in its hands.
      await (ended ??= giveBack());
    }
  }
}
