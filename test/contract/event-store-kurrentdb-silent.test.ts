/** A cluster of event store servers with a host that is silent: the process that uses it must not end. */
import { createServer as createHttp2Server } from 'node:http2';
import { createServer } from 'node:net';
import { pino } from 'pino';
import { type Test, test } from 'tap';
import { KurrentDbClient } from '../../src/event-store/kurrentdb/client.ts';
import { parseConnectionString } from '../../src/event-store/kurrentdb/connection-string.ts';
import { eventually } from '../support/deadline.ts';
import { newEvents } from '../support/events.ts';
import { listening } from '../support/listener.ts';

/** A field of a Protobuf message: a number, or a length and so many bytes. */
const field = (number: number, value: number | Buffer): Buffer =>
  Buffer.concat([
    varint((number << 3) | (typeof value === 'number' ? 0 : 2)),
    ...(typeof value === 'number' ? [varint(value)] : [varint(value.length), value]),
  ]);

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left > 127; left >>>= 7) bytes.push((left & 127) | 128);
  return Buffer.from([...bytes, left]);
}

const silentLogger = pino({ level: 'silent' });
const LEADER = 8;

/** The answer to who leads: this node, as the protocol of gossip (`gossip.proto`) says it. */
function gossipOf(port: number): Buffer {
  const id = field(2, Buffer.from('6bd9ee4c-8a5a-4d0a-9a39-b8b0d4bb0f3e'));
  const endPoint = Buffer.concat([field(1, Buffer.from('127.0.0.1')), field(2, port)]);
  const member = [field(1, id), field(2, 1), field(3, LEADER), field(4, 1), field(5, endPoint)];
  const members = field(1, Buffer.concat(member));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(members.length, 1);
  return Buffer.concat([head, members]);
}

const NOT_READY = {
  ':status': 200,
  'content-type': 'application/grpc',
  'grpc-status': '14',
  'grpc-message': 'Server Is Not Ready',
};

interface TestNode {
  readonly port: number;
  /** Its answer to who leads; undefined: none. */
  leader: number | undefined;
  /** Calls that came, by whether they asked that. */
  readonly calls: { gossip: number; other: number };
  /** True for another call that is refused, as by a node that knows of no leader. */
  refuses: () => boolean;
}

/** A node that says who leads, and answers no other call. */
async function startNode(t: Test): Promise<TestNode> {
  const server = createHttp2Server();
  const port = await listening(t, server);
  const node: TestNode = {
    port,
    leader: port,
    calls: { gossip: 0, other: 0 },
    refuses: () => false,
  };
  server.on('stream', (stream, headers) => {
    stream.on('error', () => stream.destroy());
    const isGossip = String(headers[':path']).includes('gossip');
    node.calls[isGossip ? 'gossip' : 'other'] += 1;
    if (!isGossip && node.refuses()) stream.respond(NOT_READY, { endStream: true });
    const { leader } = node;
    if (!isGossip || leader === undefined) return;
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc' },
      { waitForTrailers: true },
    );
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(gossipOf(leader));
  });
  return node;
}

// An error that nobody awaits fails the test, as it would end the service.
void test('a leader that is found after its connection was given up ends nothing', async (t) => {
  const silent = createServer((socket) => socket.on('error', () => socket.destroy()));
  const silentPort = await listening(t, silent);
  const { port: leader } = await startNode(t);
  // The driver asks its hosts in random order. It waits for one that is silent for longer than an append may take.
  const url = `esdb://127.0.0.1:${silentPort},127.0.0.1:${leader}?tls=false&gossipTimeout=5`;
  const clients = Array.from(
    { length: 8 },
    () => new KurrentDbClient(parseConnectionString(url), silentLogger),
  );
  const appends = clients.map((client) => client.append('a-1', newEvents(1), 'no-stream'));
  for (const outcome of await Promise.allSettled(appends)) {
    t.match(outcome, { status: 'rejected', reason: { name: 'EventStoreUnavailable' } });
  }
  // By now each driver has found the leader.
  await Promise.allSettled(clients.map((client) => client.readStream('a-1', 0, 1)));
  await Promise.all(clients.map((client) => client.close()));
});

void test('after a reconnect the node that was silent is asked last', async (t) => {
  const nodes = await Promise.all([startNode(t), startNode(t), startNode(t)]);
  const [silent, next] = nodes;
  for (const node of nodes) node.leader = silent.port;
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const to = parseConnectionString(`esdb://${hosts}?tls=false`);
  const clients = Array.from({ length: 8 }, () => new KurrentDbClient(to, silentLogger));
  t.teardown(() => Promise.all(clients.map((client) => client.close())));
  const reads = clients.map((client) => client.readStream('a-1', 0, 1));
  const failures = Promise.allSettled(reads);
  await eventually('calls at the leader', () => silent.calls.other === 8 || undefined);
  // It answers nothing from now on, and the others have chosen another.
  for (const node of nodes) node.leader = node === silent ? undefined : next.port;
  silent.calls.gossip = 0;
  await eventually('calls at the next leader', () => next.calls.other === 8 || undefined);
  t.equal(silent.calls.gossip, 0);
  await failures;
});

void test('a read that waits for a leader and for an answer, twice, ends within its limit', async (t) => {
  const node = await startNode(t);
  const begun = performance.now();
  let refusingFrom = begun;
  let silentFrom: number | undefined;
  node.refuses = () => {
    const now = performance.now();
    if (silentFrom !== undefined && now - silentFrom > 3_500) {
      refusingFrom = now;
      silentFrom = undefined;
    }
    if (now - refusingFrom < 1_700) return true;
    silentFrom ??= now;
    return false;
  };
  const to = parseConnectionString(`esdb://127.0.0.1:${node.port}?tls=false`);
  const client = new KurrentDbClient(to, silentLogger);
  t.teardown(() => client.close());
  await t.rejects(client.readStream('a-1', 0, 1), { name: 'EventStoreUnavailable' });
  const ms = performance.now() - begun;
  t.ok(ms > 7_000 && ms < 9_000, `${ms} ms`);
});
