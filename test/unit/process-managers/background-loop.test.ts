import { pino } from 'pino';
import { test } from 'tap';
import { startBackgroundLoop } from '../../../src/process-managers/background-loop.ts';
import { silent } from '../../support/renderer.ts';

/** A step whose runs a test begins to await and lets end. */
function heldStep() {
  const begun = [Promise.withResolvers<void>()];
  const ends: ((fault?: Error) => void)[] = [];
  return {
    runs: () => ends.length,
    step: (): Promise<void> =>
      new Promise((resolve, reject) => {
        ends.push((fault) => (fault ? reject(fault) : resolve()));
        begun[ends.length - 1]?.resolve();
        begun.push(Promise.withResolvers<void>());
      }),
    /** Resolves when the nth run (from 0) has begun. */
    begun: async (n: number): Promise<void> => {
      for (let each = 0; each <= n; each += 1) await begun[each]?.promise;
    },
    end: (n: number, fault?: Error): void => ends[n]?.(fault),
  };
}

void test('it runs at once, and again after each wake-up', async (t) => {
  const held = heldStep();
  const loop = startBackgroundLoop('test', held.step, silent);
  await held.begun(0);
  held.end(0);
  await new Promise(setImmediate);
  t.equal(held.runs(), 1);
  loop.wake();
  await held.begun(1);
  held.end(1);
  await loop.stop();
  t.equal(held.runs(), 2);
});

void test('wake-ups during a run make one more, never two at a time', async (t) => {
  const held = heldStep();
  const loop = startBackgroundLoop('test', held.step, silent);
  await held.begun(0);
  for (let n = 0; n < 5; n += 1) loop.wake();
  await new Promise(setImmediate);
  t.equal(held.runs(), 1);
  held.end(0);
  await held.begun(1);
  held.end(1);
  await new Promise(setImmediate);
  t.equal(held.runs(), 2);
  await loop.stop();
});

void test('a step that fails is logged and tried again, sooner when woken', async (t) => {
  const lines: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  const held = heldStep();
  const loop = startBackgroundLoop('refunds', held.step, logger);
  await held.begun(0);
  held.end(0, new Error('the store is away'));
  await held.begun(1);
  t.equal(lines.length, 1);
  t.match(JSON.parse(lines[0] ?? ''), {
    processManager: 'refunds',
    err: { message: 'the store is away' },
  });
  held.end(1, new Error('still away'));
  await new Promise(setImmediate);
  t.equal(held.runs(), 2, 'not at once');
  loop.wake();
  t.equal(held.runs(), 3);
  held.end(2);
  await loop.stop();
});

void test('a stop waits for the run under way and lets none follow', async (t) => {
  const held = heldStep();
  const loop = startBackgroundLoop('test', held.step, silent);
  await held.begun(0);
  loop.wake();
  let stopped = false;
  const stopping = loop.stop().finally(() => {
    stopped = true;
  });
  loop.wake();
  await new Promise(setImmediate);
  t.notOk(stopped);
  held.end(0);
  await stopping;
  loop.wake();
  await new Promise(setImmediate);
  t.equal(held.runs(), 1);
});

void test('a stop after a failure lets nothing follow', async (t) => {
  const lines: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  const held = heldStep();
  const loop = startBackgroundLoop('test', held.step, logger);
  await held.begun(0);
  const stopping = loop.stop();
  held.end(0, new Error('the store was closed'));
  await stopping;
  t.equal(held.runs(), 1);
  t.strictSame(lines, [], 'what a stop breaks off is not a fault');
});

void test('a stop is told to the run under way', async (t) => {
  const loop = startBackgroundLoop(
    'test',
    (stopping) => new Promise((resolve) => stopping.addEventListener('abort', () => resolve())),
    silent,
  );
  await t.resolves(loop.stop());
});
