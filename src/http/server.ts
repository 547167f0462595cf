import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { ERRORS, type ErrorCode } from '../errors/errors.ts';
import type { Budget } from '../limits/budgets.ts';
import { Connections } from './connections.ts';
import type { HttpApp } from './dependencies.ts';
import { requestIdOf, SECURITY_HEADERS } from './middleware/request.ts';

const ANSWER_HEADERS = {
  ...SECURITY_HEADERS,
  'Content-Type': 'application/json; charset=utf-8',
};
/** Connections that may wait to be accepted: Node's default of 511 is fewer than clients may come at once. */
const BACKLOG = 4096;
const KEEP_ALIVE_MS = 65_000;
const MAX_HEADER_BYTES = 16 * 1024;
/** Every method that some route has. */
const METHODS = 'DELETE, GET, HEAD, PATCH, POST, PUT';
/** Connections beyond the budget that may be told so; what comes then is not accepted. */
const REFUSED_CONNECTIONS = 256;
const REFUSED_MS = 5_000;
/** Answers under way when the server closes are given this long. */
const DRAIN_MS = 10_000;

/** Limits on slow clients, in milliseconds. */
export interface Timeouts {
  /** The longest time from the first byte to the end of the headers. */
  readonly headersMs: number;
  /** Headers and body. */
  readonly requestMs: number;
  /** The longest that a request may take to arrive where no connection is free for others. */
  readonly sendingMs: number;
  /** The time between two looks for slow connections. */
  readonly checkMs: number;
  /** The longest that an answer waits for the client to take more of it, and a connection does nothing. */
  readonly stalledMs: number;
}

const TIMEOUTS: Timeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  sendingMs: 3_000,
  checkMs: 1_000,
  stalledMs: 60_000,
};

export interface HttpServer {
  readonly port: number;
  /** Lets requests reach the application; until then they get 503. */
  serve(app: HttpApp): void;
  /** Accepts nothing more, lets answers under way end: at most 10 seconds, and not after `hurry`. */
  close(hurry?: AbortSignal): Promise<void>;
}

type Answering = (request: IncomingMessage, response: ServerResponse) => void;

/** An error that is answered before the application sees a request, and headers beside the usual ones. */
interface Early {
  readonly code: ErrorCode;
  /** Default: the text of the code. */
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function written(
  rateLimitHeaders: HttpApp['rateLimitHeaders'],
  socket: Socket,
  requestId: string | string[] | undefined,
  { code, message = ERRORS[code].message, headers: given }: Early,
) {
  const body = JSON.stringify({ error: code, message });
  const headers: Readonly<Record<string, string>> = {
    ...ANSWER_HEADERS,
    'X-Request-Id': requestIdOf(requestId),
    ...given,
    ...(await rateLimitHeaders(socket).catch(() => ({}))),
    'Content-Length': String(Buffer.byteLength(body)),
  };
  return { status: ERRORS[code].status, headers, body };
}

/** Answers every request with one error. */
function always(rateLimitHeaders: HttpApp['rateLimitHeaders'], early: Early): Answering {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = request.headers['x-request-id'];
    const { status, headers, body } = await written(rateLimitHeaders, request.socket, id, early);
    response.writeHead(status, headers).end(body);
  };
  return (request, response) => void answer(request, response);
}

export const STARTING = 'The service is starting. Try again after Retry-After seconds.';
const COME_AGAIN = { 'Retry-After': '1' };

/** Answers 503 with Retry-After during start-up. */
const starting = (rateLimitHeaders: HttpApp['rateLimitHeaders']): HttpApp => ({
  handle: always(rateLimitHeaders, {
    code: 'service_unavailable',
    message: STARTING,
    headers: COME_AGAIN,
  }),
  rateLimitHeaders,
  endWaiting: () => {},
});

