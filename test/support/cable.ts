/** A connection to a server on loopback that a test can cut so that nobody is told. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

/** Between a node and the server: cut, bytes no longer pass and nobody is told. */
export async function cable(t: Test, port: number): Promise<{ url: string; cut: () => void }> {
  const sockets = new Set<Socket>();
  let whole = true;
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const socket of [near, far]) sockets.add(socket.on('error', () => socket.destroy()));
    near.on('data', (bytes) => whole && far.write(bytes));
    far.on('data', (bytes) => whole && near.write(bytes));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return {
    url: `nats://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    cut: () => {
      whole = false;
    },
  };
}
