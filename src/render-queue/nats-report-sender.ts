/** The renderer's side of reports: each is sent, again and again if need be, until it is recorded. */
import { errors } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { NatsLink } from '../nats/connection.ts';
import { Pauses } from '../nats/pauses.ts';
import type { RenderReport } from './messages.ts';
import { AGAIN, RECORDED, REFUSED, REPORTS } from './nats-streams.ts';

/** A report without an answer by then is sent again: it, or its answer, may be lost. */
const PATIENCE_MS = 3000;
const MAX_PATIENCE_MS = 30_000;
/** Nobody is there who records, or whoever is there cannot now. */
const RETRY_MS = 250;
const AGAIN_MS = 1000;
/** In place of an answer, when none came in time. */
const LATE = 'late';

export class NatsReportSender {
  readonly #link: NatsLink;
  readonly #logger: Logger;
  readonly #pauses = new Pauses();
  /** End the waiting for answers. */
  readonly #endings = new Set<() => void>();
  #closed = false;

  constructor(link: NatsLink, logger: Logger) {
    this.#link = link;
    this.#logger = logger;
  }

  async report(report: RenderReport): Promise<void> {
    const payload = JSON.stringify(report);
    for (let patience = PATIENCE_MS; !this.#closed; ) {
      const answer = await this.#ask(payload, patience);
      if (answer === RECORDED) return;
      if (answer === undefined) {
        await this.#pauses.pause(RETRY_MS);
      } else if (answer === AGAIN) {
        await this.#pauses.pause(AGAIN_MS);
      } else {
        if (answer === REFUSED) {
          const { conversionId, kind } = report;
          this.#logger.error(
            { conversionId, kind },
            'a report is not understood: sent again later',
          );
          // Who cannot read it may be replaced by who can.
          await this.#pauses.pause(patience);
        }
        patience = Math.min(2 * patience, MAX_PATIENCE_MS);
      }
    }
    throw new Error('The render queue is closed: the report was not recorded.');
  }

  close(): void {
    this.#closed = true;
    this.#pauses.endAll();
    for (const end of this.#endings) end();
  }

  /** @returns nothing when no answer can come */
  async #ask(payload: string, timeout: number): Promise<string | undefined> {
    const { connection } = this.#link;
    if (!this.#link.isUp()) return undefined;
    const asked = this.#link.whileUp(connection.request(REPORTS, payload, { timeout }));
    const answer = asked.then(
      (message) => message.string(),
      (error: unknown) => {
        this.#logger.debug({ err: error }, 'a report is sent again');
        return error instanceof errors.TimeoutError ? LATE : undefined;
      },
    );
    const { promise: ended, resolve } = Promise.withResolvers<undefined>();
    const end = (): void => resolve(undefined);
    this.#endings.add(end);
    try {
      return await Promise.race([answer, ended]);
    } finally {
      this.#endings.delete(end);
    }
  }
}
