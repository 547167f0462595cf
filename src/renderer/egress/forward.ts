import { type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { asEgressError, type EgressError, EgressFailure } from './errors.ts';
import { requestHeaders, responseHeaders } from './headers.ts';
import type { Job } from './job.ts';
import type { Target } from './target.ts';

const MAX_HEADER_BYTES = 64 * 1024;

/**
 * Sends one plain-http request on, over a connection of its own, and its answer back. Bodies stream
 * both ways with back-pressure.
 */
export function forward(
  request: IncomingMessage,
  response: ServerResponse,
  target: Target,
  job: Job,
  socket: Socket,
): void {
  const { url } = target;
  const count = (chunk: Buffer): void => job.count(chunk.length, url.href);
  const fail = (error: unknown): void => {
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const told = asEgressError(error);
    job.record(url.href, told);
    answerError(response, told);
  };
  const upstream = httpRequest({
    createConnection: () => socket,
    method: request.method ?? 'GET',
    path: url.pathname + url.search,
    headers: requestHeaders(request, url.host),
    setHost: false,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  upstream.on('error', fail);
  upstream.on('response', (answer) => {
    answer.on('data', count);
    job.received.follow(url, request.method ?? 'GET', answer);
    try {
      // 407 from a server would make Chrome ask for the password of this proxy.
      if (answer.statusCode === 407) throw new EgressFailure('connection-failed');
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, responseHeaders(answer));
    } catch (error) {
      upstream.destroy();
      fail(error);
      return;
    }
    pipeline(answer, response, () => socket.destroy());
  });
  // A client that goes away takes its connection to the server with it.
  response.on('close', () => {
    request.unpipe(upstream);
    socket.destroy();
  });
  request.on('data', count);
  request.pipe(upstream);
}

/** Answers in place of the server: the status, one header with the code, and a line for people. */
export function answerError(response: ServerResponse, error: EgressError): void {
  const body = `${error.message}\n`;
  response.writeHead(error.status, {
    [error.header]: error.code,
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
  });
  response.end(body);
}
