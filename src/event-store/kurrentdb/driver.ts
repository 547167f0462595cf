/** The driver's client, with what it gets wrong put right. */
import { EventStoreDBClient } from '@eventstore/db-client';
import readStream from '@eventstore/db-client/dist/streams/utils/ReadStream.js';
import utils from '@eventstore/db-client/dist/utils/index.js';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { EventStoreAddress } from './connection-string.ts';
import type { DriverEvent } from './event.ts';
import { filteredRead, type LogRange } from './filtered-read.ts';

/** Events that a read or a subscription holds for a handler that is busy. */
export const READ_AHEAD = 512;

export interface DriverRead {
  on(event: 'data', listener: (read: { readonly event?: DriverEvent }) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  cancel(): Promise<void>;
}

/** The driver's own default. */
const KEEP_ALIVE_MS = 10_000;
const NEVER_MS = 2 ** 31 - 1;

export class Driver extends EventStoreDBClient {
  static #made = 0;

  static connect({ hosts, discover, ...address }: EventStoreAddress): Driver {
    const { tls, verify, certificates, user } = address;
    const settings = { ...address.settings, keepAliveInterval: Driver.#ownInterval(address) };
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
    driver.handleError = async (client, error) => {
      // A call that was cancelled here says nothing of the connection, which all the others share.
      if (!utils.isClientCancellationError(error)) await reconnect(client, error).catch(() => {});
    };
    // Its batch append shares one stream among all appends of the process: where that breaks, all of them
    // fail, and its deadline compares this clock with the server's.
    driver.supports = async () => false;
    return driver;
  }

  /**
   * One that no other has, in milliseconds: gRPC shares a socket among all that have the same settings, so
   * a new connection would use the silent socket of the old one.
   */
  static #ownInterval({ settings }: Pick<EventStoreAddress, 'settings'>): number {
    Driver.#made = (Driver.#made + 1) % 1_000;
    const { keepAliveInterval: given = KEEP_ALIVE_MS } = settings;
    return given < 0 ? NEVER_MS - Driver.#made : given + Driver.#made;
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
