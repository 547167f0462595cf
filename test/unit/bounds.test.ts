import { statfsSync } from 'node:fs';
import { pino } from 'pino';
import { test } from 'tap';
import { Bounds, diskBound, memoryBound, queueBound } from '../../src/limits/bounds.ts';
import { BASE, startApi } from '../support/api.ts';
import { eventually } from '../support/deadline.ts';
import { testDirectory } from '../support/directory.ts';

const silent = pino({ level: 'silent' });

void test('the queue: what this node admits counts at once, what has ended at the next look', async (t) => {
  let unfinished = 0;
  let now = 0;
  const { reason } = queueBound(
    () => unfinished,
    2,
    () => now,
  );
  t.equal(await reason(1), undefined);
  t.equal(await reason(1), undefined);
  unfinished = 2;
  t.match(await reason(1), /have not ended, and MAX_QUEUED is 2\.$/);
  unfinished = 1;
  t.match(await reason(1), /have not ended/, 'not counted at each request');
  now += 50;
  t.equal(await reason(1), undefined);
});

void test('disk and memory: the reason names setting and figures', async (t) => {
  const directory = testDirectory(t);
  const { bavail, bsize } = statfsSync(directory);
  t.equal(await diskBound([directory], 0).reason(1), undefined);
  const told = await diskBound([directory], 2 * bavail * bsize).reason(1);
  t.match(told, /^the disk of .* has \d+ bytes left, and MIN_FREE_DISK_BYTES is \d+\.$/);
  t.equal(await diskBound([`${directory}/none`], 1).reason(1), undefined, 'its writes tell');
  t.equal(await memoryBound(2 ** 44).reason(1), undefined);
  t.match(await memoryBound(1).reason(1), /and MAX_MEMORY_BYTES is 1\.$/);
});

void test('a bound that is reached: 503 before anything is accepted, one line, each refusal told', async (t) => {
  let unfinished = 1;
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const bounds = new Bounds([queueBound(() => unfinished, 1)], logger);
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
  await t.rejects(bounds.admit(), { name: 'BudgetExceeded', scope: 'service' });
  t.match(
    bounds.refused(),
    new Map([
      ['memory', 0],
      ['nats', 1],
      ['disk', 0],
    ]),
  );
});
