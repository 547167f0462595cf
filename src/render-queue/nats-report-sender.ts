/** The renderer's side of reports: each is sent, again and again if need be, until it is recorded. */
import { setTimeout as delay } from 'node:timers/promises';
import { errors } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { NatsLink } from '../nats/connection.ts';
import type { RenderReport } from './messages.ts';
import { AGAIN, RECORDED, REFUSED, reportSubject } from './nats-streams.ts';

/**
 * A report without an answer by then is sent again: it, or its answer, may be lost, or nobody is there who
 * records. Across accounts the server does not tell that. To send it again changes nothing.
 */
const PATIENCE_MS = 3000;
/** The pause when the server tells that nobody is there, or is away itself. */
const RETRY_MS = 250;
const AGAIN_MS = 1000;
/** The pause after a refusal: a node that cannot read a report may be replaced by one that can. */
const REFUSED_MS = 30_000;
/** Stands for an answer that did not come in time: that was pause enough. */
const LATE = 'late';
const PAUSES_MS: Readonly<Record<string, number>> = {
  [LATE]: 0,
  [AGAIN]: AGAIN_MS,
  [REFUSED]: REFUSED_MS,
};

export class NatsReportSender {
  readonly #link: NatsLink;
  readonly #logger: Logger;
  readonly #closing = new AbortController();

  constructor(link: NatsLink, logger: Logger) {
    this.#link = link;
    this.#logger = logger;
  }

  async report(report: RenderReport): Promise<void> {
    const payload = JSON.stringify(report);
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const answer = await this.#ask(payload);
      if (answer === RECORDED) return;
      if (answer === REFUSED) {
        const { conversionId, kind } = report;
        this.#logger.error({ conversionId, kind }, 'a report is not understood: sent again later');
      }
      const pauseMs = PAUSES_MS[answer ?? ''] ?? RETRY_MS;
      await delay(pauseMs, undefined, { signal }).catch(() => {});
    }
    throw new Error('The render queue is closed: the report was not recorded.');
  }

  close(): void {
    this.#closing.abort();
  }

  /** @returns nothing when no answer can come */
  async #ask(payload: string): Promise<string | undefined> {
    const { connection } = this.#link;
    if (!this.#link.isUp()) return undefined;
    const asked = this.#link.whileUp(
      connection.request(reportSubject(this.#link.namespace), payload, { timeout: PATIENCE_MS }),
    );
    const answer = asked.then(
      (message) => message.string(),
      (error: unknown) => {
        this.#logger.debug({ err: error }, 'a report is sent again');
        return error instanceof errors.TimeoutError ? LATE : undefined;
      },
    );
    const { signal } = this.#closing;
    const { promise: closed, resolve } = Promise.withResolvers<undefined>();
    const end = (): void => resolve(undefined);
    signal.addEventListener('abort', end);
    try {
      return await Promise.race([answer, closed]);
    } finally {
      signal.removeEventListener('abort', end);
    }
  }
}
