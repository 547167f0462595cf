import { test } from 'tap';
import { Threads, type ThreadsOptions } from '../../src/async/threads.ts';
import type { Script } from '../support/scripted-thread.ts';

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

void test('a thread sees no environment, and survives what a task throws', async (t) => {
  const { run } = startThreads(t);
  t.equal(await run('answer'), '{}');
  await t.rejects(run('throw'), { name: 'RangeError', message: 'as told' });
  t.equal(await run('answer'), '{}');
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
  t.equal(await run('answer'), '{}', 'the next task has another thread');
});

void test('a thread that exits takes those along that wait for it, and the next task has another', async (t) => {
  const { run } = startThreads(t);
  const exiting = run('exit');
  const waiting = run('answer');
  await Promise.all([t.rejects(exiting, /exited with code: 3/), t.rejects(waiting)]);
  t.equal(await run('answer'), '{}');
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
