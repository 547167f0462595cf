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

/** Tells news of all of them. @returns those that may be sent something */
function inTurn(places: DeliveryPlaces, ...receivers: readonly string[]): readonly string[] {
  for (const receiver of receivers) places.news(receiver);
  return [...places.inTurn()].filter((receiver) => receivers.includes(receiver));
}

const many = (count: number, receiver: string, accountId?: string) =>
  Array.from({ length: count }, (_, n) => delivery(`${receiver}/${n}`, receiver, accountId));

void test('a receiver has its places, and one alone while it fails', (t) => {
  const places = new DeliveryPlaces();
  t.equal(beginAll(places, many(9, 'a')).length, LIMITS.receiver);
  t.strictSame(inTurn(places, 'a', 'b'), ['b']);
  t.equal(places.begin(delivery('a/0', 'a')), undefined, 'none is under way twice');
  places.end('a/0');
  t.strictSame(inTurn(places, 'a'), ['a']);
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
  t.strictSame(inTurn(places, 'c', 'd'), ['d'], 'the third is not asked for before one ends');
  places.end('a/0');
  t.strictSame(inTurn(places, 'c'), ['c']);
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
  for (const receiver of receivers) places.news(receiver);
  for (const receiver of places.inTurn()) send(receiver);
  t.equal(sent.length, LIMITS.host);
  t.strictSame(inTurn(places, ...receivers), [], 'all of them are known to go there');
  t.strictSame(inTurn(places, 'other'), ['other']);
  for (let n = 0; n < 100; n += 1) {
    places.end(sent[n] ?? '');
    const [next = ''] = places.inTurn();
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
  t.strictSame(inTurn(places, 'b'), []);
  places.forget('b');
  t.strictSame(inTurn(places, 'b'), ['b'], 'its owner has changed its URL');
  t.equal(places.moveTo('example.com', 'unknown'), false);
  t.end();
});

void test('a receiver rests; what is under way is ended, of an account or all', (t) => {
  const places = new DeliveryPlaces();
  const endRest = places.rest(delivery('a/0', 'a'));
  t.strictSame(inTurn(places, 'a'), []);
  endRest();
  t.strictSame(inTurn(places, 'a'), ['a']);
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
  t.strictSame(inTurn(places, 'x'), []);
  t.equal(places.begin(delivery('x', 'x')), undefined);
  places.end('0');
  t.strictSame(inTurn(places, 'x'), ['x']);
  t.end();
});

void test('the URL of one request keeps those of other requests from nothing', (t) => {
  const places = new DeliveryPlaces();
  const all = many(LIMITS.account + 4, 'url/one', 'one').map((each) => ({
    ...each,
    url: 'sealed',
  }));
  t.equal(beginAll(places, all).length, LIMITS.account, 'the account has its part');
  t.strictSame(inTurn(places, 'url/one', 'b'), ['b'], 'and is not asked before one ends');
  const moved = all.slice(0, LIMITS.account).map(({ id }) => places.moveTo('full.example', id));
  t.equal(moved.filter(Boolean).length, LIMITS.accountAtHost);
  for (const { id } of all) places.end(id);
  const [failing, resting, good] = all;
  if (!failing || !resting || !good) throw new Error('there are more');
  places.answered(failing, false);
  places.rest(resting);
  t.strictSame(inTurn(places, 'b', 'url/one'), ['url/one', 'b'], 'it comes in its turn');
  t.equal(places.begin(resting), undefined, 'what could not be tried rests alone');
  t.equal(beginAll(places, all.slice(2)).length, LIMITS.account);
  t.end();
});

void test('a receiver is looked at where there is news, or where a place is free that it waits for', (t) => {
  const places = new DeliveryPlaces();
  const [one, two, three] = many(3, 'url/one', 'one').map((each) => ({ ...each, url: 'sealed' }));
  if (!one || !two || !three) throw new Error('there are more');
  const isOpen = () => [...places.inTurn()].includes('url/one');
  t.notOk(isOpen());
  places.news('url/one');
  places.begin(one);
  places.looked('url/one', [one], true);
  t.notOk(isOpen(), 'all that is due is under way');
  places.end(one.id);
  t.ok(isOpen(), 'others may be due behind it');
  places.looked('url/one', [], true);
  t.notOk(isOpen());

  const full = Array.from({ length: LIMITS.host }, (_, n) => delivery(`${n}`, `r${n}`));
  for (const each of full) {
    places.begin(each);
    places.moveTo('full.example', each.id);
  }
  places.news('url/one');
  for (const each of [two, three]) {
    places.begin(each);
    t.notOk(places.moveTo('full.example', each.id));
    places.end(each.id);
  }
  t.ok(isOpen());
  places.looked('url/one', [two, three], true);
  t.notOk(isOpen(), 'both wait for the host');
  places.end('0');
  t.ok(isOpen());
  places.begin(two);
  places.looked('url/one', [two, three], true);
  t.notOk(isOpen());
  places.news('url/one');
  t.ok(isOpen(), 'one to another host may have come');

  const endRest = places.rest(three);
  places.looked('url/one', [two, three], true);
  t.notOk(isOpen(), 'what could not be tried is not looked at');
  endRest();
  t.ok(isOpen());
  places.looked('url/one', [two], false);
  t.ok(isOpen(), 'where more may be due than was looked at');
  t.end();
});

/** Sends what waits for the URLs of requests, all at one host. @returns what a delivery took, in looks and the like */
function costOfEach(accounts: number, ofEach: number) {
  const places = new DeliveryPlaces();
  const waiting = new Map<string, ReturnType<typeof delivery>[]>();
  for (let n = 0; n < accounts; n += 1) {
    const receiver = `url/${n}`;
    waiting.set(
      receiver,
      many(ofEach, receiver, `${n}`).map((each) => ({ ...each, url: 'sealed' })),
    );
    places.news(receiver);
  }
  const all = accounts * ofEach;
  const cost = { sent: 0, looks: 0, rows: 0, begun: 0 };
  for (let before = -1; cost.sent + cost.begun > before; ) {
    before = cost.sent + cost.begun;
    const begun: ReturnType<typeof delivery>[] = [];
    for (const receiver of places.inTurn()) {
      const due = waiting.get(receiver)?.slice(0, 32) ?? [];
      cost.looks += 1;
      cost.rows += due.length;
      begun.push(...due.filter((each) => places.begin(each) !== undefined));
      places.looked(receiver, due, due.length < 32);
    }
    cost.begun += begun.length;
    const moved = begun.filter(({ id }) => places.moveTo('example.com', id));
    cost.sent += moved.length;
    for (const { id, receiver } of moved) {
      const others = waiting.get(receiver)?.filter((each) => each.id !== id) ?? [];
      waiting.set(receiver, others);
    }
    for (const { id } of begun) places.end(id);
  }
  const { sent, looks, rows, begun } = cost;
  return { sent: sent / all, looks: looks / sent, rows: rows / sent, begun: begun / sent };
}

void test('a delivery takes no more for those that wait, of its account and of others', (t) => {
  for (const [accounts, ofEach] of [
    [30, 33],
    [300, 33],
    [1000, 10],
    [30, 333],
  ] as const) {
    const { sent, looks, rows, begun } = costOfEach(accounts, ofEach);
    const of = `of ${accounts} accounts with ${ofEach} each: ${JSON.stringify({ looks, rows, begun })}`;
    t.equal(sent, 1, `all are sent, ${of}`);
    t.ok(looks <= 1 && rows <= 32, of);
    t.ok(begun <= 2, `its place is asked for twice at most, ${of}`);
  }
  t.end();
});
