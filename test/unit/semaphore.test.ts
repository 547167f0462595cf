import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'tap';
import { Semaphore } from '../../src/async/semaphore.ts';

const goesOn = new AbortController().signal;

void test('as many as there are slots, then in order', async (t) => {
  const slots = new Semaphore(2);
  const order: string[] = [];
  const take = async (name: string): Promise<() => void> => {
    const free = await slots.acquire();
    order.push(name);
    return free;
  };
  const [first, second] = await Promise.all([take('a'), take('b')]);
  const third = take('c');
  const fourth = take('d');
  await turn();
  t.same(order, ['a', 'b'], 'the others wait');
  second();
  const freeThird = await third;
  await turn();
  t.same(order, ['a', 'b', 'c'], 'one for one, who waited longest');
  first();
  const freeFourth = await fourth;
  t.same(order, ['a', 'b', 'c', 'd']);
  freeThird();
  freeFourth();
  await Promise.all([take('e'), take('f')]);
  t.equal(order.length, 6, 'both are free again');
});

void test('a slot is given back once, however often that is said', async (t) => {
  const slots = new Semaphore(1);
  const free = await slots.acquire();
  free();
  free();
  const again = await slots.acquire();
  let extra = false;
  const waiting = slots.acquire().then((release) => {
    extra = true;
    return release;
  });
  await turn();
  t.notOk(extra, 'there is still one slot only');
  free();
  await turn();
  t.notOk(extra, 'and it is not free because its last holder says so');
  again();
  (await waiting)();
  t.ok(extra);
});

void test('who waits when all is stopped gets no slot, and nobody does after it', async (t) => {
  const slots = new Semaphore(1);
  const stop = new AbortController();
  const free = await slots.acquire();
  const stopped = slots.acquire(stop.signal);
  const goingOn = slots.acquire(goesOn);
  stop.abort();
  t.equal(await stopped, undefined);
  free();
  const next = await goingOn;
  t.ok(next, 'who left is passed over');
  next?.();
  t.equal(await slots.acquire(stop.signal), undefined, 'though one is free');
  t.ok(await slots.acquire(goesOn));
});
