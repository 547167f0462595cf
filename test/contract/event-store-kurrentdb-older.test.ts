/** A server that comes back with an older log, or another one: here, with that of another namespace. */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { test } from 'tap';
import { KurrentDbClient } from '../../src/event-store/kurrentdb/client.ts';
import { parseConnectionString } from '../../src/event-store/kurrentdb/connection-string.ts';
import { KurrentDbSubscription } from '../../src/event-store/kurrentdb/subscription.ts';
import { eventually } from '../support/deadline.ts';
import {
  emptyLogUrl,
  needsEventStoreServer,
  openEventStoreServer,
} from '../support/event-store-server.ts';
import { newEvents } from '../support/events.ts';

const logger = pino({ level: 'silent' });

void test(
  'a subscription does not go on in a log without the last event that it handed over',
  needsEventStoreServer,
  async (t) => {
    const open = async (name: string) => {
      const url = emptyLogUrl(`test_${name}${randomUUID().replaceAll('-', '')}`);
      const store = await openEventStoreServer(url);
      const client = new KurrentDbClient(parseConnectionString(url), logger);
      t.teardown(async () => {
        await Promise.all([store.close(), client.close()]);
      });
      return { store, client };
    };
    const [{ store, client: known }, { store: other, client: exchanged }] = await Promise.all([
      open('a'),
      open('b'),
    ]);
    const written = newEvents(3);
    await store.append('a-1', written, 'no-stream');
    await other.append('a-1', written.slice(0, 2), 'no-stream');

    const seen: string[] = [];
    let server = known;
    let drop: (() => void) | undefined;
    const subscription = new KurrentDbSubscription(
      {
        readStream: (...args) => server.readStream(...args),
        recordedEvent: (event) => server.recordedEvent(event),
        failed: (error) => server.failed(error),
        subscribe: (after) => {
          const feed = server.subscribe(after);
          drop = () => void feed.unsubscribe();
          return feed;
        },
      },
      0n,
      (events) => void seen.push(...events.map(({ id }) => id)),
      logger,
    );
    await eventually('all events', () => (seen.length === 3 ? true : undefined));
    drop?.();
    await store.append('a-1', newEvents(1), 2);
    await eventually('the same log again', () => (seen.length === 4 ? true : undefined));
    server = exchanged;
    await other.append('b-1', newEvents(5), 'no-stream');
    drop?.();
    await t.rejects(subscription.ended, {
      name: 'EventStoreUnavailable',
      message: 'The event log lacks revision 3 of a-1.',
    });
    t.equal(seen.length, 4, 'nothing of the other one is handed over');
  },
);
