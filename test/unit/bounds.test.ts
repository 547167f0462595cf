import { statfsSync } from 'node:fs';
import { pino } from 'pino';
import { test } from 'tap';
import { unfinishedQueries } from '../../projections/unfinished-conversions.ts';
import {
  Bounds,
  diskBound,
  memoryBound,
  type QueueCounts,
  queueBound,
} from '../../src/limits/bounds.ts';
import { BASE, startApi } from '../support/api.ts';
import { eventually } from '../support/deadline.ts';
import { testDirectory } from '../support/directory.ts';

const silent = pino({ level: 'silent' });
const ONE = { accountId: 'ada', count: 1 };
/** A queue in which others have so many. */
const ofOthers = (count: () => number) => (): QueueCounts => ({ count, countOf: () => 0 });

void test('the queue: what this node admits counts at once, what has ended at the next look', async (t) => {
  let unfinished = 0;
  let now = 0;
  const { reason } = queueBound(
    ofOthers(() => unfinished),
    2,
    () => now,
  );
  t.equal(await reason(ONE), undefined);
  t.equal(await reason({ ...ONE, accountId: 'bob' }), undefined);
  unfinished = 2;
  t.match(await reason(ONE), /^2 .* have not ended, and MAX_QUEUED is 2\.$/);
  unfinished = 1;
  t.match(await reason(ONE), /have not ended/, 'not counted at each request');
  now += 50;
  t.equal(await reason(ONE), undefined);
});

void test('the queue: an account leaves as much free as it has, however it asks for it', async (t) => {
  const unfinished = new Map<string, number>();
  let now = 0;
  const counts = (): QueueCounts => ({
    count: () => [...unfinished.values()].reduce((sum, each) => sum + each, 0),
    countOf: (accountId) => unfinished.get(accountId) ?? 0,
  });
  const { reason } = queueBound(counts, 100, () => now);
  /** How many more an account gets, one after the other. */
  const taken = async (accountId: string): Promise<number> => {
    for (let n = 0; ; n += 1) {
      if ((await reason({ accountId, count: 1 })) !== undefined) return n;
      unfinished.set(accountId, (unfinished.get(accountId) ?? 0) + 1);
    }
  };
  t.equal(await taken('ada'), 50);
  t.equal(await taken('bob'), 25);
  t.equal(await taken('ada'), 0, 'what it has still counts');
  now += 1000;
  t.equal(await taken('ada'), 0, 'as it does after the next look');
  t.match(await reason({ accountId: 'ada', count: 7 }), {
    toClient: /^With 50 unfinished conversions, the account has no room .* for 7 more: /,
  });
  t.equal(await reason({ accountId: 'cy', count: 25 }), undefined, 'a batch of a newcomer');
  unfinished.set('cy', 25);
  t.match(await reason({ accountId: 'dee', count: 1 }), /MAX_QUEUED is 100\.$/, 'all are taken');
  unfinished.set('ada', 10);
  now += 50;
  t.equal(await taken('ada'), 15, '25 are left to it and to others');
});

void test('tests, which cost nothing, do not fill the queue for all others', async (t) => {
  const api = await startApi(t, {
    replace: ({ readModel }) => ({
      bounds: new Bounds([queueBound(() => readModel.query(unfinishedQueries), 6)], silent),
    }),
  });
  const html = { html: '<p>x</p>' };
  const post = async ({ key }: { key: string }, path = '/pdf/', body: object = html) =>
    await api.call('POST', `${BASE}${path}`, { key, body });
  const broke = await api.newAccount({ credits: 0 });
  for (let n = 0; n < 3; n += 1) {
    t.equal((await post(broke, '/pdf/?test=true')).status, 202);
  }
  for (const refused of [
    await post(broke, '/pdf/?test=true'),
    await post(broke, '/batches/?test=true', { requests: [html] }),
  ]) {
    t.match(refused, {
      status: 429,
      body: {
        error: 'rate_limit_exceeded',
        message: /^With 3 unfinished conversions, the account has no room .* for 1 more: /,
      },
    });
    t.match(refused.headers.get('retry-after'), /^[1-9]\d*$/);
  }
  t.equal((await post(await api.newAccount())).status, 202, 'another account');
});

void test('disk and memory: the reason names setting and figures', async (t) => {
  const directory = testDirectory(t);
  const { bavail, bsize } = statfsSync(directory);
  t.equal(await diskBound([directory], 0).reason(ONE), undefined);
  const told = await diskBound([directory], 2 * bavail * bsize).reason(ONE);
  t.match(told, /^the disk of .* has \d+ bytes left, and MIN_FREE_DISK_BYTES is \d+\.$/);
  t.equal(await diskBound([`${directory}/none`], 1).reason(ONE), undefined, 'its writes tell');
  t.equal(await memoryBound(2 ** 44).reason(ONE), undefined);
  t.match(await memoryBound(1).reason(ONE), /and MAX_MEMORY_BYTES is 1\.$/);
});

void test('a bound that is reached: 503 before anything is accepted, one line, each refusal told', async (t) => {
  let unfinished = 1;
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const bounds = new Bounds(
    [
      queueBound(
        ofOthers(() => unfinished),
        1,
      ),
    ],
    logger,
  );
  const api = await startApi(t, { replace: () => ({ bounds }) });
  const { key } = await api.newAccount();
  const post = async () =>
    await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  for (let n = 0; n < 3; n += 1) {
    const answer = await post();
    t.match(answer, { status: 503, body: { error: 'service_unavailable' } });
    t.match(answer.headers.get('retry-after'), /^[1-9]\d*$/);
    t.notMatch(answer.text, /MAX_QUEUED/, 'nothing internal');
  }
  t.notOk((await api.log()).some(({ type }) => type === 'ConversionRequested'));
  t.strictSame([...bounds.refused()], [['queue', 3]]);
  t.equal(lines.length, 1);
  t.match(JSON.parse(lines[0] ?? ''), { bound: 'queue', msg: /^new conversions are refused: 1 / });
  t.equal((await api.call('GET', `${BASE}/account/`, { key })).status, 200, 'others go on');
  unfinished = 0;
  await eventually('acceptance', async () => ((await post()).status === 202 ? true : undefined));
});

void test('the first bound that is reached is the one that is told', async (t) => {
  const never = { name: 'memory', reason: async () => undefined } as const;
  const full = { name: 'nats', reason: async () => 'NATS is away.' } as const;
  const bounds = new Bounds([never, full, { ...full, name: 'disk' }], silent);
  await t.rejects(bounds.admit('ada'), { name: 'BudgetExceeded', scope: 'service' });
  t.match(
    bounds.refused(),
    new Map([
      ['memory', 0],
      ['nats', 1],
      ['disk', 0],
    ]),
  );
});
