import { test } from 'tap';
import { DeliveryPlaces, LIMITS } from '../../src/process-managers/delivery-places.ts';

const delivery = (id: string, receiver: string, accountId = `account-of-${receiver}`) => ({
  id,
  receiver,
  accountId,
});

/** Begins as many as may be. @returns the ids of those that have a place */
function beginAll(places: DeliveryPlaces, all: readonly ReturnType<typeof delivery>[]): string[] {
  return all.filter((each) => places.begin(each) !== undefined).map(({ id }) => id);
}

const many = (count: number, receiver: string, accountId?: string) =>
  Array.from({ length: count }, (_, n) => delivery(`${receiver}/${n}`, receiver, accountId));

void test('a receiver has its places, and one alone while it fails', (t) => {
  const places = new DeliveryPlaces();
  t.equal(beginAll(places, many(9, 'a')).length, LIMITS.receiver);
  t.strictSame([...places.inTurn(['a', 'b'])], ['b']);
  t.equal(places.begin(delivery('a/0', 'a')), undefined, 'none is under way twice');
  places.end('a/0');
  t.strictSame([...places.inTurn(['a'])], ['a']);
  for (const { id } of many(LIMITS.receiver, 'a')) places.end(id);
  places.answered(delivery('a/0', 'a'), false);
  t.equal(beginAll(places, many(9, 'a')).length, 1);
  places.end('a/0');
  places.answered(delivery('a/0', 'a'), true);
  t.equal(beginAll(places, many(9, 'a')).length, LIMITS.receiver);
  t.end();
});

void test('an account shares places among its receivers', (t) => {
  const places = new DeliveryPlaces();
  const begun = ['a', 'b', 'c'].flatMap((receiver) => beginAll(places, many(4, receiver, 'one')));
  t.equal(begun.length, LIMITS.account);
  t.strictSame([...places.inTurn(['c', 'd'])], ['d'], 'the third is not asked for before one ends');
  places.end('a/0');
  t.strictSame([...places.inTurn(['c'])], ['c']);
  t.end();
});

void test('a host that is full is waited for, by its receivers in turn', (t) => {
  const places = new DeliveryPlaces();
  const receivers = Array.from({ length: 40 }, (_, n) => `r${n}`);
  const sent: string[] = [];
  const send = (receiver: string): void => {
    const one = delivery(`${receiver}/${sent.length}`, receiver);
    t.ok(places.begin(one));
    if (places.moveTo('example.com', one.id)) sent.push(one.id);
    else places.end(one.id);
  };
  for (const receiver of places.inTurn(receivers)) send(receiver);
  t.equal(sent.length, LIMITS.host);
  t.strictSame([...places.inTurn(receivers)], [], 'all of them are known to go there');
  t.strictSame([...places.inTurn(['other'])], ['other']);
  for (let n = 0; n < 100; n += 1) {
    places.end(sent[n] ?? '');
    const [next = ''] = places.inTurn(receivers);
    send(next);
  }
  const turns = receivers.map((each) => sent.filter((id) => id.startsWith(`${each}/`)).length);
  t.ok(Math.min(...turns) >= 2 && Math.max(...turns) <= 4, 'none is passed over');
  t.end();
});

void test('an account has its part of a host; a receiver that moves is asked at once', (t) => {
  const places = new DeliveryPlaces();
  const [first, second] = [many(4, 'a', 'one'), many(4, 'b', 'one')];
  for (const { id } of [...first, ...second].slice(0, 8)) {
    const one = [...first, ...second].find((each) => each.id === id);
    if (one !== undefined) places.begin(one);
  }
  const moved = [...first, ...second].map(({ id }) => places.moveTo('example.com', id));
  t.equal(moved.filter(Boolean).length, LIMITS.accountAtHost);
  for (const { id } of second) places.end(id);
  t.strictSame([...places.inTurn(['b'])], []);
  places.forget('b');
  t.strictSame([...places.inTurn(['b'])], ['b'], 'its owner has changed its URL');
  t.equal(places.moveTo('example.com', 'unknown'), false);
  t.end();
});

void test('a receiver rests; what is under way is ended, of an account or all', (t) => {
  const places = new DeliveryPlaces();
  places.rest(delivery('a/0', 'a'), 60_000);
  t.strictSame([...places.inTurn(['a'])], []);
  places.rest(delivery('a/0', 'a'), 0);
  t.strictSame([...places.inTurn(['a'])], ['a']);
  const [one, other] = [delivery('b/0', 'b'), delivery('c/0', 'c')].map((each) =>
    places.begin(each),
  );
  places.abort('account-of-b');
  t.strictSame([one?.aborted, other?.aborted], [true, false]);
  places.abort();
  t.equal(other?.aborted, true);
  t.end();
});

void test('there are so many in all', (t) => {
  const places = new DeliveryPlaces();
  for (let n = 0; n < LIMITS.all; n += 1) places.begin(delivery(`${n}`, `r${n}`));
  t.strictSame([...places.inTurn(['x'])], []);
  t.equal(places.begin(delivery('x', 'x')), undefined);
  places.end('0');
  t.strictSame([...places.inTurn(['x'])], ['x']);
  t.end();
});

void test('the URL of one request keeps those of other requests from nothing', (t) => {
  const places = new DeliveryPlaces();
  const all = many(LIMITS.account + 4, 'url/one', 'one').map((each) => ({
    ...each,
    url: 'sealed',
  }));
  t.equal(beginAll(places, all).length, LIMITS.account, 'the account has its part');
  t.strictSame([...places.inTurn(['url/one', 'b'])], ['b'], 'and is not asked before one ends');
  const moved = all.slice(0, LIMITS.account).map(({ id }) => places.moveTo('full.example', id));
  t.equal(moved.filter(Boolean).length, LIMITS.accountAtHost);
  for (const { id } of all) places.end(id);
  const [failing, resting, good] = all;
  if (!failing || !resting || !good) throw new Error('there are more');
  places.answered(failing, false);
  places.rest(resting, 60_000);
  t.strictSame([...places.inTurn(['b', 'url/one'])], ['b', 'url/one'], 'it comes in its turn');
  t.equal(places.begin(resting), undefined, 'what could not be tried rests alone');
  t.equal(beginAll(places, all.slice(2)).length, LIMITS.account);
  t.end();
});
