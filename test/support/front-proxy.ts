/**
 * A proxy between Chrome and the egress proxy that itself answers for one name, as a public site
 * would: the tests have no public site, and the egress proxy lets nothing through to loopback.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { EgressProxy } from '../../src/renderer/egress/proxy.ts';

/** The value of the header by which a client of the proxy signs in. */
export const credentialsOf = ({ signIn: { username, password } }: EgressProxy): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

export interface FrontProxy {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Its clients need no password.
 * @param site answers for every URL of `origin`
 */
export async function startFrontProxy(
  origin: string,
  egress: EgressProxy,
  site: (url: URL, response: ServerResponse) => void,
): Promise<FrontProxy> {
  const credentials = credentialsOf(egress);
  const onward = (req: IncomingMessage, res: ServerResponse): void => {
    const { method, url } = req;
    const headers = { ...req.headers, 'proxy-authorization': credentials };
    const sent = request({ host: '127.0.0.1', port: egress.port, method, path: url, headers });
    sent.on('response', (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    sent.on('error', () => res.destroy());
    req.pipe(sent);
  };
  const server = createServer((req, res) => {
    const url = URL.parse(req.url ?? '');
    if (url?.origin === origin) site(url, res);
    else onward(req, res);
  });
  server.on('connect', (req: IncomingMessage, client: Socket) => {
    const onto = connect(egress.port, '127.0.0.1');
    onto.write(
      `CONNECT ${req.url} HTTP/1.1\r\nHost: ${req.url}\r\nProxy-Authorization: ${credentials}\r\n\r\n`,
    );
    onto.on('error', () => client.destroy());
    client.on('error', () => onto.destroy());
    client.pipe(onto).pipe(client);
  });
  const clients = new Set<Socket>();
  server.on('connection', (client) => {
    clients.add(client);
    client.once('close', () => clients.delete(client));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const client of clients) client.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}
