import {
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { type EgressError, EgressFailure } from './errors.ts';
import { requestHeaders, responseHeaders } from './headers.ts';
import type { Job } from './job.ts';
import type { Target } from './target.ts';

const MAX_HEADER_BYTES = 64 * 1024;
/** Blank lines and answers with a 1xx status may come before the answer itself, without end. */
const MAX_BYTES_TO_ANSWER = 4 * MAX_HEADER_BYTES;

/**
 * Sends one plain-http request on, over a connection of its own, and its answer back. Bodies stream
 * both ways with back-pressure. Resolves when the whole answer has been passed on.
 * Everything that a server sends is handled in this call, so that its faults reject it and reach the
 * one handler of the caller.
 */
export async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { url }: Target,
  job: Job,
  socket: Socket,
): Promise<void> {
  const count = (chunk: Buffer): void => job.count(chunk.length, url.href);
  try {
    const upstream = httpRequest({
      createConnection: () => socket,
      method: request.method ?? 'GET',
      path: url.pathname + url.search,
      headers: requestHeaders(request, url.host),
      setHost: false,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    // A client that goes away takes its connection to the server with it.
    response.on('close', () => {
      request.unpipe(upstream);
      socket.destroy();
    });
    request.on('data', count);
    request.pipe(upstream);
    const answer = await answerTo(upstream, socket);
    const status = answer.statusCode ?? 0;
    // 407 from a server would make Chrome ask for the password of this proxy; 1xx is no answer here.
    if (status < 200 || status === 407) throw new EgressFailure('invalid-answer');
    answer.on('data', count);
    job.received.follow(url, request.method ?? 'GET', answer);
    // The server's reason phrase stays behind: it may hold anything, and nobody needs it.
    response.writeHead(status, STATUS_CODES[status] ?? '', responseHeaders(answer));
    await pipeline(answer, response);
  } finally {
    socket.destroy();
  }
}

/** Resolves with the answer's head. What goes wrong after it is seen in its body. */
async function answerTo(upstream: ClientRequest, socket: Socket): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  upstream.on('response', resolve);
  upstream.on('error', reject);
  // Without an error where the server switched to another protocol.
  upstream.on('close', () => reject(new EgressFailure('invalid-answer')));
  let bytes = 0;
  const bound = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > MAX_BYTES_TO_ANSWER) upstream.destroy(new EgressFailure('invalid-answer'));
  };
  socket.on('data', bound);
  return await promise.finally(() => socket.off('data', bound));
}

/**
 * Answers in place of the server: the status, one header with the code, and a line for people. Breaks
 * the server's own answer off where that has begun.
 */
export function answerError(response: ServerResponse, error: EgressError): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const body = `${error.message}\n`;
  // The reason phrase is given: one that was refused before would be taken again.
  response.writeHead(error.status, STATUS_CODES[error.status], {
    [error.header]: error.code,
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
  });
  response.end(body);
}
