/** Two lines for an outage of a server: one when it begins, one when it ends, however many calls fail in between. */
import type { Logger } from 'pino';
import { errorReason } from '../errors/error-message.ts';

/** An outage is over when a call was answered and none has failed for this long. */
const QUIET_MS = 5_000;

const told = new WeakSet<Error>();

/** Marks an error of an outage that has its line, so that those who meet the error log no line of their own. */
export function markTold<E extends Error>(error: E): E {
  told.add(error);
  return error;
}

/** True if the error or a cause of it belongs to an outage that has its line. */
export const isTold = (error: unknown): boolean =>
  error instanceof Error && (told.has(error) || isTold(error.cause));

export class Outage {
  readonly #name: string;
  readonly #logger: Logger;
  readonly #quietMs: number;
  #hasWorked = false;
  /** By `performance.now()`; undefined while all is well. */
  #since: number | undefined;
  /** Runs from the first answer after a failure. */
  #ending: NodeJS.Timeout | undefined;

  /** @param name of the server, such as `the event store` */
  constructor(name: string, logger: Logger, quietMs = QUIET_MS) {
    this.#name = name;
    this.#logger = logger;
    this.#quietMs = quietMs;
  }

  /** A call has failed. Returns its error, marked unless nothing was ever answered: whoever opens the server says so. */
  failed<E extends Error>(error: E): E {
    if (!this.#hasWorked) return error;
    clearTimeout(this.#ending);
    this.#ending = undefined;
    if (this.#since === undefined) {
      this.#since = performance.now();
      const reason = errorReason(error);
      this.#logger.warn(
        { reason },
        `${this.#name} does not answer as it should: it is tried again`,
      );
    }
    return markTold(error);
  }

  /** A call was answered. */
  worked(): void {
    this.#hasWorked = true;
    if (this.#since === undefined || this.#ending !== undefined) return;
    const seconds = Math.round((performance.now() - this.#since) / 1000);
    this.#ending = setTimeout(() => {
      this.#since = undefined;
      this.#ending = undefined;
      this.#logger.info({ seconds }, `${this.#name} answers again`);
    }, this.#quietMs).unref();
  }
}
