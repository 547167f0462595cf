/**
 * The filtering forward proxy that every byte of a page passes: it checks each request's URL and every
 * address of its name, and connects to an address that it checked.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { withTimeout } from '../../async/with-timeout.ts';
import { asEgressError, type EgressError, failure, refusal } from '../../egress/errors.ts';
import { type EgressPolicy, NOT_VALID } from '../../egress/policy.ts';
import { admit, type Resolve, resolveByDns, resolveBySystem } from '../../egress/resolve.ts';
import { dial } from './dial.ts';
import { answerFile, answerWindow } from './files.ts';
import { answerError, forward, rejectTunnel, tunnel } from './forward.ts';
import { DEFAULT_LIMITS, type EgressLimits, EgressSession } from './session.ts';

export interface EgressOptions extends EgressPolicy {
  readonly limits?: Partial<EgressLimits>;
  /** Every address of a name; default: the hosts file and DNS. */
  readonly resolve?: Resolve;
}

export interface SignIn {
  readonly username: string;
  readonly password: string;
}

export interface EgressProxy {
  /** The port on 127.0.0.1. */
  readonly port: number;
  /** What a browser must know: a request without the password is closed unanswered. */
  readonly signIn: SignIn;
  /**
   * The domain of its tab's windows, which no other proxy has. The proxy asks for the password at their addresses alone.
   * Chrome sends it with each request once it gave it, also with those of workers and tunnels.
   */
  readonly site: string;
  /** Has windows open at hosts of another domain as well. */
  addSite(site: string): void;
  /** @throws {Error} while another session is open: the proxy cannot tell whose a request is */
  beginSession(): EgressSession;
  close(): Promise<void>;
}

const MAX_HEADER_BYTES = 64 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 60_000;

/** Listens on an ephemeral port of loopback. */
export async function startEgressProxy(options: EgressOptions): Promise<EgressProxy> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const resolve = options.resolve ?? (options.allowPrivateNetwork ? resolveBySystem : resolveByDns);
  const password = randomBytes(16).toString('hex');
  const signIn: SignIn = { username: 'chrome', password };
  const site = `${randomBytes(10).toString('hex')}.invalid`;
  const sites = [site];
  const credentials = Buffer.from(
    `Basic ${Buffer.from(`${signIn.username}:${password}`).toString('base64')}`,
  );
  const clients = new Set<Socket>();
  let session: EgressSession | undefined;

  const isSignedIn = ({ headers }: IncomingMessage): boolean => {
    const given = Buffer.from(headers['proxy-authorization'] ?? '');
    return given.length === credentials.length && timingSafeEqual(given, credentials);
  };

  /** Everything before bytes flow: budget, URL, addresses, and the start of the connection. */
  const open = async (current: EgressSession, url: URL, client: Duplex | ServerResponse) => {
    const deadline = performance.now() + limits.connectTimeoutMs;
    current.enter(client);
    current.usedNetwork = true;
    current.checkOpen();
    const admitted = admit(url, options, resolve);
    const target = await withTimeout(limits.connectTimeoutMs, admitted, late);
    if (client.destroyed || current.ended) return undefined;
    return { target, socket: dial(target, current, limits, deadline) };
  };

  const onRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const current = session;
    const text = request.url ?? '';
    try {
      const url = plainUrl(text);
      const files = current?.filesFor(url);
      if (current !== undefined && files !== undefined) {
        current.enter(response);
        answerFile(request, response, url, files, current);
        return;
      }
      if (sites.some((each) => isBelow(each, url))) {
        answerWindow(response, url);
        return;
      }
      if (current === undefined) throw noSession();
      const opened = await open(current, url, response);
      if (opened !== undefined) {
        await forward(request, response, opened.target, current, opened.socket);
      }
    } catch (error) {
      // Every fault of a request, the server's and our own, ends here and ends this request alone.
      const told = asEgressError(error);
      if (!response.headersSent && !response.destroyed) current?.record(text, told);
      if (current === undefined) response.setHeader('Connection', 'close');
      request.resume();
      answerError(response, told);
    }
  };

  const onConnect = async (request: IncomingMessage, client: Duplex, head: Buffer) => {
    const current = session;
    const asked = `https://${request.url ?? ''}/`;
    // The form that Chrome, too, knows the site by: without a default port.
    const name = URL.parse(asked)?.href ?? asked;
    try {
      if (current === undefined) throw noSession();
      const opened = await open(current, tunnelUrl(request.url ?? ''), client);
      if (opened !== undefined) tunnel(client, head, name, current, opened.socket);
    } catch (error) {
      const told = asEgressError(error);
      current?.record(name, told);
      rejectTunnel(client, told);
    }
  };

  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  server.on('connection', (client) => {
    clients.add(client);
    client.once('close', () => clients.delete(client));
    // Node takes its own listener off at CONNECT; a reset while a name is resolved is not an error.
    client.on('error', () => client.destroy());
    session?.track(client);
  });
  server.on('request', (request, response) => {
    const url = URL.parse(request.url ?? '');
    if (isSignedIn(request)) void onRequest(request, response);
    else if (url !== null && isBelow(site, url)) {
      response.writeHead(407, { 'Proxy-Authenticate': 'Basic realm="egress"' }).end();
    } else request.socket.destroy();
  });
  server.on('connect', (request, client, head) => {
    if (isSignedIn(request)) void onConnect(request, client, head);
    else client.destroy();
  });
  await new Promise<void>((listening, failed) => {
    server.once('error', failed).listen(0, '127.0.0.1', listening);
  });

  const onEnd = (): void => {
    session = undefined;
    for (const client of clients) client.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    signIn,
    site,
    addSite: (other) => void sites.push(other),
    beginSession: () => {
      if (session !== undefined) throw new Error('The egress proxy has an open session already.');
      session = new EgressSession(limits, onEnd);
      for (const client of clients) session.track(client);
      return session;
    },
    close: async () => {
      session?.end();
      for (const client of clients) client.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

const isBelow = (site: string, { hostname }: URL): boolean => hostname.endsWith(`.${site}`);

const late = (): EgressError => failure('timeout');

const noSession = (): EgressError => refusal('no-job', 'No conversion is being rendered here.');

/** The target of a plain request, which is a whole URL: http only, https comes by CONNECT. */
function plainUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw refusal('malformed', NOT_VALID);
  if (url.protocol !== 'http:') {
    throw refusal('scheme', 'Only http and https URLs can be fetched.');
  }
  return url;
}

/** The target of a CONNECT, which is a host and a port and nothing else. */
function tunnelUrl(authority: string): URL {
  const url = /^[^/?#@\\]+:[0-9]+$/.test(authority) ? URL.parse(`https://${authority}`) : null;
  if (url === null) throw refusal('malformed', 'The address to connect to is not valid.');
  return url;
}
