/** Lines for an outage of a server: one for each reason, however many calls fail for it, and one when it ends. */
import type { Logger } from 'pino';
import { errorReason } from '../errors/error-message.ts';

/** An outage is over when a call was answered and none has failed for this long. */
const QUIET_MS = 5_000;

/** More reasons than an outage has: texts that differ for each call are not to fill the log. */
const MAX_REASONS = 10;
/** A server that goes away, or falls silent, is met in many ways: as one that refuses, resets and lets wait. */
const NO_ANSWER =
  /\bE(?:CONN|HOST|NET)[A-Z]+\b|\bEPIPE\b|\bETIMEDOUT\b|hang up|time(?:d |)out|in time|deadline|cancelled|was closed|\bended\b|connection dropped|RST_STREAM|discover/i;

/** Tells reasons apart: by what they say, without numbers, such as ports and durations. */
const kindOf = (reason: string): string =>
  NO_ANSWER.test(reason) ? 'no answer' : reason.replaceAll(/\d+/g, '');

const innermost = (error: Error): Error =>
  error.cause instanceof Error ? innermost(error.cause) : error;

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
  /** The kinds of the reasons that have their line. */
  readonly #kinds = new Set<string>();
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
    // The same reason keeps each kind of call from its end.
    const kind = kindOf(errorReason(innermost(error)));
    const isFirst = this.#since === undefined;
    this.#since ??= performance.now();
    if (!this.#kinds.has(kind) && this.#kinds.size < MAX_REASONS) {
      this.#kinds.add(kind);
      const fault = isFirst ? 'does not answer as it should' : 'fails for another reason, too';
      this.#logger.warn(
        { reason: errorReason(error) },
        `${this.#name} ${fault}: it is tried again`,
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
      this.#kinds.clear();
      this.#ending = undefined;
      this.#logger.info({ seconds }, `${this.#name} answers again`);
    }, this.#quietMs).unref();
  }
}
