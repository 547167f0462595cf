/** The connection to NATS that a process's adapters share: checked at the start, then kept for ever. */
import { JetStreamApiError, jetstreamManager } from '@nats-io/jetstream';
import { connect, errors, type NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { withTimeout } from '../async/with-timeout.ts';
import { errorMessage } from '../errors/error-message.ts';
import { markTold } from '../observe/outage.ts';
import { type NatsAddress, parseNatsUrl } from './address.ts';

export interface NatsLink {
  readonly connection: NatsConnection;
  /** The namespace of this deployment's streams, buckets and subjects. */
  readonly namespace: string;
  /** The servers that are to keep each stream and bucket which this process makes. */
  readonly replicas: number;
  /** The prefix of the subjects on which answers to this connection come in. */
  readonly inboxPrefix: string;
  /** True while the server can be reached, as far as this process knows. */
  isUp(): boolean;
  /** Calls back after each reconnection; returns the function that ends it. */
  onReconnect(listener: () => void): () => void;
  /** Calls back when a connection is lost; returns the function that ends it. */
  onDisconnect(listener: () => void): () => void;
  /** Settles as the work does, but rejects as soon as the connection is lost: no answer comes then. */
  whileUp<T>(work: Promise<T>): Promise<T>;
  /** As `whileUp`, and does not begin while the connection is down: it rejects at once. */
  ifUp: IfUp;
  close(): Promise<void>;
}

/** Runs work that needs a link. @throws at once, where the link is known to be down */
export type IfUp = <T>(work: () => Promise<T>) => Promise<T>;

export interface NatsLinkOptions {
  /** The name of this client in the server's own reports. */
  readonly name: string;
  readonly logger: Logger;
  /** The prefix for answers; default `_INBOX`. A user who may not read other users' answers has its own. */
  readonly inboxPrefix?: string;
}

/** Debian 12's nats-server is 2.9.10: everything that the adapters use is in 2.9.0. */
const OLDEST: readonly [number, number] = [2, 9];
const CONNECT_MS = 5000;
const RECONNECT_WAIT_MS = 250;
/** Two pings without an answer end a connection that died without a word. */
const PING_MS = 5000;
const CLOSE_MS = 1000;
/** The time between two looks at a server of a cluster, and the longest wait for its answer. */
const LOOK_MS = 5000;
/** Elections take some seconds: so many looks in a row must fail. */
const FAILED_LOOKS = 2;

/** @throws {Error} one line that names the server, without its credentials, and the remedy */
export async function connectToNats(url: string, options: NatsLinkOptions): Promise<NatsLink> {
  const address = parseNatsUrl(url);
  const connection = await open(address, options);
  try {
    await check(connection, address);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return follow(connection, address, options);
}

async function open(
  address: NatsAddress,
  { name, inboxPrefix }: NatsLinkOptions,
): Promise<NatsConnection> {
  try {
    return await connect({
      servers: [...address.servers],
      ...address.credentials,
      ...(address.encrypted ? { tls: {} } : {}),
      name,
      ...(inboxPrefix === undefined ? {} : { inboxPrefix }),
      timeout: CONNECT_MS,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RECONNECT_WAIT_MS,
      pingInterval: PING_MS,
      // Two stacks for each request, most of them never looked at, are a fiftieth of an API node's work.
      noAsyncTraces: true,
      // A password that is being changed must not end the service.
      ignoreAuthErrorAbort: true,
    });
  } catch (error) {
    const { display } = address;
    if (error instanceof errors.AuthorizationError) {
      throw new Error(`NATS at ${display} refuses the credentials: check NATS_URL.`, {
        cause: error,
      });
    }
    throw new Error(
      `NATS at ${display} cannot be reached (${errorMessage(error)}): check NATS_URL and that the server runs.`,
      { cause: error },
    );
  }
}

async function check(
  connection: NatsConnection,
  { display, replicas }: NatsAddress,
): Promise<void> {
  const version = connection.info?.version ?? 'unknown';
  if (isTooOld(version)) {
    throw new Error(`NATS at ${display} is version ${version}: 2.9.0 or later is needed.`);
  }
  if (replicas > 1 && connection.info?.cluster === undefined) {
    throw new Error(
      `NATS at ${display} is a single server and keeps no ${replicas} replicas: remove replicas from NATS_URL, or name a cluster.`,
    );
  }
  try {
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout: CONNECT_MS });
    await manager.getAccountInfo();
  } catch (error) {
    if (error instanceof errors.PermissionViolationError) {
      throw new Error(`NATS at ${display} does not let this user ask $JS.API.INFO: allow it.`, {
        cause: error,
      });
    }
    const disabled =
      error instanceof JetStreamApiError ||
      (error instanceof errors.RequestError && error.isNoResponders()) ||
      (error instanceof Error && error.name === 'JetStreamNotEnabled');
    throw new Error(
      disabled
        ? `NATS at ${display} has JetStream not enabled (${errorMessage(error)}): start it with -js, or enable it for the account.`
        : `NATS at ${display} does not answer for JetStream (${errorMessage(error)}).`,
      { cause: error },
    );
  }
}

