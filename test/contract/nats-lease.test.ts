import { pino } from 'pino';
import { type Test, test } from 'tap';
import { connectToNats } from '../../src/nats/connection.ts';
import { type Lease, NatsLease } from '../../src/nats/lease.ts';
import { eventually } from '../support/deadline.ts';
import { cable } from '../support/cable.ts';
import { startNatsServer } from '../support/nats-server.ts';

const logger = pino({ level: 'silent' });
const KEEP_MS = 1500;

async function candidate(t: Test, url: string): Promise<NatsLease> {
  const link = await connectToNats(url, { name: 'test', logger });
  t.teardown(() => link.close());
  return new NatsLease({ link, logger, name: 'test', keepMs: KEEP_MS });
}

const acquired = (lease: NatsLease): Promise<Lease> =>
  eventually('the lease', () => lease.acquire(), 10_000);

void test('one of many has the lease, and a release hands it on at once', async (t) => {
  const { url } = await startNatsServer(t);
  const nodes = await Promise.all([1, 2, 3, 4].map(() => candidate(t, url)));
  const acquireAll = async (): Promise<Lease[]> =>
    (await Promise.all(nodes.map((node) => node.acquire()))).filter((each) => each !== undefined);
  const [lease, ...more] = await acquireAll();
  t.ok(lease);
  t.strictSame(more, []);
  let lost = false;
  void lease?.lost.finally(() => {
    lost = true;
  });
  const start = performance.now();
  let others = 0;
  while (performance.now() - start < 2 * KEEP_MS) others += (await acquireAll()).length;
  t.equal(others, 0, 'longer than the server keeps it');
  t.notOk(lost, 'it is renewed while it is held');
  await lease?.release();
  await lease?.lost;
  const releasedAt = performance.now();
  const next = await eventually('the lease', async () => (await acquireAll())[0]);
  t.ok(performance.now() - releasedAt < KEEP_MS / 2, 'no waiting for its end');
  await lease?.release();
  t.strictSame(await acquireAll(), [], 'a second release is none of the next one');
  await next.release();
});

void test('a node that is cut off loses it before another gets it', async (t) => {
  const server = await startNatsServer(t);
  const { url, cut } = await cable(t, server.port);
  const [cutOff, other] = [await candidate(t, url), await candidate(t, server.url)];
  const lease = await acquired(cutOff);
  let lost = false;
  void lease.lost.finally(() => {
    lost = true;
  });
  cut();
  const next = await acquired(other);
  t.ok(lost, 'before');
  await next.release();
});

void test('a server that comes back without its data gives it to one node again', async (t) => {
  const server = await startNatsServer(t);
  const [one, other] = [await candidate(t, server.url), await candidate(t, server.url)];
  const lease = await acquired(one);
  await server.kill();
  await lease.lost;
  t.equal(await other.acquire(), undefined, 'not while the server is away');
  await server.restart({ loseData: true });
  const next = await acquired(other);
  t.equal(await one.acquire(), undefined);
  await next.release();
});

void test('a node that lost it with its connection may have it back at once', async (t) => {
  const server = await startNatsServer(t);
  const [one, other] = [await candidate(t, server.url), await candidate(t, server.url)];
  const lease = await acquired(one);
  await server.restart();
  await lease.lost;
  const again = await acquired(one);
  t.equal(await other.acquire(), undefined, 'the server has kept it for its holder');
  await again.release();
});
