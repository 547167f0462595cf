import { test } from 'tap';
import { EventStoreUnavailable } from '../../../src/event-store/port.ts';
import { coalescedHead } from '../../../src/http/middleware/coalesced-head.ts';

/** A store that answers a look when the test says so. */
function slowStore() {
  const looks: PromiseWithResolvers<bigint>[] = [];
  return {
    looks,
    head: (): Promise<bigint> => {
      const look = Promise.withResolvers<bigint>();
      looks.push(look);
      return look.promise;
    },
    /** Resolves when so many looks have begun. */
    async begun(count: number): Promise<void> {
      while (looks.length < count) await new Promise(setImmediate);
    },
  };
}

void test('who asks in one turn shares one look', async (t) => {
  const store = slowStore();
  const head = coalescedHead(store);
  const asked = [head(), head(), head()];
  await store.begun(1);
  store.looks[0]?.resolve(7n);
  t.strictSame(await Promise.all(asked), [7n, 7n, 7n]);
  t.equal(store.looks.length, 1);
});

void test('who asks while a look is under way gets one that began later', async (t) => {
  const store = slowStore();
  const head = coalescedHead(store);
  const early = head();
  await store.begun(1);
  const late = [head(), head()];
  store.looks[0]?.resolve(7n);
  t.equal(await early, 7n);
  await store.begun(2);
  store.looks[1]?.resolve(9n);
  t.strictSame(await Promise.all(late), [9n, 9n]);
  t.equal(store.looks.length, 2);
});

void test('a failed look fails those it served and nobody else', async (t) => {
  const store = slowStore();
  const head = coalescedHead(store);
  const [one, other] = [head(), head()];
  await store.begun(1);
  const late = head();
  store.looks[0]?.reject(new EventStoreUnavailable('away'));
  await t.rejects(one, EventStoreUnavailable);
  await t.rejects(other, EventStoreUnavailable);
  await store.begun(2);
  store.looks[1]?.resolve(9n);
  t.equal(await late, 9n);
});
