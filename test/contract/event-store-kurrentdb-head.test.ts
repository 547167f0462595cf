/** The end of our log on a server to which others write much more. */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { type Test, test } from 'tap';
import { parseEventStoreUrl } from '../../src/event-store/kurrentdb/connection-string.ts';
import { KurrentDbClient } from '../../src/event-store/kurrentdb/client.ts';
import { LogHead } from '../../src/event-store/kurrentdb/head.ts';
import { StreamNames } from '../../src/event-store/kurrentdb/names.ts';
import type { EventStore } from '../../src/event-store/port.ts';
import { eventually } from '../support/deadline.ts';
import {
  emptyLogUrl,
  needsEventStoreServer,
  openEventStoreServer,
} from '../support/event-store-server.ts';
import { newEvents } from '../support/events.ts';

async function opened(t: Test, url: string): Promise<EventStore> {
  const store = await openEventStoreServer(url);
  t.teardown(() => store.close());
  return store;
}

/** Counts the searches that know no bound but our last event. */
function watched(t: Test, url: string) {
  const address = parseEventStoreUrl(url);
  const names = new StreamNames(address.namespace);
  const client = new KurrentDbClient(address, names, pino({ level: 'silent' }));
  t.teardown(() => client.close());
  const search = {
    unbounded: 0,
    readTail: client.readTail.bind(client),
    findAfter: client.findAfter.bind(client),
    findBefore: async (before: bigint) => {
      search.unbounded += 1;
      return client.findBefore(before);
    },
  };
  return search;
}

async function write(store: EventStore, events: number): Promise<void> {
  for (let left = events; left > 0; left -= 1_000) {
    await store.append(`a-${randomUUID()}`, newEvents(Math.min(left, 1_000)), 'no-stream');
  }
}

void test('the head among 20,000 events of others', needsEventStoreServer, async (t) => {
  const url = emptyLogUrl();
  const store = await opened(t, url);
  const others = await opened(t, emptyLogUrl());
  const { position } = await store.append('a-1', newEvents(1), 'no-stream');
  await write(others, 20_000);

  const search = watched(t, url);
  const hasty = new LogHead(search, 1);
  await t.rejects(hasty.read(), { name: 'EventStoreUnavailable', message: /still searched for/ });
  const found = await eventually('the head', () => hasty.read().catch(() => undefined));
  t.equal(found, position, 'a search goes on for those who ask later');
  t.equal(search.unbounded, 1, 'and is not begun again');

  const head = new LogHead(search);
  t.equal(await head.read(), position);
  search.unbounded = 0;
  await write(others, 500);
  t.equal(await head.read(), position);
  t.equal(search.unbounded, 0, 'what lies before the known end is not looked at again');

  const next = await store.append('a-1', newEvents(2), 0);
  await write(others, 500);
  t.strictSame(await Promise.all([head.read(), head.read()]), [next.position, next.position]);
  t.equal(await store.head(), next.position);
});

void test('the head where only others have written', needsEventStoreServer, async (t) => {
  const url = emptyLogUrl();
  await write(await opened(t, emptyLogUrl()), 100);
  const search = watched(t, url);
  const head = new LogHead(search);
  t.equal(await head.read(), 0n);
  await write(await opened(t, emptyLogUrl()), 100);
  t.equal(await head.read(), 0n);
  t.equal(search.unbounded, 1);
});