export function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}

function follow(
  connection: NatsConnection,
  { namespace, replicas }: NatsAddress,
  { logger, inboxPrefix = '_INBOX' }: NatsLinkOptions,
): NatsLink {
  const atReturn = new Set<() => void>();
  const atLoss = new Set<() => void>();
  let up = true;
  const statuses = async (): Promise<void> => {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect') {
        if (up) logger.warn({ server: status.server }, 'NATS is away: connecting again');
        up = false;
        for (const listener of atLoss) listener();
      } else if (status.type === 'reconnect') {
        up = true;
        logger.info({ server: status.server }, 'NATS is back');
        for (const listener of atReturn) listener();
      } else if (status.type === 'error') {
        logger.error({ err: status.error }, 'NATS reports an error');
      }
    }
  };
  void statuses().catch((error: unknown) => logger.error({ err: error }, 'NATS status'));
  const stopLooking = leaveWhenCutOff(connection, () => up, logger);
  const onDisconnect = (listener: () => void): (() => void) => {
    atLoss.add(listener);
    return () => atLoss.delete(listener);
  };
  const isUp = (): boolean => up && !connection.isClosed();
  const whileUp = async <T>(work: Promise<T>): Promise<T> => {
    const { promise: lost, reject } = Promise.withResolvers<never>();
    const forget = onDisconnect(() =>
      reject(markTold(new Error('The connection to NATS was lost.'))),
    );
    try {
      return await Promise.race([work, lost]);
    } finally {
      forget();
    }
  };
  return {
    connection,
    namespace,
    replicas,
    inboxPrefix,
    isUp,
    onReconnect: (listener) => {
      atReturn.add(listener);
      return () => atReturn.delete(listener);
    },
    onDisconnect,
    whileUp,
    ifUp: async (work) => {
      if (!isUp()) throw markTold(new Error('NATS is away.'));
      return await whileUp(work());
    },
    close: async () => {
      stopLooking();
      if (connection.isClosed()) return;
      // Messages that were published before the end must still leave. A server that is away cannot take them.
      if (up) await withTimeout(CLOSE_MS, connection.flush()).catch(() => {});
      await connection.close();
    },
  };
}

/**
 * Goes to another server of the cluster when this one reaches no other: its connections stay, but JetStream does not answer.
 * @returns the function that ends it
 */
function leaveWhenCutOff(
  connection: NatsConnection,
  isUp: () => boolean,
  logger: Logger,
): () => void {
  let failed = 0;
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking || connection.isClosed() || connection.info?.cluster === undefined) return;
    if (!isUp()) {
      failed = 0;
      return;
    }
    looking = true;
    try {
      const manager = await jetstreamManager(connection, { checkAPI: false, timeout: LOOK_MS });
      await manager.getAccountInfo();
      failed = 0;
    } catch {
      failed += 1;
      if (failed < FAILED_LOOKS || connection.isClosed() || !isUp()) return;
      failed = 0;
      logger.warn('JetStream does not answer at this server of NATS: going to another');
      await connection.reconnect();
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => void look().catch(() => {}), LOOK_MS).unref();
  return () => clearInterval(timer);
}
