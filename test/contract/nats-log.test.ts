/** Nodes of two event logs on one NATS are told apart, and those of one log never are. */
import { join } from 'node:path';
import { pino } from 'pino';
import { type Test, test } from 'tap';
import { logPermissions, NatsLog } from '../../src/compose/adapters/nats-log.ts';
import { openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import type { EventStore } from '../../src/event-store/port.ts';
import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { Bucket } from '../../src/nats/bucket.ts';
import { connectToNats } from '../../src/nats/connection.ts';
import { leasePermissions, NatsLease } from '../../src/nats/lease.ts';
import { eventually } from '../support/deadline.ts';
import {
  emptyLogUrl,
  needsEventStoreServer,
  openEventStoreServer,
} from '../support/event-store-server.ts';
import { newEvents } from '../support/events.ts';
import { startNatsServer } from '../support/nats-server.ts';

const logger = pino({ level: 'silent' });
const REFUSED = {
  message:
    /^NATS_URL belongs to another event log [^\n]+: nats kv del PRESSLEDGER_LOG first-event\.$/,
};
/** Of our streams, which a server with other streams knows by their names. */
const begin = (store: EventStore, stream = 'account-1'): Promise<unknown> =>
  store.append(stream, newEvents(2), 'no-stream');

interface Logs {
  readonly name: string;
  readonly options: { readonly skip?: string };
  /** Opens a log by its name, each time as another process would. */
  readonly open: (t: Test) => (log: string) => Promise<EventStore>;
}

const LOGS: readonly Logs[] = [
  {
    name: 'SQLite',
    options: {},
    open: (t) => async (log) => {
      const database = openEmbeddedDatabase(join(t.testdirName, log));
      const store = new SqliteEventStore(database);
      t.teardown(async () => {
        await store.close();
        database.close();
      });
      return store;
    },
  },
  {
    name: 'event-store server',
    options: needsEventStoreServer,
    open: (t) => {
      const urls = new Map<string, string>();
      return async (log) => {
        const url = urls.get(log) ?? emptyLogUrl();
        urls.set(log, url);
        const store = await openEventStoreServer(url);
        t.teardown(() => store.close());
        return store;
      };
    },
  },
];

async function connect(t: Test, url: string) {
  const link = await connectToNats(url, { name: 'test', logger });
  t.teardown(() => link.close());
  return link;
}

/** An API node's part in it. */
async function startNode(t: Test, url: string, store: EventStore) {
  const link = await connect(t, url);
  const log = await NatsLog.open({ link, store, logger });
  t.teardown(() => log.close());
  const lead = new NatsLease({ link, logger, name: 'LEAD' });
  return { log, acquire: () => log.acquire(lead) };
}

/** What is kept of whose NATS it is. */
async function entryOf(t: Test, url: string) {
  const link = await connect(t, url);
  const kept = { maxAgeMs: 0, storage: 'file', answerMs: 3000 } as const;
  const bucket = new Bucket(link, { name: 'LOG', ...kept });
  return {
    bucket,
    claimed: () =>
      eventually('the claim', async () => {
        const entry = await bucket.get('first-event').catch(() => undefined);
        return entry?.value === '' ? undefined : entry?.value;
      }),
  };
}

for (const { name, options, open } of LOGS) {
  const nodes = (
    title: string,
    run: (t: Test, log: (log: string) => Promise<EventStore>) => Promise<void>,
  ): void => {
    void test(`${name}: ${title}`, options, async (t) => {
      t.testdir();
      await run(t, open(t));
    });
  };

  nodes('a node of another log does not start, until the entry is deleted', async (t, log) => {
    const { url } = await startNatsServer(t);
    const store = await log('one');
    await begin(store);
    const first = await startNode(t, url, store);
    t.ok(await first.acquire());
    const { bucket, claimed } = await entryOf(t, url);
    await claimed();
    // More events, and others that read it, change nothing.
    await begin(store, 'account-2');
    t.ok(await startNode(t, url, await log('one')));

    const other = await log('other');
    await t.rejects(startNode(t, url, other), REFUSED, 'an empty one');
    await begin(other);
    await t.rejects(startNode(t, url, other), REFUSED, 'one with the same streams');
    t.equal(first.log.missing(), undefined);

    const entry = await bucket.get('first-event');
    await bucket.set('first-event', '', entry?.revision ?? 0);
    const second = await startNode(t, url, other);
    await second.acquire();
    await claimed();
    await t.rejects(startNode(t, url, store), REFUSED);
  });

  nodes('a node that feeds nothing claims nothing', async (t, log) => {
    const { url } = await startNatsServer(t);
    const other = await log('other');
    await begin(other);
    const command = await startNode(t, url, other);
    await command.log.close();
    const store = await log('one');
    await begin(store);
    const node = await startNode(t, url, store);
    t.ok(await node.acquire());
  });

  nodes('two nodes that start at once on one new log both do', async (t, log) => {
    const { url } = await startNatsServer(t);
    const stores = [await log('one'), await log('one')];
    const both = await Promise.all(stores.map((store) => startNode(t, url, store)));
    const leases = await Promise.all(both.map((node) => node.acquire()));
    t.equal(leases.filter((lease) => lease !== undefined).length, 1);
    if (stores[0]) await begin(stores[0]);
    const { claimed } = await entryOf(t, url);
    await claimed();
    for (const node of both) t.equal(node.log.missing(), undefined);
    t.ok(await startNode(t, url, await log('one')));
  });

  nodes('of two new logs the second to begin gives way, and says so', async (t, log) => {
    const { url } = await startNatsServer(t);
    const [one, other] = [await log('one'), await log('other')];
    const [early, late] = [await startNode(t, url, one), await startNode(t, url, other)];
    const lease = await early.acquire();
    t.equal(await late.acquire(), undefined);
    let lost = false;
    void lease?.lost?.finally(() => {
      lost = true;
    });
    // The one that stands by begins first.
    await begin(other);
    const { claimed } = await entryOf(t, url);
    await claimed();
    t.equal(lost, false);
    await begin(one);
    await lease?.lost;
    t.equal(early.log.missing(), 'NATS belongs to another event log');
    await lease?.release();
    t.equal(await early.acquire(), undefined);
    t.ok(await eventually('the lease', () => late.acquire()));
    t.equal(late.log.missing(), undefined);
  });

  nodes('a server that lost its data is claimed again', async (t, log) => {
    const server = await startNatsServer(t);
    const [one, other] = [await log('one'), await log('other')];
    await begin(one);
    await begin(other);
    const node = await startNode(t, server.url, one);
    await node.acquire();
    const { claimed } = await entryOf(t, server.url);
    const before = await claimed();
    await server.restart({ loseData: true });
    t.equal(await claimed(), before);
    t.equal(node.log.missing(), undefined);
    await t.rejects(startNode(t, server.url, other), REFUSED);
    t.ok(await startNode(t, server.url, await log('one')));
  });
}

void test('a node needs no more than its permissions', async (t) => {
  const allowed = [
    '$JS.API.INFO',
    ...logPermissions('pressledger'),
    ...leasePermissions('pressledger', 'LEAD'),
  ];
  const { url } = await startNatsServer(t, {
    config: `authorization { users: [{ user: api, password: a, permissions: {
      publish: ${JSON.stringify(allowed)}, subscribe: "_INBOX.>" } }] }`,
  });
  t.testdir();
  const [sqlite] = LOGS;
  const log = sqlite?.open(t);
  if (!log) throw new Error('There is no log.');
  const [one, other] = [await log('one'), await log('other')];
  await begin(one);
  const at = url.replace('//', '//api:a@');
  const node = await startNode(t, at, one);
  t.ok(await node.acquire());
  await (await entryOf(t, at)).claimed();
  await t.rejects(startNode(t, at, other), REFUSED);
});
