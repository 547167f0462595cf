/** The calls of the driver that the event store uses, in the terms of its port. */
import {
  BACKWARDS,
  END,
  FORWARDS,
  jsonEvent,
  MaxAppendSizeExceededError,
  NO_STREAM,
  type Position,
  START,
  streamNameFilter,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import type { Logger } from 'pino';
import { Outage } from '../../observe/outage.ts';
import {
  type AppendResult,
  AppendTooLarge,
  EventStoreUnavailable,
  type ExpectedRevision,
  type NewEvent,
  type RecordedEvent,
  VersionConflict,
} from '../port.ts';
import {
  CALL_MS,
  type Call,
  Connection,
  collected,
  type Driver,
  type DriverEvent,
  type DriverSubscription,
} from './connection.ts';
import type { ConnectionString } from './connection-string.ts';
import { placeOf, recordedEvent } from './recorded-event.ts';

/** Events that a read or a subscription holds for a handler that is busy. */
const READ_AHEAD = 512;
/** Entries that a read of the log looks at before it takes a subscription, which knows new ones later. */
const NEAR = 32;
/** Milliseconds after which a read of the log that gets on is continued by another call. */
const STEP_MS = 1_000;
/** The deadline of appends in order. The server compares it with its own clock, and has a limit of its own. */
const IN_ORDER_DEADLINE_MS = 24 * 60 * 60 * 1000;

/** Lies beside the logs: with a dot it is none of ours without a namespace, and no namespace has a hyphen. */
export const BARRIER_STREAM = 'pressledger-barrier';

/** Part of a read of the log. */
interface Step {
  readonly events: readonly DriverEvent[];
  /** None of our events before this position is missing. */
  readonly reached: bigint;
  readonly isEnd: boolean;
}

export interface Append {
  readonly stream: string;
  readonly events: readonly NewEvent[];
  readonly expected: ExpectedRevision;
}

/** An event of the whole log, whosever it is. */
export interface LogEntry {
  readonly position: bigint;
  readonly isOurs: boolean;
}

export class KurrentDbClient {
  readonly #namespace: string;
  /** Matches the streams of this service; the others are the server's own or another namespace's. */
  readonly #ours: RegExp;
  readonly #connection: Connection;
  /** Copies alone are appended by it. */
  readonly #openInOrder: () => Connection;
  #inOrder: Connection | undefined;
  readonly #outage: Outage;
  #closed = false;

  constructor(to: ConnectionString, logger: Logger) {
    this.#outage = new Outage('the event store', logger);
    this.#namespace = to.namespace;
    this.#ours = to.namespace === '' ? /^[^$.][^.]*$/ : new RegExp(`^${to.namespace}\\.`);
    this.#connection = new Connection(to, logger);
    this.#openInOrder = () => new Connection(to, logger, { inOrder: true });
  }

  /**
   * @throws {VersionConflict} its actual revision may count an event that cannot be read yet
   * @throws {EventStoreUnavailable} its outcome is not known
   */
  append(
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
  ): Promise<AppendResult> {
    // The limit of the call decides; the driver's own would count what keeps this process busy.
    return this.#appendBy(this.#connection, { stream, events, expected }, 2 * CALL_MS);
  }

  /**
   * Appends one after the other without a wait for each answer. Where it rejects, some may be stored.
   * @throws {VersionConflict} @throws {EventStoreUnavailable} the first that failed
   */
  async appendInOrder([first, ...others]: readonly Append[]): Promise<void> {
    if (first === undefined) return;
    const connection = (this.#inOrder ??= this.#openInOrder());
    // The driver opens its stream with the first one.
    await this.#appendBy(connection, first, IN_ORDER_DEADLINE_MS);
    const sent = others.map((append) => this.#appendBy(connection, append, IN_ORDER_DEADLINE_MS));
    const outcomes = await Promise.allSettled(sent);
    const failed = outcomes.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  async #appendBy(
    connection: Connection,
    { stream, events, expected }: Append,
    deadline: number,
  ): Promise<AppendResult> {
    const written = events.map(({ id, type, data, metadata }) =>
      jsonEvent({ id, type, data: { ...data }, metadata: { ...metadata } }),
    );
    try {
      const { nextExpectedRevision, position } = await connection.call((driver) => ({
        result: driver.appendToStream(this.#nameOf(stream), written, {
          expectedRevision: expected === 'no-stream' ? NO_STREAM : BigInt(expected),
          requiresLeader: true,
          deadline,
        }),
        cancel: endsItself,
      }));
      this.#outage.worked();
      return { revision: Number(nextExpectedRevision), position: placeOf(position) };
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) {
        const { actualVersion: actual } = error;
        throw new VersionConflict(stream, expected, actual === NO_STREAM ? -1 : Number(actual));
      }
      if (error instanceof MaxAppendSizeExceededError) {
        throw new AppendTooLarge(
          `${events.length} events for ${stream} are more than the server takes in one append: ` +
            `raise its --max-append-size (${error.maxAppendSize} bytes).`,
          error.maxAppendSize,
          error,
        );
      }
      throw this.failed(
        new EventStoreUnavailable('The event store did not confirm an append.', { cause: error }),
      );
    }
  }

  /** Empty if there is no such stream. @throws {EventStoreUnavailable} */
  async readStream(stream: string, from: number, limit: number): Promise<RecordedEvent[]> {
    if (limit < 1) return [];
    const name = this.#nameOf(stream);
    const range = { fromRevision: BigInt(from), maxCount: limit, direction: FORWARDS } as const;
    const events = await this.#call((driver) =>
      collected(
        driver.readStream(name, { ...range, requiresLeader: true }, { highWaterMark: READ_AHEAD }),
      ),
    );
    return events.map((event) => this.recordedEvent(event));
  }

  /**
   * Events of our streams after a position: the nearest by a read, as they are most often all. The server filters
   * subscriptions only, so the others come by one that ends with the log, in steps that end soon enough to be waited for
   * however much others have written.
   * @throws {EventStoreUnavailable}
   */
  async readAll(after: bigint, limit: number): Promise<RecordedEvent[]> {
    let step = await this.#near(after);
    const found = step.events.slice(0, limit).map((event) => this.recordedEvent(event));
    while (!step.isEnd && found.length < limit) {
      const { reached } = step;
      step = await this.#call((driver) => this.#step(driver, reached, limit - found.length));
      found.push(...step.events.map((event) => this.recordedEvent(event)));
    }
    return found;
  }

  /**
   * The log's last entries, the last one first.
   * @param before exclusive; default: the end
   * @throws {EventStoreUnavailable}
   */
  async readTail(before: bigint | undefined, limit: number): Promise<readonly LogEntry[]> {
    const events = await this.#call((driver) =>
      collected(
        driver.readAll({
          fromPosition: before === undefined ? END : { commit: before, prepare: before },
          maxCount: limit,
          direction: BACKWARDS,
          requiresLeader: true,
        }),
      ),
    );
    return events.map(({ position, streamId }) => ({
      position: placeOf(position),
      isOurs: this.#ours.test(streamId),
    }));
  }

  /** The nodes of the cluster that the server belongs to; undefined where it does not say. */
  async clusterSize(): Promise<number | undefined> {
    return await this.#connection
      .call((driver) => ({ result: driver.clusterSize(), cancel: endsItself }))
      .catch(() => undefined);
  }

  recordedEvent(event: DriverEvent): RecordedEvent {
    return recordedEvent(event, this.#namespace);
  }

  /** Our events after a position, as they come. */
  subscribe(after: bigint): DriverSubscription {
    return this.#subscribe(this.#connection.driver, after);
  }

  /** Counts a failure as one of an outage, and returns it. */
  failed<E extends Error>(error: E): E {
    return this.#closed ? error : this.#outage.failed(error);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.#connection.close(), this.#inOrder?.close()]);
  }

  #nameOf(stream: string): string {
    if (stream === BARRIER_STREAM) return `${stream}.${this.#namespace || '-'}`;
    return this.#namespace === '' ? stream : `${this.#namespace}.${stream}`;
  }

  async #near(after: bigint): Promise<Step> {
    const entries = await this.#call((driver) =>
      collected(
        driver.readAll({
          fromPosition: after === 0n ? START : { commit: after, prepare: after },
          maxCount: NEAR,
          direction: FORWARDS,
          requiresLeader: true,
        }),
      ),
    );
    const last = entries.at(-1);
    return {
      // Such a read begins with the entry at the position itself.
      events: entries.filter(
        ({ streamId, position }) => this.#ours.test(streamId) && placeOf(position) > after,
      ),
      reached: last === undefined ? after : placeOf(last.position),
      isEnd: entries.length < NEAR,
    };
  }

  /** Reads on until there are enough, the log ends, or its time is over and it has got on. */
  #step(driver: Driver, after: bigint, limit: number): Call<Step> {
    const { promise, resolve, reject } = Promise.withResolvers<Step>();
    const until = performance.now() + STEP_MS;
    const events: DriverEvent[] = [];
    let reached = after;
    let ended = false;
    const end = (isEnd: boolean): void => {
      ended = true;
      resolve({ events, reached, isEnd });
    };
    // The driver's report of a position may overtake the events before it.
    const drain = (): void => {
      while (subscription.read() !== null);
    };
    const subscription = this.#subscribe(driver, after, (position) => {
      drain();
      if (ended) return;
      reached = position;
      if (performance.now() > until) end(false);
    });
    subscription.on('data', ({ event }) => {
      if (ended || event === undefined) return;
      events.push(event);
      reached = placeOf(event.position);
      if (events.length === limit || performance.now() > until) end(false);
    });
    subscription.on('caughtUp', () => {
      drain();
      if (!ended) end(true);
    });
    subscription.on('error', reject);
    subscription.on('end', () => reject(new Error('The server ended the read.')));
    const cancel = (): void => void subscription.unsubscribe().catch(() => {});
    return { result: promise.finally(cancel), cancel };
  }

  #subscribe(
    driver: Driver,
    after: bigint,
    checkpoint?: (position: bigint) => void,
  ): DriverSubscription {
    const checkpointReached =
      checkpoint && ((_: unknown, { commit }: Position): void => checkpoint(commit));
    return driver.subscribeToAll(
      {
        fromPosition: after === 0n ? START : { commit: after, prepare: after },
        filter: streamNameFilter({
          regex: this.#ours.source,
          ...(checkpointReached && { checkpointReached }),
        }),
        requiresLeader: true,
      },
      { highWaterMark: READ_AHEAD },
    );
  }

  async #call<T>(start: (driver: Driver) => Call<T>): Promise<T> {
    try {
      const answer = await this.#connection.read(start);
      this.#outage.worked();
      return answer;
    } catch (error) {
      throw this.failed(
        new EventStoreUnavailable('The event store could not be read.', { cause: error }),
      );
    }
  }
}

/** What the driver gives no way to cancel. */
const endsItself = (): void => {};
