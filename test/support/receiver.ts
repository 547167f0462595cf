/** A receiver of webhooks on loopback, which keeps what it gets and answers as it is told. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { eventually } from './deadline.ts';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly id: string;
  readonly body: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Readonly<Record<string, unknown>>;
  };
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Answers what comes from now on; with 204 unless told. */
  answerWith(answer: (response: ServerResponse, received: Received) => void): void;
  /** Resolves when so many have come. */
  count(count: number): Promise<readonly Received[]>;
}

export async function startReceiver(t: Pick<Test, 'teardown'>): Promise<Receiver> {
  const received: Received[] = [];
  let answer = (response: ServerResponse, _received: Received): void => {
    response.writeHead(204).end();
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { url: path = '', headers } = request;
      const body = JSON.parse(text) as Received['body'];
      const one = { path, headers, text, body, id: String(headers['webhook-id']) };
      received.push(one);
      answer(response, one);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answerWith: (next) => {
      answer = next;
    },
    count: (count) =>
      eventually(`${count} deliveries`, () => (received.length >= count ? received : undefined)),
  };
}
