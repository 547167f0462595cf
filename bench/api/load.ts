/**
 * The load: one request at a time on each kept-alive connection. It reads no more of an answer than its
 * status and its length, so that it is never what is slow.
 */
import { connect } from 'node:net';
import type { Load } from './messages.ts';

const END_OF_HEAD = Buffer.from('\r\n\r\n');

function requestBytes({ port, method, path, headers, body = '' }: Load): Buffer {
  const all = {
    Host: `127.0.0.1:${port}`,
    ...headers,
    ...(body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

/** Bytes of the answer at the start of `bytes`, 0 while it is not whole. */
function answerLength(bytes: Buffer, status: number): number {
  const end = bytes.indexOf(END_OF_HEAD);
  if (end === -1) return 0;
  const head = bytes.toString('latin1', 0, end);
  if (!head.startsWith(`HTTP/1.1 ${status} `)) throw new Error(`Not ${status}: ${String(bytes)}`);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`An answer without a length: ${head}`);
  const whole = end + END_OF_HEAD.length + Number(length);
  return bytes.length < whole ? 0 : whole;
}

function connection(load: Load, request: Buffer, takeTurn: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(load.port, '127.0.0.1');
    socket.setNoDelay(true);
    let held: Buffer = Buffer.alloc(0);
    const next = (): void => {
      if (takeTurn()) socket.write(request);
      else socket.end(resolve);
    };
    socket.on('connect', next);
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      try {
        const length = answerLength(held, load.status);
        if (length === 0) return;
        held = held.subarray(length);
        next();
      } catch (error) {
        socket.destroy();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
}

async function send(load: Load): Promise<number> {
  const request = requestBytes(load);
  let left = load.count;
  const takeTurn = (): boolean => {
    left -= 1;
    return left >= 0;
  };
  const start = performance.now();
  await Promise.all(
    Array.from({ length: load.connections }, () => connection(load, request, takeTurn)),
  );
  return (performance.now() - start) / 1000;
}

process.on('message', (load: Load) => {
  send(load).then(
    (seconds) => process.send?.({ seconds }),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit());
