/** The connection to the server. Only this file and `client.ts` know the driver. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  CancelledError,
  EventStoreDBClient,
  NotLeaderError,
  StreamNotFoundError,
  UnavailableError,
} from '@eventstore/db-client';
import type { Logger } from 'pino';
import { Semaphore } from '../../async/semaphore.ts';
import { withTimeout } from '../../async/with-timeout.ts';
import type { ConnectionString } from './connection-string.ts';

/** Longest that a call may take; the driver itself sets no limit to reads. */
export const CALL_MS = 4_000;
/** Longest that a read may take with its waits for a slot and a leader, and its second try. */
const READ_MS = 8_000;
/** A server lets a connection have so many calls at once, often 100; the driver hides that more wait. */
const READS_AT_ONCE = 64;
/** A call that a node of a cluster refused, because it does not lead, is made again for longer than an election takes. */
const ELECTION_MS = 2_000;
const ELECTION_LOOK_MS = 100;
/** Seconds that the driver waits for a node to name the leader. Its own 5 are longer than a call may take. */
const GOSSIP_SECONDS = 1;
/** gRPC's state of a channel that was closed. */
const SHUTDOWN = 4;
/** The driver's own default. */
const KEEP_ALIVE_MS = 10_000;
const NEVER_MS = 2 ** 31 - 1;

export interface Call<T> {
  readonly result: Promise<T>;
  readonly cancel: () => void;
}

class NoAnswer extends Error {
  constructor(ms: number) {
    super(`No answer within ${ms} ms.`);
  }
}

/** The driver's client, with what it gets wrong put right. */
export class Driver extends EventStoreDBClient {
  static #made = 0;
  /** Calls that wait for their answer. */
  calls = 0;
  /** The time of the last answer, by `performance.now()`. */
  answeredAt = 0;
  ended = false;
  /** The node that it is connected to, `host:port`; undefined before the first call. */
  node: string | undefined;

  /**
   * @param inOrder appends share one stream, which the server takes in its order
   * @param silent a node that has not answered, `host:port`: it is asked last who leads
   */
  static connect(
    { hosts, discover, ...rest }: ConnectionString,
    inOrder: boolean,
    silent?: string,
  ): Driver {
    const { tls, verify, certificates, user } = rest;
    const keepAliveInterval = Driver.#ownInterval(rest.settings);
    const settings = { gossipTimeout: GOSSIP_SECONDS, ...rest.settings, keepAliveInterval };
    const credentials = {
      insecure: !tls,
      ...certificates,
      verifyOptions: { rejectUnauthorized: verify },
    };
    const [first = { address: '', port: 0 }] = hosts;
    const driver = discover
      ? new Driver({ ...settings, discover: first }, credentials, user)
      : hosts.length > 1
        ? new Driver({ ...settings, endpoints: askedLast(hosts, silent) }, credentials, user)
        : new Driver({ ...settings, endpoint: first }, credentials, user);
    const { execute, getChannel, handleError: reconnect } = driver;
    driver.getChannel = async () => {
      const channel = await getChannel();
      driver.node = channel.getTarget().replace(/^dns:/, '');
      return channel;
    };
    // Where the connection ended while the driver looked for the leader, it would send on the closed channel, inside a
    // promise that nobody awaits: that would end the process.
    driver.execute = (Client, name, action) =>
      execute(Client, name, async (client) => {
        const state: number = client.getChannel().getConnectivityState(false);
        if (state === SHUTDOWN) throw new Error('The connection was closed.');
        return await action(client);
      });
    // Nobody awaits it, and it rejects while no node of a cluster answers: that would end the process.
    driver.handleError = async (client, error) => {
      // A call that was cancelled here says nothing of the connection, which all the others share.
      if (!isCancelledHere(error)) await reconnect(client, error).catch(() => {});
    };
    // Its batch append shares one stream among all appends of the process: where that breaks, all of them
    // fail, and its deadline compares this clock with the server's.
    driver.supports = async () => inOrder;
    return driver;
  }

  /**
   * An interval that no other driver has: gRPC shares a socket among all that have the same settings, so
   * a new connection would use the silent socket of the old one.
   */
  static #ownInterval({
    keepAliveInterval: given = KEEP_ALIVE_MS,
  }: Record<string, number>): number {
    Driver.#made = (Driver.#made + 1) % 1_000;
    return given < 0 ? NEVER_MS - Driver.#made : given + Driver.#made;
  }

  /** The number of nodes in the cluster of the server; 1: it is alone. @throws {Error} it does not say */
  async clusterSize(): Promise<number> {
    const { members } = await this.HTTPRequest<{ readonly members: readonly unknown[] }>(
      'GET',
      '/gossip',
      {},
    );
    return members.length;
  }

  /** Closes the connection too, which `dispose` alone leaves open. */
  async end(): Promise<void> {
    this.ended = true;
    await this.dispose();
    const channel = await this.getChannel();
    channel.close();
  }
}

/**
 * Bounds every call. One without an answer makes later calls use a new connection, unless others were answered
 * meanwhile; calls under way on the old one keep it until they end, for it may be only one answer that is lost.
 */
export class Connection {
  readonly #to: ConnectionString;
  readonly #logger: Logger;
  readonly #slots = new Semaphore(READS_AT_ONCE);
  readonly #inOrder: boolean;
  #driver: Driver;
  #closed = false;

  constructor(to: ConnectionString, logger: Logger, { inOrder } = { inOrder: false }) {
    this.#to = to;
    this.#logger = logger;
    this.#inOrder = inOrder;
    this.#driver = Driver.connect(to, inOrder);
  }

