import { CancelledError, UnavailableError } from '@eventstore/db-client';
import type { Logger } from 'pino';
import { Slots } from '../../slots.ts';
import { within } from '../../within.ts';
import type { EventStoreAddress } from './connection-string.ts';
import { Driver } from './driver.ts';

/** Longest that a call may take; the driver itself sets no limit to reads. */
export const CALL_MS = 4_000;
/** Longest that a read may take with its wait for a slot and its second try. */
const READ_MS = 8_000;
/** A server lets a connection have so many calls at once, often 100; the driver hides that more wait. */
const READS_AT_ONCE = 64;

export interface Call<T> {
  readonly result: Promise<T>;
  readonly cancel: () => void;
}

interface Line {
  readonly driver: Driver;
  /** Calls that wait for their answer. */
  calls: number;
  ended: boolean;
}

class NoAnswer extends Error {
  constructor(ms: number) {
    super(`No answer within ${ms} ms.`);
  }
}

/**
 * Bounds every call. One without an answer makes later calls use a new connection; those under way on the
 * old one keep it until they end, for it may be only one answer that is lost.
 */
export class Connection {
  readonly #address: EventStoreAddress;
  readonly #logger: Logger;
  readonly #slots = new Slots(READS_AT_ONCE);
  #line: Line;
  #closed = false;

  constructor(address: EventStoreAddress, logger: Logger) {
    this.#address = address;
    this.#logger = logger;
    this.#line = this.#connect();
  }

  get driver(): Driver {
    return this.#line.driver;
  }

  /** One try. @throws {Error} the driver's, or that there was no answer in time */
  async call<T>(start: (driver: Driver) => Call<T>, withinMs = CALL_MS): Promise<T> {
    const line = this.#usable();
    const { result, cancel } = start(line.driver);
    line.calls += 1;
    try {
      return await within(withinMs, whole(line, result), () => new NoAnswer(withinMs));
    } catch (error) {
      if (error instanceof NoAnswer) {
        cancel();
        this.#replace(line);
      }
      throw error;
    } finally {
      line.calls -= 1;
      this.#endIfUnused(line);
    }
  }

  /** A call that may be repeated, and is, once, where nobody answered. */
  async read<T>(start: (driver: Driver) => Call<T>): Promise<T> {
    const end = performance.now() + READ_MS;
    const leave = await this.#slots.acquire();
    const left = (): number => Math.min(CALL_MS, Math.ceil(end - performance.now()));
    try {
      if (left() <= 0) throw new NoAnswer(READ_MS);
      return await this.call(start, left()).catch((error: unknown) => {
        if (this.#closed || !isRetried(error) || left() <= 0) throw error;
        return this.call(start, left());
      });
    } finally {
      leave();
    }
  }

  /** A read that may take long: it ends with its connection only, for which shorter calls decide. */
  async search<T>(start: (driver: Driver) => Call<T>): Promise<T> {
    const line = this.#usable();
    return whole(line, start(line.driver).result);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#line.ended = true;
    await this.#line.driver.end();
  }

  #usable(): Line {
    if (this.#closed) throw new Error('The event store is closed.');
    return this.#line;
  }

  #connect(): Line {
    return { driver: Driver.connect(this.#address), calls: 0, ended: false };
  }

  #replace(line: Line): void {
    if (this.#line !== line || this.#closed) return;
    this.#logger.warn('the event store does not answer: connecting anew');
    this.#line = this.#connect();
  }

  #endIfUnused(line: Line): void {
    if (line === this.#line || line.calls > 0 || line.ended) return;
    line.ended = true;
    line.driver.end().catch(() => {});
  }
}

/** The driver ends a read that is cancelled with its connection as if it had read everything. */
async function whole<T>(line: Line, result: Promise<T>): Promise<T> {
  const value = await result;
  if (line.ended) throw new Error('The connection was closed.');
  return value;
}

function isRetried(error: unknown): boolean {
  return (
    error instanceof NoAnswer ||
    error instanceof UnavailableError ||
    error instanceof CancelledError
  );
}
