/**
 * The driver, which no other file imports: what it gets wrong is put right here.
 * docs/decisions/0014-event-store-client.md says why it is this one.
 */
import {
  BACKWARDS,
  END,
  FORWARDS,
  jsonEvent,
  MaxAppendSizeExceededError,
  NO_STREAM,
  START,
  StreamNotFoundError,
  streamNameFilter,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import type { Logger } from 'pino';
import type { EventStoreAddress } from './connection-string.ts';
import { CALL_MS, type Call, Connection } from './connection.ts';
import { type Driver, type DriverRead, READ_AHEAD } from './driver.ts';
import { EventFeed } from './feed.ts';
import { type DriverEvent, placeOf, recordedEvent } from './event.ts';
import type { LogRange } from './filtered-read.ts';
import type { StreamNames } from './names.ts';
import {
  type AppendResult,
  EventStoreUnavailable,
  type NewEvent,
  type RecordedEvent,
} from '../port.ts';

/** The stream is not at the revision that an append expected, or a part of the append is known. */
export class WrongRevision extends Error {
  override readonly name = 'WrongRevision';
  /** The stream's last revision, -1 where there is none; it may count what cannot be read yet. */
  readonly actual: number;

  constructor(actual: number) {
    super(`The stream is at revision ${actual}.`);
    this.actual = actual;
  }
}

export interface Placed {
  readonly position: bigint;
  readonly isOurs: boolean;
}

export class KurrentDbClient {
  readonly #names: StreamNames;
  readonly #connection: Connection;

  constructor(address: EventStoreAddress, names: StreamNames, logger: Logger) {
    this.#names = names;
    this.#connection = new Connection(address, logger);
  }

  /**
   * @param expected the stream's last revision, -1 where there must be none
   * @throws {WrongRevision}
   * @throws {EventStoreUnavailable} whether it is stored is not known
   */
  async append(
    stream: string,
    events: readonly NewEvent[],
    expected: number,
  ): Promise<AppendResult> {
    const onServer = this.#names.onServer(stream);
    const written = events.map(({ id, type, data, metadata }) =>
      jsonEvent({ id, type, data: { ...data }, metadata: { ...metadata } }),
    );
    try {
      const { nextExpectedRevision, position } = await this.#connection.call((driver) => ({
        result: driver.appendToStream(onServer, written, {
          expectedRevision: expected === -1 ? NO_STREAM : BigInt(expected),
          requiresLeader: true,
          // The limit of the call decides; the driver's own would count what keeps this process busy.
          deadline: 2 * CALL_MS,
        }),
        cancel: () => {},
      }));
      return { revision: Number(nextExpectedRevision), position: placeOf(position) };
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) {
        const { actualVersion } = error;
        throw new WrongRevision(actualVersion === NO_STREAM ? -1 : Number(actualVersion));
      }
      if (error instanceof MaxAppendSizeExceededError) {
        throw new Error(
          `${events.length} events for ${stream} are more than the server takes in one append: ` +
            `raise its --max-append-size (${error.maxAppendSize} bytes).`,
          { cause: error },
        );
      }
      throw unavailable('The event store did not confirm an append.', error);
    }
  }

  /** Empty where there is no such stream. @throws {EventStoreUnavailable} */
  async readStream(stream: string, from: number, limit: number): Promise<RecordedEvent[]> {
    if (limit < 1) return [];
    const onServer = this.#names.onServer(stream);
    try {
      const events = await this.#collect((driver) =>
        driver.readStream(
          onServer,
          {
            fromRevision: BigInt(from),
            maxCount: limit,
            direction: FORWARDS,
            requiresLeader: true,
          },
          { highWaterMark: READ_AHEAD },
        ),
      );
      return events.map((event) => recordedEvent(event, this.#names));
    } catch (error) {
      if (error instanceof StreamNotFoundError) return [];
      throw unavailable('The event store could not be read.', error);
    }
  }

  /** Events of all our streams. @throws {EventStoreUnavailable} */
  async readAll(range: LogRange): Promise<RecordedEvent[]> {
    if (range.limit < 1) return [];
    try {
      const events = await this.#collect((driver) =>
        driver.readFiltered(this.#names.prefixes, range),
      );
      return events.map((event) => recordedEvent(event, this.#names));
    } catch (error) {
      throw unavailable('The event store could not be read.', error);
    }
  }

  /**
   * The log's last events, whosever they are, the last one first.
   * @param before exclusive; default: the end
   * @throws {EventStoreUnavailable}
   */
  async readTail(before: bigint | undefined, limit: number): Promise<readonly Placed[]> {
    try {
      const events = await this.#collect((driver) =>
        driver.readAll({
          fromPosition: before === undefined ? END : { commit: before, prepare: before },
          maxCount: limit,
          direction: BACKWARDS,
          requiresLeader: true,
        }),
      );
      return events.map(({ position, streamId }) => ({
        position: placeOf(position),
        isOurs: this.#names.isOurs(streamId),
      }));
    } catch (error) {
      throw unavailable('The event store could not be read.', error);
    }
  }

  /**
   * The last of our events before a position. The server looks at every event on the way, some 200,000
   * in a second, so this may take long; other calls do not suffer from it.
   * @throws {EventStoreUnavailable}
   */
  async findBefore(before: bigint): Promise<bigint | undefined> {
    return this.#find({ from: before, limit: 1, backwards: true }, (at) => at < before);
  }

  /** The first of our events after a position; may take as long. @throws {EventStoreUnavailable} */
  async findAfter(after: bigint): Promise<bigint | undefined> {
    // One more than is wanted: the first may be the one at `after`.
    return this.#find({ from: after, limit: 2, backwards: false }, (at) => at > after);
  }

  async #find(range: LogRange, isTaken: (at: bigint) => boolean): Promise<bigint | undefined> {
    try {
      return await this.#connection.search((driver) =>
        firstOf(driver.readFiltered(this.#names.prefixes, range), isTaken),
      );
    } catch (error) {
      throw unavailable('The event store could not be searched.', error);
    }
  }

  /** Whether the server answers and lets its log be read; one try only. @throws {Error} the driver's own */
  async probe(): Promise<void> {
    await this.#connection.call((driver) =>
      collected(
        driver.readAll({
          fromPosition: END,
          maxCount: 1,
          direction: BACKWARDS,
          requiresLeader: true,
        }),
      ),
    );
  }

  /** Our events after a position, as they come. */
  follow(after: bigint): EventFeed {
    const subscription = this.#connection.driver.subscribeToAll(
      {
        fromPosition: after === 0n ? START : { commit: after, prepare: after },
        filter: streamNameFilter({ prefixes: [...this.#names.prefixes] }),
        requiresLeader: true,
      },
      { highWaterMark: READ_AHEAD },
    );
    return new EventFeed(subscription, (event) => recordedEvent(event, this.#names));
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  #collect(start: (driver: Driver) => DriverRead): Promise<DriverEvent[]> {
    return this.#connection.read((driver) => collected(start(driver)));
  }
}

function collected(read: DriverRead): Call<DriverEvent[]> {
  const events: DriverEvent[] = [];
  const result = new Promise<DriverEvent[]>((resolve, reject) => {
    read.on('data', ({ event }) => {
      if (event !== undefined) events.push(event);
    });
    read.on('end', () => resolve(events));
    read.on('error', reject);
  });
  return { result, cancel: () => void read.cancel().catch(() => {}) };
}

/** The first event that is taken, after which the server would go on searching for more. */
function firstOf(read: DriverRead, isTaken: (at: bigint) => boolean): Call<bigint | undefined> {
  const cancel = (): void => void read.cancel().catch(() => {});
  const result = new Promise<bigint | undefined>((resolve, reject) => {
    read.on('data', ({ event }) => {
      const at = event === undefined ? undefined : placeOf(event.position);
      if (at === undefined || !isTaken(at)) return;
      resolve(at);
      cancel();
    });
    read.on('end', () => resolve(undefined));
    read.on('error', reject);
  });
  return { result, cancel };
}

function unavailable(message: string, cause: unknown): EventStoreUnavailable {
  return new EventStoreUnavailable(message, { cause });
}
