import { EventEmitter, once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { type Test, test } from 'tap';
import { StartReport } from '../../../src/renderer/start-report.ts';

const NEVER_MS = 3_600_000;

function reports(afterMs: number) {
  const made = new EventEmitter();
  const recording = Promise.withResolvers<void>();
  let count = 0;
  const make = (): Promise<void> => {
    count += 1;
    made.emit('made');
    return recording.promise;
  };
  const heard = once(made, 'made');
  return { start: new StartReport(make, afterMs), count: () => count, heard, recording };
}

async function stays(t: Test, promise: Promise<unknown>, what: string): Promise<void> {
  const first = await Promise.race([promise.then(() => 'ended'), turn('waits')]);
  t.equal(first, 'waits', what);
}

void test('a short rendering leaves its start to the outcome', async (t) => {
  const { start, count } = reports(NEVER_MS);
  t.equal(await start.leaveToOutcome(), false);
  t.equal(count(), 0);
});

void test('a long one reports it by itself, and the outcome waits until that is recorded', async (t) => {
  const { start, count, heard, recording } = reports(1);
  await heard;
  const left = start.leaveToOutcome();
  await stays(t, left, 'until it is recorded');
  recording.resolve();
  await left;
  t.equal(count(), 1);
});

void test('it is reported at once where it must be, and once', async (t) => {
  const { start, count, recording } = reports(0);
  t.equal(count(), 1);
  const again = start.now();
  await stays(t, again, 'until it is recorded');
  recording.resolve();
  await again;
  t.equal(count(), 1);
});

void test('what ends without an outcome reports it before its time', async (t) => {
  const { start, count, recording } = reports(NEVER_MS);
  recording.resolve();
  await start.now();
  t.equal(count(), 1);
});
