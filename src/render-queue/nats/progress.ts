/**
 * Any API node records reports, and the one that publishes jobs is told of each job's progress. No stream keeps these
 * messages: what that node misses, it finds when it compares with the stream and with the log.
 */
import { errors, type Msg } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { NatsLink } from '../../nats/connection.ts';
import { LogThrottle } from '../../observe/log-throttle.ts';
import { type JobProgress, parseProgress, type Recorded, type RenderReport } from '../messages.ts';
import { progressSubject } from './streams.ts';

/** A recorder waits no longer for the node that publishes: that one may have died, and a renderer waits for its answer. */
const ANSWER_MS = 1000;

export interface ProgressTeller {
  /** Called before a report is recorded. Resolves when no job of an account that it holds back is before others. */
  reported(report: RenderReport): Promise<void>;
  /** Called when a report is recorded. */
  recorded(report: RenderReport, recorded: Recorded): void;
}

export function createProgressTeller(link: NatsLink, logger: Logger): ProgressTeller {
  const { connection } = link;
  const subject = progressSubject(link.namespace);
  const tell = (progress: JobProgress): void => {
    if (link.isUp()) connection.publish(subject, JSON.stringify(progress));
  };
  const ask = async (progress: JobProgress): Promise<void> => {
    if (!link.isUp()) return;
    const asked = connection.request(subject, JSON.stringify(progress), { timeout: ANSWER_MS });
    try {
      await link.whileUp(asked);
    } catch (error) {
      // Nobody leads for a moment. The outcome must not wait for that.
      if (error instanceof errors.NoRespondersError) return;
      logger.debug({ err: error }, 'the node that publishes jobs was not told of a failure');
    }
  };
  return {
    reported: async (report) => {
      const { kind, conversionId, delivery } = report;
      if (kind === 'started') tell({ kind, conversionId, delivery });
      if (kind === 'failed') await ask({ kind, conversionId, delivery, code: report.code });
    },
    recorded: ({ kind, conversionId }, { ended }) => {
      if (ended) tell({ kind: 'ended', conversionId });
      else if (kind !== 'started') tell({ kind: 'waiting', conversionId });
    },
  };
}

/**
 * Hears the recorders; returns the function that ends it.
 * @param handle must not reject
 */
export function hearProgress(
  { connection, namespace }: NatsLink,
  logger: Logger,
  handle: (progress: JobProgress) => Promise<void>,
): () => void {
  const unreadable = new LogThrottle();
  const take = async (message: Msg): Promise<void> => {
    const progress = parseProgress(message.data);
    if (progress === undefined) {
      return unreadable.log((suppressed) =>
        logger.error({ suppressed }, 'the progress of a job is unreadable: dropped'),
      );
    }
    await handle(progress);
    if (!connection.isClosed()) message.respond();
  };
  const subscription = connection.subscribe(progressSubject(namespace), {
    callback: (error, message) => {
      if (error) logger.error({ err: error }, 'the progress of jobs cannot be heard');
      else void take(message);
    },
  });
  return () => {
    if (!connection.isClosed()) subscription.unsubscribe();
  };
}