  get driver(): Driver {
    return this.#driver;
  }

  /**
   * Waits for a leader where a node refuses because it does not lead: then nothing was stored.
   * @param withinMs the longest wait for an answer @param end of all waits, by `performance.now()`
   * @throws {Error} the driver's, or that there was no answer in time
   */
  async call<T>(
    start: (driver: Driver) => Call<T>,
    withinMs = CALL_MS,
    end = Number.POSITIVE_INFINITY,
  ): Promise<T> {
    const until = Math.min(performance.now() + ELECTION_MS, end - ELECTION_LOOK_MS);
    for (;;) {
      try {
        return await this.#try(start, withinMs, Math.ceil(end - performance.now()));
      } catch (error) {
        if (!isNotLed(error) || performance.now() >= until) throw error;
        await delay(ELECTION_LOOK_MS);
      }
    }
  }

  async #try<T>(start: (driver: Driver) => Call<T>, withinMs: number, leftMs: number): Promise<T> {
    if (this.#closed) throw new Error('The event store is closed.');
    const driver = this.#driver;
    const limitMs = Math.min(withinMs, leftMs);
    const { result, cancel } = start(driver);
    driver.calls += 1;
    try {
      const value = await withTimeout(limitMs, result, () => new NoAnswer(limitMs));
      // The driver ends a read that is cancelled with its connection as if it had read everything.
      if (driver.ended) throw new Error('The connection was closed.');
      driver.answeredAt = performance.now();
      return value;
    } catch (error) {
      if (error instanceof NoAnswer) {
        cancel();
        // It may have fallen silent after an answer, so an early one does not count. Nor does a call that had little time left.
        const mostMs = withinMs / 2;
        const isSilent = limitMs > mostMs && performance.now() - driver.answeredAt > mostMs;
        if (isSilent) this.#replace(driver);
      }
      throw error;
    } finally {
      driver.calls -= 1;
      if (driver !== this.#driver && driver.calls === 0 && !driver.ended) {
        driver.end().catch(() => {});
      }
    }
  }

  /** A call that may be repeated, and is, once, where nobody answered. */
  async read<T>(start: (driver: Driver) => Call<T>): Promise<T> {
    const end = performance.now() + READ_MS;
    const leave = await this.#slots.acquire();
    const isOver = (): boolean => performance.now() >= end;
    try {
      if (isOver()) throw new NoAnswer(READ_MS);
      return await this.call(start, CALL_MS, end).catch((error: unknown) => {
        if (this.#closed || !isRetried(error) || isOver()) throw error;
        return this.call(start, CALL_MS, end);
      });
    } finally {
      leave();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#driver.end();
  }

  #replace(driver: Driver): void {
    if (this.#driver !== driver || this.#closed) return;
    this.#logger.debug('the event store does not answer: reconnecting');
    this.#driver = Driver.connect(this.#to, this.#inOrder, driver.node);
  }
}

type Host = ConnectionString['hosts'][number];

/**
 * The hosts as the driver asks them who leads: it shuffles them at each look. At the first one the silent host is left out,
 * unless it is the only one, because waiting for it would take a second.
 */
function askedLast(hosts: readonly Host[], silent: string | undefined): Host[] {
  const others = hosts.filter(({ address, port }) => `${address}:${port}` !== silent);
  const looks = [others.length > 0 ? others : hosts].values();
  const endpoints = [...hosts];
  endpoints[Symbol.iterator] = () => (looks.next().value ?? hosts).values();
  return endpoints;
}

/** gRPC's status CANCELLED, with the text that it has for calls that this side ended. */
const isCancelledHere = (error: Error): boolean =>
  'code' in error &&
  error.code === 1 &&
  'details' in error &&
  error.details === 'Cancelled on client';

/** The answers of a node that is not the leader, or does not know of one. */
const isNotLed = (error: unknown): boolean =>
  error instanceof NotLeaderError ||
  (error instanceof UnavailableError && /not ready/i.test(error.message));

function isRetried(error: unknown): boolean {
  return (
    error instanceof NoAnswer ||
    error instanceof UnavailableError ||
    error instanceof CancelledError
  );
}

/** The used fields of an event as the driver gives it. */
export interface DriverEvent {
  readonly streamId: string;
  readonly id: string;
  readonly type: string;
  readonly revision: bigint;
  readonly isJson: boolean;
  readonly data: unknown;
  readonly metadata?: unknown;
  readonly position?: { readonly commit: bigint };
}

interface DriverRead {
  on(event: 'data', listener: (read: { readonly event?: DriverEvent }) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  cancel(): Promise<void>;
}

/** One subscription of the driver, until its first error. */
export interface DriverSubscription {
  on(event: 'readable' | 'caughtUp' | 'end' | 'close', listener: () => void): unknown;
  on(event: 'data', listener: (read: { readonly event?: DriverEvent }) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  read(): { readonly event?: DriverEvent } | null;
  unsubscribe(): Promise<void>;
}

/** All events of a read; none if there is no such stream. */
export function collected(read: DriverRead): Call<DriverEvent[]> {
  const events: DriverEvent[] = [];
  const result = new Promise<DriverEvent[]>((resolve, reject) => {
    read.on('data', ({ event }) => {
      if (event !== undefined) events.push(event);
    });
    read.on('end', () => resolve(events));
    read.on('error', (error) => {
      if (error instanceof StreamNotFoundError) resolve([]);
      else reject(error);
    });
  });
  return { result, cancel: () => void read.cancel().catch(() => {}) };
}
