/** A connection to a server on loopback that a test can cut, or hold up, so that nobody is told. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

export interface Cable {
  readonly url: string;
  /** Bytes no longer pass. */
  readonly cut: () => void;
  /** What the server says stays on its way, from the next bytes with this text until the returned function is called. */
  readonly holdUp: (text: string) => () => void;
}

/** Between a node and the server on a port of this machine. */
export async function cable(t: Test, port: number): Promise<Cable> {
  const sockets = new Set<Socket>();
  let whole = true;
  let holdsFrom: string | undefined;
  let onTheirWay: (() => void)[] | undefined;
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const socket of [near, far]) sockets.add(socket.on('error', () => socket.destroy()));
    near.on('close', () => whole && far.destroy());
    far.on('close', () => whole && near.destroy());
    near.on('data', (bytes) => whole && far.write(bytes));
    far.on('data', (bytes) => {
      const pass = (): unknown => whole && near.write(bytes);
      if (holdsFrom !== undefined && bytes.includes(holdsFrom)) onTheirWay ??= [];
      if (onTheirWay) onTheirWay.push(pass);
      else pass();
    });
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
    holdUp: (text) => {
      holdsFrom = text;
      return () => {
        holdsFrom = undefined;
        for (const pass of onTheirWay ?? []) pass();
        onTheirWay = undefined;
      };
    },
  };
}
