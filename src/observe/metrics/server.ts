/** Serves GET /metrics on a port of its own: no client of the API sees it. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorMessage } from '../../errors/error-message.ts';
import type { Metrics } from './metrics.ts';

export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

async function answer(metrics: Metrics, response: ServerResponse): Promise<void> {
  try {
    const text = await metrics.text();
    response.writeHead(200, { 'Content-Type': metrics.registry.contentType });
    response.end(text);
  } catch (error) {
    response.writeHead(500).end(`${errorMessage(error)}\n`);
  }
}

/** @throws {Error} one line that names the setting and the remedy */
async function bind(server: Server, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (error: NodeJS.ErrnoException) => {
    const reason =
      error.code === 'EADDRINUSE'
        ? `port ${port} is in use. Set METRICS_PORT to another`
        : `${error.message}. Check METRICS_HOST and METRICS_PORT`;
    reject(new Error(`Cannot serve metrics on ${host}: ${reason}.`, { cause: error }));
  });
  server.listen({ port, host }, resolve);
  await promise;
}

async function end(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}

/** Listens for a moment. @throws {Error} one line that names the setting and the remedy */
export async function checkMetricsAddress(host: string, port: number): Promise<void> {
  const server = createServer();
  await bind(server, host, port);
  await end(server);
}

/** @throws {Error} one line that names the setting and the remedy */
export async function serveMetrics(
  metrics: Metrics,
  host: string,
  port: number,
): Promise<MetricsServer> {
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    const known = request.url?.split('?', 1)[0] === '/metrics';
    const reads = request.method === 'GET' || request.method === 'HEAD';
    if (!known || !reads) {
      response.writeHead(known ? 405 : 404, { 'Content-Type': 'text/plain' });
      response.end('Only GET /metrics is served here.\n');
      return;
    }
    void answer(metrics, response);
  });
  await bind(server, host, port);
  const address = server.address() as AddressInfo;
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return { url: `http://${shown}:${address.port}/metrics`, close: () => end(server) };
}
