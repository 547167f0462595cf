import {
  AckPolicy,
  type ConsumerInfo,
  type JetStreamManager,
  jetstreamManager,
  RetentionPolicy,
} from '@nats-io/jetstream';
import { type Logger, pino } from 'pino';
import { type Test, test } from 'tap';
import { connectToNats, type NatsLink } from '../../src/nats/connection.ts';
import { Puller } from '../../src/nats/puller.ts';
import type { Taken } from '../../src/nats/taken.ts';
import { cable } from '../support/cable.ts';
import { eventually } from '../support/deadline.ts';
import { startNatsServer } from '../support/nats-server.ts';

const silent = pino({ level: 'silent' });
const STREAM = 'WORK';
const CONSUMER = 'hands';
/** Longer than any of these tests: what is not given back comes too late for them. */
const ACK_WAIT_MS = 60_000;

async function linked(t: Test, url: string, logger: Logger = silent): Promise<NatsLink> {
  const link = await connectToNats(url, { name: 'test', logger });
  t.teardown(() => link.close());
  return link;
}

/** Makes the stream and its consumer. */
async function makeWork(link: NatsLink): Promise<void> {
  const manager = await jetstreamManager(link.connection);
  const retention = RetentionPolicy.Workqueue;
  await manager.streams.add({ name: STREAM, subjects: ['work.*'], retention });
  await addConsumer(manager);
}

async function addConsumer({ consumers }: JetStreamManager): Promise<void> {
  await consumers.add(STREAM, {
    durable_name: CONSUMER,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ACK_WAIT_MS * 1_000_000,
  });
}

async function consumerInfo({ connection }: NatsLink): Promise<ConsumerInfo> {
  const manager = await jetstreamManager(connection);
  return await manager.consumers.info(STREAM, CONSUMER);
}

/** Counts the messages on a subject from now on. */
function heard({ connection }: NatsLink, subject: string): () => number {
  let count = 0;
  const callback = (): void => {
    count += 1;
  };
  connection.subscribe(subject, { callback });
  return () => count;
}

function pull(
  t: Test,
  link: NatsLink,
  places: number,
  handle: (taken: Taken) => Promise<void>,
  logger: Logger = silent,
): Puller {
  const names = { stream: STREAM, consumer: CONSUMER };
  const puller = new Puller({ link, ...names, places, ackWaitMs: ACK_WAIT_MS, logger, handle });
  t.teardown(() => puller.close());
  return puller;
}

/** What is taken, and done at once. */
function pullAll(t: Test, link: NatsLink, logger: Logger = silent): readonly Taken[] {
  const all: Taken[] = [];
  const handle = async (taken: Taken): Promise<void> => {
    all.push(taken);
    await taken.done();
  };
  pull(t, link, 24, handle, logger);
  return all;
}

void test('what is on its way when it closes goes back at once', async (t) => {
  const server = await startNatsServer(t);
  const { url, holdUp } = await cable(t, server.port);
  const near = await linked(t, server.url);
  const far = await linked(t, url);
  await makeWork(near);
  const inHand = (count: number): Promise<true> =>
    eventually(`${count} in hand`, async () => {
      const { num_ack_pending: now } = await consumerInfo(near);
      return now === count || undefined;
    });
  const first: string[] = [];
  const puller = pull(t, far, 4, async (taken) => {
    first.push(taken.subject);
    await taken.done();
  });
  near.connection.publish('work.0');
  await eventually('the first', () => first.length === 1 || undefined);
  await inHand(0);

  const letGo = holdUp();
  for (const n of [1, 2, 3]) near.connection.publish(`work.${n}`);
  await inHand(3);
  const stopped = puller.stop();
  let closed = false;
  const closing = puller.close().finally(() => {
    closed = true;
  });
  // It waits for them already: a 2.9 server may keep what comes back while only lost requests wait.
  const asked = heard(near, `$JS.API.CONSUMER.MSG.NEXT.${STREAM}.${CONSUMER}`);
  await near.connection.flush();
  const second = pullAll(t, near);
  await eventually('its request', () => asked() > 0 || undefined);
  await consumerInfo(near);
  t.notOk(closed, 'nobody knows yet what is on its way');
  letGo();
  await Promise.all([stopped, closing]);
  t.strictSame(first, ['work.0'], 'nothing more is handed over');
  await eventually('the others', () => second.length === 3 || undefined, 10_000);
  const subjects = second.map(({ subject }) => subject);
  t.strictSame(subjects.toSorted(), ['work.1', 'work.2', 'work.3']);
});

/** Has 20 messages taken one by one: each makes room for one more, which is asked for by itself. */
async function takeOneByOne({ connection }: NatsLink, taken: readonly Taken[]): Promise<void> {
  for (let n = 1; n <= 20; n += 1) {
    connection.publish(`work.${n}`);
    await eventually('a message', () => taken.length === n || undefined);
  }
}

void test('a server that shuts down ends many requests, and that is said once', async (t) => {
  const server = await startNatsServer(t);
  const link = await linked(t, server.url);
  await makeWork(link);
  const lines: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
  const taken = pullAll(t, link, logger);
  await takeOneByOne(link, taken);
  const down = async (): Promise<void> => {
    await server.stop();
    await eventually('the loss', () => !link.isUp() || undefined);
  };
  await down();
  t.equal(lines.length, 1, 'once');
  await server.restart();
  await eventually('the server', () => link.isUp() || undefined);
  link.connection.publish('work.21');
  await eventually('a message', () => taken.length === 21 || undefined);
  await down();
  t.equal(lines.length, 2, 'and once for the next time');
});

void test('a consumer that is deleted ends many requests, and is looked for once', async (t) => {
  const { url } = await startNatsServer(t);
  const link = await linked(t, url);
  await makeWork(link);
  const taken = pullAll(t, link);
  await takeOneByOne(link, taken);
  const other = await linked(t, url);
  const { num_waiting: requests } = await consumerInfo(other);
  const looks = heard(other, `$JS.API.CONSUMER.INFO.${STREAM}.${CONSUMER}`);
  await other.connection.flush();
  const manager = await jetstreamManager(other.connection);
  await manager.consumers.delete(STREAM, CONSUMER);
  await addConsumer(manager);
  other.connection.publish('work.21');
  await eventually('a message', () => taken.length === 21 || undefined);
  t.ok(requests > 5 && looks() < requests / 2, `${looks()} for ${requests} requests`);
});
