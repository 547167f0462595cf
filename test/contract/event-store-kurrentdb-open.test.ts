/** What an operator reads about a connection string or a server that cannot be used. */
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer, type Server } from 'node:net';
import { pino } from 'pino';
import { type Test, test } from 'tap';
import { parseConnectionString } from '../../src/event-store/kurrentdb/connection-string.ts';
import { openEventStore } from '../../src/service/event-store.ts';
import { Openings } from '../../src/service/open.ts';
import { openEventStoreServer } from '../support/event-store-server.ts';
import { listening } from '../support/listener.ts';

const SECRET = 'hush%40hush';

async function refusal(url: string): Promise<string> {
  const error = await openEventStoreServer(url).then(
    async (store) => {
      await store.close();
      return undefined;
    },
    (reason: unknown) => reason,
  );
  return error instanceof Error ? error.message : 'no error';
}

const listeningAt = async (t: Test, server: Server): Promise<string> =>
  `127.0.0.1:${await listening(t, server)}`;

/** Speaks HTTP/2, and answers every call with one gRPC status. */
const answering = (t: Test, status: Record<string, string | number>): Promise<string> => {
  const server = createHttp2Server();
  server.on('stream', (stream) => {
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', ...status },
      { endStream: true },
    );
  });
  return listeningAt(t, server);
};

function says(t: Test, line: string, at: string, remedy: RegExp): void {
  t.match(line, remedy);
  t.ok(line.startsWith(`The event store at ${at} `), line);
  t.notMatch(line, /hush|\n/);
}

const urlOf = (at: string, tls = 'tls=false'): string => `esdb://user:${SECRET}@${at}?${tls}`;

void test('a server that is not there', async (t) => {
  says(t, await refusal(urlOf('127.0.0.1:1')), '127.0.0.1:1', /does not answer: start it/);
});

void test('a name that is not there', async (t) => {
  const at = 'event-store.invalid:2113';
  says(t, await refusal(urlOf(at)), at, /cannot be resolved/);
});

void test('something else answers there', async (t) => {
  const web = createHttpServer((_, response) => response.end('hello'));
  const at = await listeningAt(t, web);
  says(t, await refusal(urlOf(at)), at, /check host and port|is it an event store/);
});

void test('another HTTP/2 server answers there', async (t) => {
  const at = await answering(t, { 'grpc-status': 12, 'grpc-message': 'Method not found' });
  says(t, await refusal(urlOf(at)), at, /does not answer as an event store/);
});

void test('something that never answers', async (t) => {
  const silent = createServer((socket) => socket.on('error', () => socket.destroy()));
  const at = await listeningAt(t, silent);
  const began = performance.now();
  says(t, await refusal(urlOf(at)), at, /does not answer/);
  t.ok(performance.now() - began < 12_000, 'after one more try');
});

void test('a server without TLS, asked for TLS', async (t) => {
  const at = await answering(t, { 'grpc-status': 0 });
  says(t, await refusal(urlOf(at, 'tls=true')), at, /does not speak TLS there: add tls=false/);
});

for (const [title, status] of [
  ['not authenticated', { 'grpc-status': 16, 'grpc-message': 'bad credentials' }],
  ['not permitted', { 'grpc-status': 7, exception: 'access-denied' }],
  ['HTTP 401', { ':status': 401 }],
] as const) {
  void test(`credentials that are refused: ${title}`, async (t) => {
    const at = await answering(t, status);
    says(t, await refusal(urlOf(at)), at, /refuses to have its log read: give a user/);
  });
}

void test('a password that was changed while a service runs', async (t) => {
  const status: Record<string, string | number> = { 'grpc-status': 0 };
  const at = await answering(t, status);
  const openings = new Openings();
  t.teardown(() => openings.close());
  const config = { dataDir: '/nowhere', eventStoreUrl: urlOf(at) };
  await openEventStore({ config, logger: pino({ level: 'silent' }), openings }, {});
  t.strictSame(await openings.unhealthyReasons(), []);
  for (const code of [16, 7]) {
    status['grpc-status'] = code;
    t.strictSame(await openings.unhealthyReasons(), [
      'the event store refuses the user and password of EVENT_STORE_URL',
    ]);
  }
});

void test('a connection string says everything', (t) => {
  const one = parseConnectionString('esdb://localhost?tls=false');
  t.match(one, { hosts: [{ address: 'localhost', port: 2113 }], discover: false, tls: false });
  t.match(one, { user: undefined, namespace: '', verify: true });
  const cluster = parseConnectionString(
    'kurrentdb://us%3Aer:p%40ss@a:1,[::1]:2/?namespace=staging&gossipTimeout=5&TLSVERIFYCERT=false',
  );
  t.strictSame(cluster.hosts, [
    { address: 'a', port: 1 },
    { address: '[::1]', port: 2 },
  ]);
  t.match(cluster, { user: { username: 'us:er', password: 'p@ss' }, namespace: 'staging' });
  t.match(cluster, { tls: true, verify: false, settings: { gossipTimeout: 5 } });
  t.equal(parseConnectionString('kdb+discover://cluster.example').discover, true);
  t.end();
});

void test('a connection string that cannot be used is refused in one line', (t) => {
  const cases: [string, RegExp][] = [
    ['http://localhost:2113', /must look like/],
    ['esdb://', /must look like/],
    ['esdb://a:b:c', /names the server 'a:b:c'/],
    ['esdb://host:99999', /names the server/],
    [`esdb://user:${SECRET}@host?tsl=false`, /unknown parameter tsl/],
    [`esdb://user:${SECRET}@host?tls=no`, /tls=true or tls=false/],
    ['esdb://user@host', /user:password/],
    ['esdb://user:100%@host', /percent-encoded/],
    ['esdb://host?namespace=A-b', /namespace/],
    ['esdb+discover://a,b', /remove \+discover to name several hosts/],
    ['esdb://host?nodePreference=follower', /no nodePreference but leader/],
    ['esdb://host?gossipTimeout=soon', /whole number as gossipTimeout/],
    ['esdb://host?tlsCAFile=/nowhere/ca.pem', /cannot be read: \/nowhere\/ca.pem/],
  ];
  for (const [url, problem] of cases) {
    try {
      parseConnectionString(url);
      t.fail(`${url} is accepted`);
    } catch (error) {
      const line = error instanceof Error ? error.message : '';
      t.match(line, problem, url);
      t.match(line, /^EVENT_STORE_URL /);
      t.notMatch(line, /hush|\n/);
    }
  }
  t.end();
});
