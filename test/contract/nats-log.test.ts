/** Nodes of two event logs in one namespace of NATS are told apart, and those of one log never are. */
import { pino } from 'pino';
import { type Test, test } from 'tap';
import { Bucket } from '../../src/nats/bucket.ts';
import { connectToNats, type NatsLink } from '../../src/nats/connection.ts';
import type { RenderQueues } from '../../src/service/nats.ts';
import { LOG_BUCKET, openNatsQueues } from '../../src/service/nats.ts';
import { eventually } from '../support/deadline.ts';
import { startNatsServer } from '../support/nats-server.ts';

const logger = pino({ level: 'silent' });
const REFUSED = {
  message:
    /^The namespace pressledger of NATS_URL belongs to another event log, [^\n]+: nats kv del PRESSLEDGER_LOG origin\.$/,
};

async function connect(t: Test, url: string): Promise<NatsLink> {
  const link = await connectToNats(url, { name: 'test', logger });
  t.teardown(() => link.close());
  return link;
}

/** An API node's part in it, on a log with so many events. */
const open = async (t: Test, url: string, events = 1n): Promise<RenderQueues> =>
  openNatsQueues(await connect(t, url), { head: async () => events }, logger);

void test('a node of another log is refused, until the entry is deleted', async (t) => {
  const { url } = await startNatsServer(t);
  const first = await open(t, url, 0n);
  await first.claim('one');
  await first.claim('one');
  const lease = await first.lease('one').acquire();
  t.ok(lease);
  await (await open(t, url)).claim('one');

  const emptied = {
    message: /^The event log is empty: if it should not be, restore it\. The namespace /,
  };
  await t.rejects(open(t, url, 0n), emptied, 'an empty log, before anything is made');
  const other = await open(t, url);
  await t.rejects(other.claim('other'), REFUSED);
  await lease?.release();
  await t.rejects(other.lease('other').acquire(), REFUSED, 'nor does it lead');
  await (await open(t, `${url}?namespace=other`, 0n)).claim('other');

  const kept = { maxAgeMs: 0, storage: 'file', answerMs: 3000 } as const;
  const bucket = new Bucket(await connect(t, url), { name: LOG_BUCKET, ...kept });
  const entry = await bucket.get('origin');
  t.equal(entry?.value, 'one');
  await bucket.set('origin', '', entry?.revision ?? 0);
  await other.claim('other');
  await t.rejects(first.claim('one'), REFUSED);
});

void test('of two logs that claim it at once, one does', async (t) => {
  const { url } = await startNatsServer(t);
  const queues = await Promise.all([open(t, url), open(t, url), open(t, url)]);
  const claims = queues.map((each, n) => each.claim(n === 0 ? 'one' : 'other'));
  const [one, ...others] = await Promise.allSettled(claims);
  t.strictSame(new Set(others.map(({ status }) => status)).size, 1, 'nodes of one log agree');
  t.not(one?.status, others[0]?.status);
});

void test('a server that lost its data is claimed again by the leader', async (t) => {
  const server = await startNatsServer(t);
  const node = await open(t, server.url);
  await node.claim('one');
  const lease = node.lease('one');
  const held = await lease.acquire();
  t.ok(held);
  await server.kill();
  await held?.lost;
  t.equal(await lease.acquire(), undefined, 'nobody leads while the server is away');
  await node.claim('one');
  await server.restart({ loseData: true });
  await eventually('the lease', () => lease.acquire());
  const other = await open(t, server.url);
  await t.rejects(other.claim('other'), REFUSED);
});