/** HTTP/1.1 demands exactly one; parts that stand before the service might each believe another. */
function namesOneHost({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}

/** Answers by the bare connection, and ends it. Whatever it said of itself was not understood. */
async function answerBare(app: HttpApp, socket: Socket, early: Early): Promise<void> {
  const { status, headers, body } = await written(app.rateLimitHeaders, socket, undefined, early);
  const lines = Object.entries({ ...headers, Connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.end(`HTTP/1.1 ${status} ${early.code}\r\n${lines.join('')}\r\n${body}`);
}

/** Answers requests that are too broken to reach the application. */
async function answerBroken(
  app: HttpApp,
  error: NodeJS.ErrnoException,
  socket: Socket,
): Promise<void> {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  await answerBare(
    app,
    socket,
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? { code: 'request_timeout' }
      : {
          code: 'validation_error',
          message:
            error.code === 'HPE_HEADER_OVERFLOW'
              ? `The request's headers are larger than ${MAX_HEADER_BYTES} bytes.`
              : 'The request is not valid HTTP.',
        },
  );
}

/** Refuses tunnels. Node leaves the connection, its faults too, to the listener for `connect`. */
async function refuseTunnel(app: HttpApp, socket: Socket): Promise<void> {
  socket.on('error', () => socket.destroy());
  await answerBare(app, socket, {
    code: 'method_not_allowed',
    message: 'CONNECT is not served here: this is not a proxy.',
    headers: { Allow: METHODS },
  });
  socket.destroySoon();
}

function bind(server: Server, host: string, port: number): Promise<AddressInfo> {
  const { promise, resolve, reject } = Promise.withResolvers<AddressInfo>();
  server.once('error', (error: NodeJS.ErrnoException) => {
    const reason =
      error.code === 'EADDRINUSE'
        ? `port ${port} is in use. Stop what listens there, or set PORT to another`
        : error.code === 'EACCES'
          ? `port ${port} needs more rights. Set PORT to one from 1024 up`
          : ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(error.code ?? '')
            ? 'it is not an address of this machine. Set HOST to one that is, or to 0.0.0.0 for all'
            : error.message;
    reject(new Error(`Cannot listen on ${host}: ${reason}.`, { cause: error }));
  });
  server.listen({ port, host, backlog: BACKLOG }, () => resolve(server.address() as AddressInfo));
  return promise;
}

/** Listens for a moment. @throws {Error} one line that names the address and the remedy, where it cannot */
export async function checkAddress(host: string, port: number): Promise<void> {
  const server = createServer();
  await bind(server, host, port);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  await promise;
}

/** @throws {Error} one line that names the address and the remedy, where it cannot listen there */
export async function listen({
  host,
  port,
  rateLimitHeaders,
  connections: budget,
  timeouts: given = {},
}: {
  readonly host: string;
  readonly port: number;
  /** The rate limit headers of an answer that comes before there is an application. */
  readonly rateLimitHeaders: HttpApp['rateLimitHeaders'];
  /** The budget of open connections; without it, as many as come. */
  readonly connections?: Budget;
  /** Limits that differ from the usual. */
  readonly timeouts?: Partial<Timeouts>;
}): Promise<HttpServer> {
  const timeouts = { ...TIMEOUTS, ...given };
  const server = createServer({
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    connectionsCheckingInterval: timeouts.checkMs,
    // Node's own answer has no body.
    requireHostHeader: false,
  });
  server.timeout = timeouts.stalledMs;
  let app = starting(rateLimitHeaders);
  const crowded = always(rateLimitHeaders, {
    code: 'service_unavailable',
    message: 'Too many connections are open.',
    headers: { ...COME_AGAIN, Connection: 'close' },
  });
  const hostless = always(rateLimitHeaders, {
    code: 'validation_error',
    message: 'The request must have exactly one Host header.',
    headers: { Connection: 'close' },
  });
  let closing = false;
  const connections = new Connections(timeouts.sendingMs, budget);
  const handle: RequestListener = (request, response) => {
    const { socket } = request;
    if (!connections.has(socket)) return crowded(request, response);
    connections.busy(request);
    response.once('close', () => {
      if (closing) socket.destroySoon();
      else connections.quiet(socket);
    });
    if (namesOneHost(request)) app.handle(request, response);
    else hostless(request, response);
  };
  server.on('timeout', (socket) => {
    if (!connections.isAtWork(socket)) socket.destroy();
  });
  server.on('connection', (socket) => {
    if (!connections.admit(socket)) socket.setTimeout(REFUSED_MS);
  });
  if (budget !== undefined) server.maxConnections = budget.limit + REFUSED_CONNECTIONS;
  server.on('drop', () => budget?.refuse());
  server.on('request', handle);
  // An expectation that is not understood does not refuse the request.
  server.on('checkExpectation', handle);
  server.on('connect', (_request, socket: Socket) => void refuseTunnel(app, socket));
  server.on('clientError', (error, socket: Socket) => void answerBroken(app, error, socket));
  const address = await bind(server, host, port);
  return {
    port: address.port,
    serve(next) {
      app = next;
    },
    async close(hurry) {
      const { promise, resolve } = Promise.withResolvers<void>();
      closing = true;
      server.close(() => resolve());
      app.endWaiting();
      connections.endQuiet();
      const endAll = (): void => server.closeAllConnections();
      const drained = setTimeout(endAll, DRAIN_MS);
      hurry?.addEventListener('abort', endAll);
      if (hurry?.aborted === true) endAll();
      await promise;
      clearTimeout(drained);
    },
  };
}
