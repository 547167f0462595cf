/** Servers on loopback: one of a test, and one that counts what reaches it over TCP and UDP on one port number. */
import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import type { Test } from 'tap';

export interface CountingListener {
  readonly port: number;
  /** TCP connections and UDP packets so far. */
  readonly tcp: number;
  readonly udp: number;
  close(): Promise<void>;
}

/** Has a server listen on loopback until the test ends; returns its port. */
export async function listening(t: Pick<Test, 'teardown'>, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** @param serve what to do with each connection; default: nothing */
export async function countingListener(
  serve: (socket: Socket) => void = () => {},
): Promise<CountingListener> {
  const sockets = new Set<Socket>();
  let tcp = 0;
  let udp = 0;
  const server: Server = createServer((socket) => {
    tcp += 1;
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
    serve(socket);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  const packets = createSocket('udp4', () => {
    udp += 1;
  });
  await new Promise<void>((ready) => packets.bind(port, '127.0.0.1', ready));
  return {
    port,
    get tcp() {
      return tcp;
    },
    get udp() {
      return udp;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      packets.close();
      await new Promise((closed) => server.close(closed));
    },
  };
}
