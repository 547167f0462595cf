/**
 * Reports as plain requests: a renderer sends each until its answer says that it is recorded. Sending one
 * again changes nothing. So are requests for signatures.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { errors, type Msg } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { NatsLink } from '../../nats/connection.ts';
import { LogThrottle } from '../../observe/log-throttle.ts';
import {
  parseReport,
  parseSigning,
  type Recorded,
  type RenderReport,
  type SigningAnswer,
  type SigningRequest,
} from '../messages.ts';
import { RECORDERS, reportSubject } from './streams.ts';

/** The answers to what is not recorded: it may be sent again soon, or is not a report. */
const AGAIN = 'again';
export const REFUSED = 'refused';
/** Reports recorded at a time: many share one commit, and no more may crowd memory. */
const AT_A_TIME = 512;

/** A report without an answer by then is sent again: it, its answer or who records may be lost. */
const ANSWER_MS = 3000;
/** A timestamp authority may take most of it. */
const SIGNING_MS = 15_000;
/** The pause when the server tells that nobody records, or is away itself. Across accounts it does not tell. */
const RETRY_MS = 250;
const AGAIN_MS = 1000;
/** The pause after a refusal: a node that cannot read a report may be replaced by one that can. */
const REFUSED_MS = 30_000;

export interface ReportSender {
  send(report: RenderReport): Promise<Recorded>;
  sign(request: SigningRequest): Promise<SigningAnswer>;
  close(): void;
}

export function createReportSender(link: NatsLink, logger: Logger): ReportSender {
  const closing = new AbortController();
  const { signal } = closing;
  const pause = async (ms: number): Promise<void> => {
    await delay(ms, undefined, { signal }).catch(() => {});
  };

  /** @returns undefined when there was no answer, after a pause */
  const ask = async (payload: string, timeout: number): Promise<string | undefined> => {
    if (!link.isUp()) {
      await pause(RETRY_MS);
      return undefined;
    }
    const { promise: closed, reject } = Promise.withResolvers<never>();
    const onClose = (): void => reject(new Error('The render queue is closed.'));
    signal.addEventListener('abort', onClose);
    try {
      const request = link.connection.request(reportSubject(link.namespace), payload, {
        timeout,
      });
      return (await Promise.race([link.whileUp(request), closed])).string();
    } catch (error) {
      logger.debug({ err: error }, 'a report is sent again');
      if (!(error instanceof errors.TimeoutError)) await pause(RETRY_MS);
      return undefined;
    } finally {
      signal.removeEventListener('abort', onClose);
    }
  };
  const untilAnswered = async <T>(
    message: RenderReport | SigningRequest,
    timeout: number,
  ): Promise<T> => {
    const payload = JSON.stringify(message);
    while (!signal.aborted) {
      const answer = await ask(payload, timeout);
      if (answer === AGAIN) await pause(AGAIN_MS);
      else if (answer === REFUSED) {
        const { conversionId, kind } = message;
        logger.error({ conversionId, kind }, 'a report is not understood: sent again later');
        await pause(REFUSED_MS);
      } else if (answer !== undefined) return JSON.parse(answer) as T;
    }
    throw new Error('The render queue is closed: the report was not recorded.');
  };
  return {
    send: (report) => untilAnswered(report, ANSWER_MS),
    sign: (request) => untilAnswered(request, SIGNING_MS),
    close: () => closing.abort(),
  };
}

export interface ReportReceiver {
  /** Takes no more; resolves when what was taken is answered, or recorded after a `close`. */
  stop(): Promise<void>;
  close(): void;
}

export function receiveReports(
  link: NatsLink,
  logger: Logger,
  handle: (report: RenderReport) => Promise<Recorded>,
  sign?: (request: SigningRequest) => Promise<SigningAnswer>,
): ReportReceiver {
  const { connection } = link;
  const underWay = new Set<Promise<void>>();
  const unreadable = new LogThrottle();
  let closed = false;

  const answerTo = async (data: Uint8Array): Promise<string> => {
    const report = parseReport(data);
    const signing = report === undefined && sign ? parseSigning(data) : undefined;
    const answer = report ? () => handle(report) : signing && (() => sign?.(signing));
    if (!answer) {
      unreadable.log((suppressed) =>
        logger.error({ suppressed }, 'a render report is unreadable: dropped'),
      );
      return REFUSED;
    }
    try {
      return JSON.stringify(await answer());
    } catch {
      // The handler has logged why; what the renderer found out must not be lost for it.
      return AGAIN;
    }
  };
  const answer = async (message: Msg): Promise<void> => {
    const text = underWay.size >= AT_A_TIME ? AGAIN : await answerTo(message.data);
    if (!closed && !connection.isClosed()) message.respond(text);
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
