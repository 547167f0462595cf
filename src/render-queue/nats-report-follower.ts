/** The API's side of reports: each leaves the stream when it is recorded, and its reporter is told. */
import type { Logger } from 'pino';
import type { NatsLink } from '../nats/connection.ts';
import { Puller } from '../nats/puller.ts';
import type { Taken } from '../nats/taken.ts';
import type { RenderReport } from './messages.ts';
import { REPORTER } from './nats-report-sender.ts';
import { RECORDERS, REPORT_ACK_WAIT_MS, REPORTS, recordedSubject } from './nats-streams.ts';
import { parseReport } from './report-schema.ts';

/** Reports recorded at a time: many share one commit. */
const AT_A_TIME = 64;
/** After this, a report that could not be recorded comes again. */
const AGAIN_MS = 1000;

export function followReports(
  link: NatsLink,
  logger: Logger,
  handle: (report: RenderReport) => Promise<void>,
): Puller {
  const take = async (taken: Taken): Promise<void> => {
    const report = parseReport(taken.data);
    if (!report) {
      // It would come again for ever. Who reported it sends it again, should a later version read it.
      logger.error({ subject: taken.subject }, 'a render report is unreadable: dropped');
      return taken.forget();
    }
    try {
      await handle(report);
    } catch {
      // The handler has logged why; what the renderer found out must not be lost for it.
      return taken.giveBack(AGAIN_MS);
    }
    const reporter = taken.headers?.get(REPORTER) ?? '';
    if (/^\w+$/.test(reporter) && !link.connection.isClosed()) {
      link.connection.publish(recordedSubject(reporter), taken.subject);
    }
    // Recorded again it changes nothing: not worth a question to the server.
    taken.forget();
  };
  return new Puller({
    link,
    logger,
    stream: REPORTS,
    consumer: RECORDERS,
    places: AT_A_TIME,
    ackWaitMs: REPORT_ACK_WAIT_MS,
    handle: take,
  });
}
