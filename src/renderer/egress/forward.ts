/** Passes on what was admitted: one plain request, or the bytes of a tunnel. */
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex, Transform } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createZstdDecompress, type Gunzip } from 'node:zlib';
import { asEgressError, type EgressError, failure } from '../../egress/errors.ts';
import type { Target } from '../../egress/resolve.ts';
import type { EgressSession } from './session.ts';

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
  session: EgressSession,
  socket: Socket,
): Promise<void> {
  const count = (chunk: Buffer): void => session.count(chunk.length, url.href);
  let decoder: Decoder | undefined;
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
      // A few bytes may still have gigabytes in them.
      decoder?.destroy();
    });
    request.on('data', count);
    request.pipe(upstream);
    const answer = await answerTo(upstream, socket);
    const status = answer.statusCode ?? 0;
    // 407 from a server would make Chrome ask for the password of this proxy; 1xx is not an answer here.
    if (status < 200 || status === 407) throw failure('invalid-answer');
    // Node takes a reset for the end of a body whose length is not given.
    socket.on('error', (error) => answer.destroy(error));
    answer.on('data', count);
    session.received.follow(url, request.method ?? 'GET', answer);
    decoder = decoderOf(answer);
    const decoded = decoder && decodedWhole(answer.pipe(decoder));
    const headers = responseHeaders(answer, decoder === undefined ? '' : 'content-length');
    // The server's reason phrase stays behind: it may hold anything, and nobody needs it.
    response.writeHead(status, STATUS_CODES[status] ?? '', headers);
    await pipeline(answer, response, { end: false });
    if ((await decoded) === false && !response.destroyed) {
      const error = failure('invalid-content');
      session.record(url.href, error);
      throw error;
    }
    response.end();
  } finally {
    decoder?.destroy();
    socket.destroy();
  }
}

const DECODERS: Readonly<Record<string, () => Decoder>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};
type Decoder = Transform & Pick<Gunzip, 'bytesWritten'>;
const DOCUMENT = /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i;

/** Made for compressed documents: Chrome shows the part that it could decompress, and says nothing. */
function decoderOf({ headers, statusCode }: IncomingMessage): Decoder | undefined {
  if (statusCode !== 200 || !DOCUMENT.test(headers['content-type'] ?? '')) return undefined;
  return DECODERS[headers['content-encoding']?.trim().toLowerCase() ?? '']?.();
}

/** Resolves when the content has ended, and tells whether it is all there. Never rejects. */
async function decodedWhole(decoder: Decoder): Promise<boolean> {
  try {
    await finished(decoder.resume());
    return true;
  } catch (error) {
    // Bytes after the end of gzip do no harm, and an empty body is whole.
    const { message } = error as Error;
    return (
      message === 'incorrect header check' ||
      (message === 'unexpected end of file' && decoder.bytesWritten === 0)
    );
  }
}

/** Resolves with the answer's head. What goes wrong after it is seen in its body. */
async function answerTo(upstream: ClientRequest, socket: Socket): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  upstream.on('response', resolve);
  upstream.on('error', reject);
  // The connection closes without an error where the server switched to another protocol.
  upstream.on('close', () => reject(failure('invalid-answer')));
  let bytes = 0;
  const bound = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > MAX_BYTES_TO_ANSWER) upstream.destroy(failure('invalid-answer'));
  };
  socket.on('data', bound);
  return await promise.finally(() => socket.off('data', bound));
}

/**
 * Answers in place of the server: the status and one header with the code. Breaks the server's own answer off
 * where that has begun. The body is an empty page: what a frame shows is printed.
 */
export function answerError(response: ServerResponse, error: EgressError): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const body = '<!doctype html>';
  // The reason phrase is given: one that was refused before would be taken again.
  response.writeHead(error.status, STATUS_CODES[error.status], {
    [error.header]: error.code,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': body.length,
    'Cache-Control': 'no-store',
  });
  response.end(body);
}

// RFC 9110, section 7.6.1, and what is between Chrome and this proxy only.
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function forwarded(message: IncomingMessage): (name: string) => boolean {
  const named = (message.headers.connection ?? '').toLowerCase().split(/\s*,\s*/);
  return (name) => {
    const lower = name.toLowerCase();
    return (
      !HOP_BY_HOP.has(lower) &&
      !named.includes(lower) &&
      !lower.startsWith('proxy-') &&
      !lower.startsWith('x-egress-')
    );
  };
}

/** The headers of Chrome's request for the server; Host is the one of the URL that was checked. */
function requestHeaders(request: IncomingMessage, host: string): OutgoingHttpHeaders {
  const keep = forwarded(request);
  const headers: Record<string, string | string[]> = {};
  for (const [name, values] of Object.entries(request.headersDistinct)) {
    if (values !== undefined && keep(name) && name !== 'expect') headers[name] = values;
  }
  headers['host'] = host;
  headers['connection'] = 'close';
  // Node frames the body itself; it must only know that its length is not given.
  if (request.headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = 'chunked';
  return headers;
}

/** The headers of the server's answer for Chrome but one, as a flat list of names and values. */
function responseHeaders(response: IncomingMessage, without: string): string[] {
  const keep = forwarded(response);
  const headers: string[] = [];
  for (let index = 0; index + 1 < response.rawHeaders.length; index += 2) {
    const name = response.rawHeaders[index] ?? '';
    if (keep(name) && name.toLowerCase() !== without)
      headers.push(name, response.rawHeaders[index + 1] ?? '');
  }
  return headers;
}

/**
 * Joins Chrome's connection with one to the server after CONNECT: TLS and WebSockets pass as they
 * are, with back-pressure.
 */
export function tunnel(
  client: Duplex,
  head: Buffer,
  name: string,
  session: EgressSession,
  server: Socket,
): void {
  const count = (chunk: Buffer): void => {
    session.count(chunk.length, name);
    session.received.countTunnel(name, chunk.length);
  };
  const failed = (error: unknown): void => {
    const told = asEgressError(error);
    session.record(name, told);
    rejectTunnel(client, told);
  };
  server.once('error', failed);
  client.once('close', () => server.destroy());
  server.once('connect', () => {
    server.off('error', failed);
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) client.unshift(head);
    client.on('data', count);
    server.on('data', count);
    // A broken connection shows at once as a close. An orderly end goes through the pipes.
    server.on('error', () => client.destroy());
    // Chrome never closes one direction only: a server that ignores it must not keep its place.
    client.once('end', () => server.destroySoon());
    server.once('close', () => client.end());
    client.pipe(server).pipe(client);
  });
}

/** Refuses a CONNECT and closes the connection: Chrome does not use it again. */
export function rejectTunnel(client: Duplex, error: EgressError): void {
  const body = '<!doctype html>';
  client.end(
    [
      `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
      `${error.header}: ${error.code}`,
      'Content-Type: text/plain; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
