/** The API's side of reports: whoever reports is told what became of it. */
import type { Msg } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { NatsLink } from '../nats/connection.ts';
import { Seldom } from '../seldom.ts';
import type { RenderReport } from './messages.ts';
import { AGAIN, RECORDED, RECORDERS, REFUSED, reportSubject } from './nats-streams.ts';
import { parseReport } from './report-schema.ts';

/** Reports recorded at a time: many share one commit, and no more may crowd memory. */
const AT_A_TIME = 512;

export interface ReportFollower {
  /** Takes no more; resolves when what was taken is answered, or recorded after a `close`. */
  stop(): Promise<void>;
  close(): void;
}

export function followReports(
  link: NatsLink,
  logger: Logger,
  handle: (report: RenderReport) => Promise<void>,
): ReportFollower {
  const { connection } = link;
  const underWay = new Set<Promise<void>>();
  const unreadable = new Seldom();
  let closed = false;

  const outcomeOf = async (data: Uint8Array): Promise<string> => {
    const report = parseReport(data);
    if (!report) {
      unreadable.say((untold) =>
        logger.error({ untold }, 'a render report is unreadable: dropped'),
      );
      return REFUSED;
    }
    try {
      await handle(report);
      return RECORDED;
    } catch {
      // The handler has logged why; what the renderer found out must not be lost for it.
      return AGAIN;
    }
  };
  const answer = async (message: Msg): Promise<void> => {
    const outcome = underWay.size >= AT_A_TIME ? AGAIN : await outcomeOf(message.data);
    if (!closed && !connection.isClosed()) message.respond(outcome);
  };
  const take = (message: Msg): void => {
    const answered = answer(message).finally(() => underWay.delete(answered));
    underWay.add(answered);
  };

  const subscription = connection.subscribe(reportSubject(link.namespace), {
    // Each report goes to one of all who record.
    queue: RECORDERS,
    callback: (error, message) => {
      if (error) logger.error({ err: error }, 'reports cannot be heard');
      else take(message);
    },
  });
  return {
    stop: async () => {
      // Reports on their way are still taken. Those that a lost server has taken along are sent again.
      if (!subscription.isClosed() && link.isUp()) {
        await link.whileUp(subscription.drain()).catch(() => {});
      }
      subscription.unsubscribe();
      await Promise.all(underWay);
    },
    close: () => {
      closed = true;
      if (!connection.isClosed()) subscription.unsubscribe();
    },
  };
}
