/**
 * The driver, which no other file imports: what it gets wrong is put right here.
 * docs/decisions/0014-event-store-client.md says why it is this one.
 */
import {
  BACKWARDS,
  END,
  EventStoreDBClient,
  FORWARDS,
  jsonEvent,
  MaxAppendSizeExceededError,
  NO_STREAM,
  type ReadRevision,
  START,
  StreamNotFoundError,
  streamNameFilter,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import readStream from '@eventstore/db-client/dist/streams/utils/ReadStream.js';
import utils from '@eventstore/db-client/dist/utils/index.js';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { Logger } from 'pino';
import type { EventStoreAddress } from './kurrentdb-address.ts';
import { EventFeed } from './kurrentdb-feed.ts';
import { type DriverEvent, placeOf, recordedEvent } from './kurrentdb-event.ts';
import { filteredRead, type LogRange } from './kurrentdb-filtered-read.ts';
import type { StreamNames } from './kurrentdb-names.ts';
import {
  type AppendResult,
  EventStoreUnavailable,
  type NewEvent,
  type RecordedEvent,
} from './port.ts';

/** Longest that a call may take; the driver itself sets no limit to reads. */
const CALL_MS = 4_000;
/** Events that a subscription holds for a handler that is busy. */
const READ_AHEAD = 512;

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

export interface StreamRange {
  /** Default: the first, or the last one when reading backwards. */
  readonly from: number | undefined;
  readonly limit: number;
  readonly backwards: boolean;
}

interface DriverRead {
  on(event: 'data', listener: (read: { readonly event?: DriverEvent }) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  cancel(): Promise<void>;
}

export interface Placed {
  readonly position: bigint;
  readonly isOurs: boolean;
}

class Driver extends EventStoreDBClient {
  static connect({ hosts, discover, ...address }: EventStoreAddress): Driver {
    const { tls, verify, certificates, settings, user } = address;
    const credentials = {
      insecure: !tls,
      ...certificates,
      verifyOptions: { rejectUnauthorized: verify },
    };
    const [first = { address: '', port: 0 }] = hosts;
    const driver = discover
      ? new Driver({ ...settings, discover: first }, credentials, user)
      : hosts.length > 1
        ? new Driver({ ...settings, endpoints: [...hosts] }, credentials, user)
        : new Driver({ ...settings, endpoint: first }, credentials, user);
    const reconnect = driver.handleError;
    // Nobody awaits it, and it rejects while no node of a cluster answers: that would end the process.
    driver.handleError = (client, error) => reconnect(client, error).catch(() => {});
    // Its batch append shares one stream among all appends of the process: where that breaks, all of them
    // fail, and its deadline compares this clock with the server's.
    driver.supports = async () => false;
    return driver;
  }

  readFiltered(prefixes: readonly string[], range: LogRange): DriverRead {
    const request = filteredRead(prefixes, range);
    const start = this.GRPCStreamCreator(streams.StreamsClient, 'readFiltered', (client) =>
      client.read(request, ...this.callArguments({ requiresLeader: true }, { deadline: Infinity })),
    );
    return new readStream.ReadStream(start, utils.convertGrpcEvent, { highWaterMark: READ_AHEAD });
  }

  /** `dispose` alone leaves the connection open. */
  async end(): Promise<void> {
    await this.dispose();
    const channel = await this.getChannel();
    channel.close();
  }
}

export class KurrentDbClient {
  readonly #address: EventStoreAddress;
  readonly #names: StreamNames;
  readonly #logger: Logger;
  #driver: Driver;
  #closed = false;

  constructor(address: EventStoreAddress, names: StreamNames, logger: Logger) {
    this.#address = address;
    this.#names = names;
    this.#logger = logger;
    this.#driver = Driver.connect(address);
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
      const { nextExpectedRevision, position } = await this.#within((driver) => ({
        result: driver.appendToStream(onServer, written, {
          expectedRevision: expected === -1 ? NO_STREAM : BigInt(expected),
          requiresLeader: true,
          deadline: CALL_MS,
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
  async readStream(stream: string, range: StreamRange): Promise<RecordedEvent[]> {
    if (range.limit < 1) return [];
    const fromRevision: ReadRevision =
      range.from === undefined ? (range.backwards ? END : START) : BigInt(range.from);
    const onServer = this.#names.onServer(stream);
    try {
      const events = await this.#collect((driver) =>
        driver.readStream(
          onServer,
          {
            fromRevision,
            maxCount: range.limit,
            direction: range.backwards ? BACKWARDS : FORWARDS,
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

  /** Our events after a position, as they come. */
  follow(after: bigint): EventFeed {
    const subscription = this.#driver.subscribeToAll(
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
    this.#closed = true;
    await this.#driver.end();
  }

  async #collect(start: (driver: Driver) => DriverRead): Promise<DriverEvent[]> {
    return this.#within((driver) => {
      const read = start(driver);
      const events: DriverEvent[] = [];
      const result = new Promise<DriverEvent[]>((resolve, reject) => {
        read.on('data', ({ event }: { event?: DriverEvent }) => {
          if (event !== undefined) events.push(event);
        });
        read.on('end', () => resolve(events));
        read.on('error', reject);
      });
      return { result, cancel: () => void read.cancel().catch(() => {}) };
    });
  }

  /** Waits for a call for so long; a connection that does not answer is given up for a new one. */
  async #within<T>(
    start: (driver: Driver) => { readonly result: Promise<T>; readonly cancel: () => void },
  ): Promise<T> {
    if (this.#closed) throw new Error('The event store is closed.');
    const driver = this.#driver;
    const { result, cancel } = start(driver);
    const { promise: late, reject } = Promise.withResolvers<never>();
    const deadline = setTimeout(() => {
      reject(new Error(`No answer within ${CALL_MS} ms.`));
      cancel();
      this.#replace(driver);
    }, CALL_MS);
    try {
      return await Promise.race([result, late]);
    } finally {
      clearTimeout(deadline);
    }
  }

  #replace(driver: Driver): void {
    if (this.#driver !== driver || this.#closed) return;
    this.#logger.warn('the event store does not answer: connecting anew');
    this.#driver = Driver.connect(this.#address);
    driver.end().catch(() => {});
  }
}

function unavailable(message: string, cause: unknown): EventStoreUnavailable {
  return new EventStoreUnavailable(message, { cause });
}
