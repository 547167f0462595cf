import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { ERRORS, type ErrorCode } from '../errors.ts';
import type { HttpApp } from './app.ts';
import { requestIdOf } from './middleware/request-id.ts';
import { SECURITY_HEADERS } from './middleware/security-headers.ts';

const ANSWER_HEADERS = {
  ...SECURITY_HEADERS,
  'Content-Type': 'application/json; charset=utf-8',
};
/** Connections that may wait to be accepted: Node's default of 511 is fewer than clients may come at once. */
const BACKLOG = 4096;
const KEEP_ALIVE_MS = 65_000;
const MAX_HEADER_BYTES = 16 * 1024;
/** Answers under way when the server closes are given this long. */
const DRAIN_MS = 10_000;

/** How long a client may take to send, in milliseconds from its first byte. */
export interface Patience {
  readonly headersMs: number;
  /** Headers and body. */
  readonly requestMs: number;
  /** How often connections are looked at for having been slow. */
  readonly checkMs: number;
  /** How long an answer may wait for the client to take more of it, and a connection do nothing. */
  readonly stalledMs: number;
}

/** A stalled connection looks like one that waits for a conversion, which it may for 30 seconds. */
const PATIENCE: Patience = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 1_000,
  stalledMs: 60_000,
};

export interface HttpServer {
  readonly port: number;
  /** From now on requests reach the application; until then they are told to come again. */
  serve(app: HttpApp): void;
  /** Accepts nothing more, lets answers under way end, at most 10 seconds. */
  close(): Promise<void>;
}

/** Tells whoever comes too early to come again. */
function starting(standing: HttpApp['standing']): HttpApp {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, message } = ERRORS.service_unavailable;
    response.writeHead(status, {
      ...ANSWER_HEADERS,
      'X-Request-Id': requestIdOf(request.headers['x-request-id']),
      'Retry-After': '1',
      ...(await standing(request.socket).catch(() => ({}))),
    });
    response.end(JSON.stringify({ error: 'service_unavailable', message }));
  };
  return {
    handle: (request, response) => void answer(request, response),
    standing,
    endWaiting: () => {},
  };
}

/** What came is not a request that could reach the application: answered here, in the same shape. */
async function answerBroken(
  app: HttpApp,
  error: NodeJS.ErrnoException,
  socket: Socket,
): Promise<void> {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [code, message]: [ErrorCode, string] =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? ['request_timeout', ERRORS.request_timeout.message]
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? ['validation_error', `The request's headers are larger than ${MAX_HEADER_BYTES} bytes.`]
        : ['validation_error', 'The request is not valid HTTP.'];
  const body = JSON.stringify({ error: code, message });
  const headers = {
    ...ANSWER_HEADERS,
    // Whatever it said of itself was not understood.
    'X-Request-Id': requestIdOf(undefined),
    ...(await app.standing(socket).catch(() => ({}))),
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${ERRORS[code].status} ${code}\r\n${lines.join('')}\r\n${body}`);
}

function bind(server: Server, host: string, port: number): Promise<AddressInfo> {
  const { promise, resolve, reject } = Promise.withResolvers<AddressInfo>();
  server.once('error', (error: NodeJS.ErrnoException) => {
    const reason =
      error.code === 'EADDRINUSE'
        ? `port ${port} is in use. Stop what listens there, or set PORT to another`
        : error.code === 'EACCES'
          ? `port ${port} needs more rights. Set PORT to one from 1024 up`
          : error.message;
    reject(new Error(`Cannot listen on ${host}: ${reason}.`, { cause: error }));
  });
  server.listen({ port, host, backlog: BACKLOG }, () => resolve(server.address() as AddressInfo));
  return promise;
}

/** @throws {Error} one line that names the address and the remedy, where it cannot listen there */
export async function listen({
  host,
  port,
  standing,
  patience: given = {},
}: {
  readonly host: string;
  readonly port: number;
  /** The rate limit headers of an answer that comes before there is an application. */
  readonly standing: HttpApp['standing'];
  /** Where it differs from the usual. */
  readonly patience?: Partial<Patience>;
}): Promise<HttpServer> {
  const patience = { ...PATIENCE, ...given };
  const server = createServer({
    headersTimeout: patience.headersMs,
    requestTimeout: patience.requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    connectionsCheckingInterval: patience.checkMs,
  });
  // Without a listener, Node ends the connection.
  server.timeout = patience.stalledMs;
  let app = starting(standing);
  let closing = false;
  /** Connections without a request under way. Node takes one that has sent nothing yet for busy. */
  const quiet = new Set<Socket>();
  const handle: RequestListener = (request, response) => {
    const { socket } = request;
    quiet.delete(socket);
    response.once('close', () => {
      if (closing) socket.destroySoon();
      else if (!socket.destroyed) quiet.add(socket);
    });
    app.handle(request, response);
  };
  server.on('connection', (socket) => {
    quiet.add(socket);
    socket.once('close', () => quiet.delete(socket));
  });
  server.on('request', handle);
  // An expectation that is not understood is no reason to refuse the request.
  server.on('checkExpectation', handle);
  server.on('clientError', (error, socket: Socket) => void answerBroken(app, error, socket));
  const address = await bind(server, host, port);
  return {
    port: address.port,
    serve(next) {
      app = next;
    },
    async close() {
      const { promise, resolve } = Promise.withResolvers<void>();
      closing = true;
      server.close(() => resolve());
      app.endWaiting();
      for (const socket of quiet) socket.destroy();
      const drained = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      await promise;
      clearTimeout(drained);
    },
  };
}
