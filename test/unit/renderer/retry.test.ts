/** How long a job waits for a blob store that is away. */
import { test } from 'tap';
import { BlobNotFound, BlobStoreUnavailable } from '../../../src/documents/port.ts';
import { type RetryOptions, retryWhileAway } from '../../../src/renderer/retry.ts';

const never = (): Promise<never> => new Promise(() => {});
const away = (): Promise<never> => Promise.reject(new BlobStoreUnavailable('It is away.'));
const answers = (): Promise<string> => Promise.resolve('at once');

function options(changes: Partial<RetryOptions> = {}): RetryOptions {
  return { stopping: new AbortController().signal, graceMs: 0, onAway: () => {}, ...changes };
}

void test('it tries again until the store answers, less and less often', async (t) => {
  const tries: number[] = [];
  const faults: string[] = [];
  const work = (): Promise<string> => {
    tries.push(performance.now());
    return tries.length < 3 ? away() : Promise.resolve('the content');
  };
  const onAway = ({ message }: BlobStoreUnavailable): void => void faults.push(message);
  t.equal(await retryWhileAway(work, options({ onAway })), 'the content');
  t.same(faults, ['It is away.', 'It is away.']);
  const [first = 0, second = 0, third = 0] = tries;
  t.ok(second - first >= 245, `after ${second - first} ms`);
  t.ok(third - second >= 495, `after ${third - second} ms`);
});

void test('what is not there is not waited for', async (t) => {
  let tries = 0;
  const work = (): Promise<never> => {
    tries += 1;
    return Promise.reject(new BlobNotFound('There is none.'));
  };
  await t.rejects(retryWhileAway(work, options()), BlobNotFound);
  t.equal(tries, 1);
});

void test('the wait has an end, also for a store that never answers', async (t) => {
  const briefly = options({ limitMs: 600 });
  await t.rejects(retryWhileAway(away, briefly), BlobStoreUnavailable);
  await t.rejects(retryWhileAway(never, briefly), { message: /does not answer/ });
});

void test('a stop ends the wait, and a try that is under way after its grace', async (t) => {
  const stop = new AbortController();
  const { signal: stopping } = stop;
  const asleep = Promise.withResolvers<void>();
  const onAway = (): void => asleep.resolve();
  const waiting = retryWhileAway(away, options({ stopping, onAway }));
  const reading = retryWhileAway(never, options({ stopping }));
  const { promise: stored, resolve: store } = Promise.withResolvers<string>();
  const storing = retryWhileAway(() => stored, options({ stopping, graceMs: 60_000 }));
  await asleep.promise;
  stop.abort();
  t.equal(await waiting, undefined);
  t.equal(await reading, undefined);
  store('stored');
  t.equal(await storing, 'stored');
  t.equal(await retryWhileAway(answers, options({ stopping, graceMs: 60_000 })), 'at once');
  t.equal(await retryWhileAway(away, options({ stopping })), undefined);
});
