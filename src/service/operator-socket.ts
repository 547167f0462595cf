/**
 * The socket in DATA_DIR by which commands on this machine ask the service that runs on it, with an operator's rights.
 * Its permissions are those of the store beside it: who can reach it needs no service to read and change that.
 */
import { once } from 'node:events';
import { chmodSync, lstatSync, renameSync, rmSync, type Stats, statSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Stoppable } from '../async/stoppable.ts';
import { assertOwned } from '../documents/ownership.ts';
import { errorMessage } from '../errors/error-message.ts';
import type { Logger } from '../observe/log.ts';

const socketOf = (dataDir: string): string => join(dataDir, 'operator.sock');

/** Requests under way when the service stops are given this long. */
const DRAIN_MS = 10_000;
/** Of a `sockaddr_un`, without the byte that ends it; some systems have four more. */
const MAX_PATH_BYTES = 103;

/** Where it cannot listen, it says so: commands then open the store themselves. */
export async function listenForCommands(
  dataDir: string,
  handle: RequestListener,
  logger: Logger,
): Promise<Stoppable> {
  const path = socketOf(dataDir);
  // Nobody finds it before it is for its owner alone, and it takes the place of one that a crash has left.
  const unnamed = `${path}.${process.pid}`;
  const server = createServer(handle);
  let inode: number;
  try {
    if (Buffer.byteLength(unnamed) > MAX_PATH_BYTES) throw new Error('its path is too long');
    rmSync(unnamed, { force: true });
    server.listen(unnamed);
    await once(server, 'listening');
    chmodSync(unnamed, 0o600);
    inode = lstatSync(unnamed).ino;
    renameSync(unnamed, path);
  } catch (error) {
    server.close();
    const reason = errorMessage(error);
    logger.warn({ reason }, `there is no ${path}: commands open the store beside the service`);
    return { stop: async () => {} };
  }
  return {
    stop: async (hurry) => {
      // Another service on the same directory may have put its own there.
      if (look(path)?.ino === inode) rmSync(path, { force: true });
      const endAll = (): void => server.closeAllConnections();
      const drained = setTimeout(endAll, DRAIN_MS);
      hurry?.addEventListener('abort', endAll);
      const closed = once(server, 'close');
      server.close();
      if (hurry?.aborted === true) endAll();
      await closed;
      clearTimeout(drained);
    },
  };
}

/**
 * Connects to the service that runs on the directory.
 * @returns undefined where none does, or none that this user may ask
 * @throws {Error} one line: somebody else controls the directory
 */
export async function connectToService(dataDir: string): Promise<Socket | undefined> {
  const path = socketOf(dataDir);
  const stats = look(path);
  // A link is not followed: what it leads to might be anybody's.
  if (stats?.isSocket() !== true) return undefined;
  assertOwned(dataDir, statSync(dataDir));
  assertOwned(path, stats);
  const socket = createConnection(path);
  try {
    await once(socket, 'connect');
    return socket;
  } catch {
    return undefined;
  }
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // The store beside it cannot be used either, and says why.
    return undefined;
  }
}
