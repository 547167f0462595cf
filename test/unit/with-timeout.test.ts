import { stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'tap';
import { withTimeout } from '../../src/async/with-timeout.ts';

const LIMIT_MS = 80;

function keepBusy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

void test('what takes too long fails, as it is told to', async (t) => {
  const never = new Promise<never>(() => {});
  const start = performance.now();
  await t.rejects(withTimeout(LIMIT_MS, never), { message: `No answer within ${LIMIT_MS} ms.` });
  t.ok(performance.now() - start >= LIMIT_MS * 0.9);
  const late = new TypeError('late');
  await t.rejects(
    withTimeout(1, never, () => late),
    late,
  );
});

void test('what comes in time is passed on, a failure too', async (t) => {
  t.equal(await withTimeout(LIMIT_MS, pause(1, 'done')), 'done');
  const failure = new TypeError('failed');
  await t.rejects(withTimeout(LIMIT_MS, Promise.reject(failure)), failure);
});

void test('what keeps this process busy does not count as slowness of others', async (t) => {
  const answer = withTimeout(LIMIT_MS, stat('.'));
  keepBusy(5 * LIMIT_MS);
  t.ok((await answer).isDirectory());
});
