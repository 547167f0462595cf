/** A store that comes back with an older log, or an empty one, while a process runs on it. */
import { type Test, test } from 'tap';
import { ActorSystem } from '../../src/actors/system.ts';
import { accountAggregate } from '../../src/domain/account.ts';
import { forwardOnly } from '../../src/event-store/forward-only.ts';
import {
  type CopyableEventStore,
  type EventStore,
  EventStoreUnavailable,
  type LogDiffers,
  type Subscription,
} from '../../src/event-store/port.ts';
import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import { grant, noSnapshots, OPEN, sentBy } from '../support/actors.ts';
import { testDirectory } from '../support/directory.ts';
import { newEvents } from '../support/events.ts';
import { FaultyStore } from '../support/faulty-store.ts';
import { openNode } from '../support/projected.ts';
import { accountId } from '../support/samples.ts';

function openStore(t: Test): CopyableEventStore {
  const database = openEmbeddedDatabase(`${testDirectory(t)}/store.db`);
  const store = new SqliteEventStore(database);
  t.teardown(async () => {
    await store.close();
    database.close();
  });
  return store;
}

/** Two real stores; the second takes the place of the first, as a server does that starts on another volume. */
class Exchanged implements Omit<CopyableEventStore, 'close'> {
  #store: CopyableEventStore;
  readonly #drops = new Set<(error: Error) => void>();

  constructor(store: CopyableEventStore) {
    this.#store = store;
  }

  comesBackWith(store: CopyableEventStore): void {
    this.#store = store;
    for (const drop of this.#drops) drop(new Error('The server went away.'));
    this.#drops.clear();
  }

  readonly append: EventStore['append'] = (...args) => this.#store.append(...args);
  readonly readStream: EventStore['readStream'] = (...args) => this.#store.readStream(...args);
  readonly readAll: EventStore['readAll'] = (...args) => this.#store.readAll(...args);
  readonly head: EventStore['head'] = () => this.#store.head();
  readonly appendCopies: CopyableEventStore['appendCopies'] = (events) =>
    this.#store.appendCopies(events);
  readonly barrier: CopyableEventStore['barrier'] = () => this.#store.barrier();
  readonly setBarrier: CopyableEventStore['setBarrier'] = (barrier) =>
    this.#store.setBarrier(barrier);
  readonly close = async (): Promise<void> => {};

  readonly subscribe: EventStore['subscribe'] = (after, handle): Subscription => {
    const subscription = this.#store.subscribe(after, handle);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#drops.add(reject);
    subscription.ended.then(resolve, reject);
    promise.catch(() => {});
    return { ended: promise, stop: () => subscription.stop() };
  };
}

/** The first events of a log, in a store of their own. */
async function olderThan(t: Test, store: EventStore, events: number): Promise<CopyableEventStore> {
  const older = openStore(t);
  await older.appendCopies(await store.readAll({ limit: events }));
  return older;
}

const OLDER = {
  message: /^The event log ends at position \d+, and this process has seen position 5/,
};

void test('a log that ends before what was seen of it is not available, until it is back', async (t) => {
  const first = openStore(t);
  const exchanged = new Exchanged(first);
  const store = forwardOnly(exchanged);
  await store.append('a-1', newEvents(5), 'no-stream');
  t.equal(await store.head(), 5n);
  for (const events of [3, 0]) {
    exchanged.comesBackWith(await olderThan(t, first, events));
    await t.rejects(store.head(), EventStoreUnavailable);
    await t.rejects(store.head(), OLDER);
    await t.rejects(store.append('b-1', newEvents(1), 'no-stream'), OLDER);
  }
  exchanged.comesBackWith(first);
  t.equal(await store.head(), 5n);
  t.equal((await store.append('b-1', newEvents(1), 'no-stream')).position, 6n);
});

void test('what others append and hand over counts as seen', async (t) => {
  const first = openStore(t);
  await first.append('a-1', newEvents(5), 'no-stream');
  const see: readonly ((store: CopyableEventStore) => Promise<void>)[] = [
    async (store) => void (await store.readAll()),
    async (store) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const subscription = store.subscribe(0n, () => resolve());
      await promise;
      await subscription.stop();
    },
  ];
  for (const look of see) {
    const exchanged = new Exchanged(first);
    const store = forwardOnly(exchanged);
    await look(store);
    exchanged.comesBackWith(await olderThan(t, first, 2));
    await t.rejects(store.head(), OLDER);
  }
});

void test('an actor whose stream is shorter than it knew stops, and says which event is missing', async (t) => {
  const first = openStore(t);
  const exchanged = new Exchanged(first);
  const told: LogDiffers[] = [];
  const onDifference = (error: LogDiffers) => void told.push(error);
  const actors = new ActorSystem({ store: exchanged, snapshots: noSnapshots, onDifference });
  t.teardown(() => actors.close());
  const id = accountId();
  await actors.send(accountAggregate, id, OPEN, sentBy('1'));
  await actors.send(accountAggregate, id, grant(1), sentBy('2'));
  exchanged.comesBackWith(await olderThan(t, first, 1));
  const line =
    /^The log lacks revision \d+ of account-\S+ \(event \S+\), .* ends at 0\..*audit\.md/;
  const differs = { name: 'LogDiffers', message: line };
  await t.rejects(actors.send(accountAggregate, id, grant(2), sentBy('3')), differs);
  t.match(told, [differs]);
  await t.rejects(actors.send(accountAggregate, id, grant(3), sentBy('4')), differs);
  await t.rejects(actors.read(accountAggregate, id), differs);
  t.equal(told.length, 1);
});

void test('an actor goes on after a conflict with a server that was behind', async (t) => {
  const first = openStore(t);
  const exchanged = new Exchanged(first);
  const told: LogDiffers[] = [];
  const onDifference = (error: LogDiffers) => void told.push(error);
  const store = new FaultyStore(exchanged);
  const actors = new ActorSystem({ store, snapshots: noSnapshots, onDifference });
  t.teardown(() => actors.close());
  const id = accountId();
  await actors.send(accountAggregate, id, OPEN, sentBy('1'));
  await actors.send(accountAggregate, id, grant(1), sentBy('2'));
  exchanged.comesBackWith(await olderThan(t, first, 1));
  let reads = 0;
  store.beforeRead = async () => {
    reads += 1;
    // It has answered the append and one read: it is the leader no more.
    if (reads === 2) exchanged.comesBackWith(first);
  };
  t.match(await actors.send(accountAggregate, id, grant(2), sentBy('3')), { accepted: true });
  t.strictSame(told, []);
  t.match(await actors.read(accountAggregate, id), { state: { credits: 13 } });
});

void test('before a subscription, the last event that the read models know is looked for', async (t) => {
  const first = openStore(t);
  const exchanged = new Exchanged(first);
  const { runner, readModel } = openNode(t, `${testDirectory(t)}/read-model`, exchanged);
  await first.append('a-1', newEvents(5), 'no-stream');
  runner.start();
  await runner.waitFor(5n);
  // It has grown beyond what was seen since.
  const older = await olderThan(t, first, 3);
  await older.append('b-1', newEvents(9), 'no-stream');
  exchanged.comesBackWith(older);
  const message = /^The log lacks revision 4 of a-1 \(event \S+, position 5\)/;
  await t.rejects(runner.ended, { name: 'LogDiffers', message });
  t.equal(readModel.lastEvent()?.position, 5n, 'nothing of it is taken in');
});
