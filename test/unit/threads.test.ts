import { test } from 'tap';
import { Threads, type ThreadsOptions } from '../../src/async/threads.ts';
import type { Script } from '../support/scripted-thread.ts';

/** What a thread sees of the environment: the folder of compiled modules, if there is one. */
const SEEN = JSON.stringify({ NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] });
const CLOSED = /threads (are|were) closed/;
const FILE = new URL('../support/scripted-thread.ts', import.meta.url);

function startThreads(
  t: { teardown(end: () => Promise<void>): void },
  options: Partial<ThreadsOptions<undefined>> = {},
) {
  const threads = new Threads<{ readonly script: Script }, string>(FILE, {
    maxThreads: 1,
    ...options,
  });
  t.teardown(() => threads.close());
  const run = (script: Script, signal?: AbortSignal) =>
    threads.run({ script }, { ...(signal && { signal }) });
  return { threads, run };
}

void test('a thread sees no setting, and survives what a task throws', async (t) => {
  const { run } = startThreads(t);
  t.equal(await run('answer'), SEEN);
  await t.rejects(run('throw'), { name: 'RangeError', message: 'as told' });
  t.equal(await run('answer'), SEEN);
});

void test('a task that is aborted rejects with the reason, and its thread ends', async (t) => {
  const ended: number[] = [];
  const { run } = startThreads(t, { onEnd: ({ size }) => void ended.push(size) });
  await run('answer');
  const abort = new AbortController();
  const spinning = run('spin', abort.signal);
  const reason = new Error('It takes too long.');
  setTimeout(() => abort.abort(reason), 100);
  await t.rejects(spinning, reason);
  t.same(ended, [0]);
  await t.rejects(run('answer', abort.signal), reason, 'nor does it begin');
  t.equal(await run('answer'), SEEN, 'the next task has another thread');
});

void test('a thread that exits or is ended leaves the tasks that wait to the next one', async (t) => {
  const { run } = startThreads(t);
  const exiting = run('exit');
  const waiting = run('answer');
  await t.rejects(exiting, /exited with code: 3/);
  t.equal(await waiting, SEEN);
  const abort = new AbortController();
  const spinning = run('spin', abort.signal);
  const alsoWaiting = run('answer');
  setTimeout(() => abort.abort(new Error('It takes too long.')), 100);
  await t.rejects(spinning, { message: 'It takes too long.' });
  t.equal(await alsoWaiting, SEEN);
});

void test('tasks begin in their order, whether they can be aborted or not', async (t) => {
  const { run } = startThreads(t);
  const ended: number[] = [];
  const order = Array.from({ length: 12 }, (_, number) => number);
  const tasks = order.map(async (number) => {
    await run('answer', number % 2 === 0 ? new AbortController().signal : undefined);
    ended.push(number);
  });
  await Promise.all(tasks);
  t.same(ended, order);
});

void test('a task that is aborted while it waits rejects, and the others go on', async (t) => {
  const { run } = startThreads(t);
  const abort = new AbortController();
  const first = run('answer');
  const given = run('answer', abort.signal);
  const last = run('answer');
  const reason = new Error('Nobody needs it.');
  abort.abort(reason);
  await t.rejects(given, reason);
  t.same(await Promise.all([first, last]), [SEEN, SEEN]);
});

void test('a thread ends with a code once its memory is full', async (t) => {
  const { run } = startThreads(t, { resourceLimits: { maxOldGenerationSizeMb: 16 } });
  await t.rejects(run('collect'), { code: 'ERR_WORKER_OUT_OF_MEMORY' });
});

void test('what waits for a thread that does not start learns why', async (t) => {
  const { run } = startThreads(t, { workerData: 'broken' });
  await t.rejects(run('answer'), /It is broken/);
  await t.rejects(run('answer'), /It is broken/);
});

void test('tasks of closed threads reject, whether they run, wait or come later', async (t) => {
  const { threads, run } = startThreads(t);
  const rejections = ['spin', 'answer'] as const;
  const all = rejections.map((script) => t.rejects(run(script), CLOSED, script));
  await threads.close();
  await Promise.all(all);
  await t.rejects(run('answer'), CLOSED);
});
