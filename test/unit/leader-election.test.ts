import { join } from 'node:path';
import { type Test, test } from 'tap';
import {
  LeaderElection,
  type LeaderElectionOptions,
  type LeaderTask,
} from '../../src/leader/election.ts';
import { FileLease } from '../../src/leader/file-lease.ts';
import type { HeldLease, Lease } from '../../src/leader/port.ts';
import { eventually } from '../support/deadline.ts';
import { testDirectory } from '../support/directory.ts';
import { silent } from '../support/renderer.ts';

/** A process on a directory whose renderer a test holds back, lets start or lets fail. */
function createProcess(path: string, changes: Partial<LeaderElectionOptions> = {}) {
  const told: string[] = [];
  const task: LeaderTask = {
    unhealthyReasons: () => [],
    stop: async () => {
      told.push('stopped');
    },
  };
  const election = new LeaderElection({
    name: 'the renderer',
    lease: new FileLease(path),
    begin: async () => {
      told.push('begun');
      return task;
    },
    logger: silent,
    retryMs: 5,
    retryAfterFailureMs: 5,
    ...changes,
  });
  return { election, told, task };
}

const noChrome = () => Promise.reject(new Error('no Chrome'));
const leaseOf = (t: Test): string => join(testDirectory(t), 'render.lock');

void test('one of two renders, and the other takes over when it stops', async (t) => {
  const path = leaseOf(t);
  const [one, two] = [createProcess(path), createProcess(path)];
  t.strictSame(one.election.unhealthyReasons(), ['the renderer is starting']);
  await one.election.start();
  await two.election.start();
  t.strictSame(one.election.unhealthyReasons(), []);
  t.strictSame(two.election.unhealthyReasons(), [], 'it can accept, and the other renders');
  t.strictSame(two.told, []);
  await one.election.stop();
  t.strictSame(one.told, ['begun', 'stopped']);
  await eventually('the other', () => two.told.length > 0 || undefined);
  t.strictSame(two.told, ['begun']);
  await two.election.stop();
});

void test('what its renderer misses is what it misses', async (t) => {
  const own = createProcess(leaseOf(t));
  await own.election.start();
  own.task.unhealthyReasons = () => ['Chrome is away'];
  t.strictSame(own.election.unhealthyReasons(), ['Chrome is away']);
  await own.election.stop();
});

void test('a renderer that cannot start leaves the work to others', async (t) => {
  const path = leaseOf(t);
  const broken = createProcess(path, { begin: noChrome });
  await t.rejects(broken.election.start(), { message: 'no Chrome' });
  const other = createProcess(path);
  await other.election.start();
  t.strictSame(other.told, ['begun']);
  await other.election.stop();
});

void test('a take-over that fails is said, and tried again', async (t) => {
  const path = leaseOf(t);
  const before = createProcess(path);
  await before.election.start();
  let tries = 0;
  const seen: string[] = [];
  const next = createProcess(path, {
    begin: async () => {
      tries += 1;
      seen.push(...next.election.unhealthyReasons());
      if (tries < 3) throw new Error('no Chrome');
      return next.task;
    },
  });
  await next.election.start();
  await before.election.stop();
  await eventually('three tries', () => tries === 3 || undefined);
  await eventually(
    'the renderer',
    () => next.election.unhealthyReasons().length === 0 || undefined,
  );
  t.strictSame(seen, Array(3).fill('the renderer is starting'));
  await next.election.stop();
  t.strictSame(next.told, ['stopped']);
});

void test('while a take-over fails it is not ready', async (t) => {
  const path = leaseOf(t);
  const before = createProcess(path);
  await before.election.start();
  const next = createProcess(path, { begin: noChrome, retryAfterFailureMs: 60_000 });
  await next.election.start();
  await before.election.stop();
  const reason = (): RegExpExecArray | undefined =>
    /not start/.exec(next.election.unhealthyReasons().join()) ?? undefined;
  await eventually('the reason', reason);
  const third = createProcess(path);
  await third.election.start();
  t.strictSame(third.told, ['begun'], 'another may');
  await Promise.all([next.election.stop(), third.election.stop()]);
});

void test('a take-over that fails is tried again soon, then less and less often', async (t) => {
  const path = leaseOf(t);
  const before = createProcess(path);
  await before.election.start();
  const tries: number[] = [];
  const begin = async (): Promise<LeaderTask> => {
    tries.push(performance.now());
    return await noChrome();
  };
  const next = createProcess(path, { begin, retryAfterFailureMs: 100 });
  await next.election.start();
  await before.election.stop();
  await eventually('four tries', () => tries.length > 3 || undefined);
  const [first = 0, second = 0, third = 0, fourth = 0] = tries;
  t.ok(second - first >= 95 && third - second >= 195 && fourth - third >= 395, tries.join());
  await next.election.stop();
});

void test('a stop waits for a renderer that is starting, and ends it', async (t) => {
  const path = leaseOf(t);
  const begun = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const own = createProcess(path, {
    begin: async () => {
      begun.resolve();
      await started.promise;
      return own.task;
    },
  });
  const starting = own.election.start();
  await begun.promise;
  let over = false;
  const stopping = own.election.stop().then(() => {
    over = true;
    return new FileLease(path).acquire();
  });
  await new Promise(setImmediate);
  t.notOk(over);
  t.equal(await new FileLease(path).acquire(), undefined, 'nobody else renders meanwhile');
  started.resolve();
  await starting;
  const lease = await stopping;
  t.strictSame(own.told, ['stopped']);
  t.ok(lease, 'free again');
  await lease?.release();
});

void test('a start after the stop does nothing', async (t) => {
  const own = createProcess(leaseOf(t));
  await own.election.stop();
  await own.election.start();
  t.strictSame(own.told, []);
});

/** A lease that a test can take away. There is one at a time. */
class LosableLease implements Lease {
  #held: PromiseWithResolvers<void> | undefined;

  async acquire(): Promise<HeldLease | undefined> {
    if (this.#held) return undefined;
    const mine = Promise.withResolvers<void>();
    this.#held = mine;
    const release = async (): Promise<void> => {
      if (this.#held === mine) this.#held = undefined;
    };
    return { lost: mine.promise, release };
  }

  lose(): void {
    this.#held?.resolve();
  }
}

const heldLease = (release = (): void => {}): HeldLease => ({
  lost: new Promise(() => {}),
  release: async () => release(),
});

void test('who loses the lease leaves the work, stands by and takes it up again', async (t) => {
  const lease = new LosableLease();
  const own = createProcess(leaseOf(t), { lease });
  await own.election.start();
  t.strictSame(own.told, ['begun']);
  lease.lose();
  await eventually('its return', () => own.told.length === 3 || undefined);
  t.strictSame(own.told, ['begun', 'stopped', 'begun']);
  t.strictSame(own.election.unhealthyReasons(), []);
  await own.election.stop();
  t.strictSame(own.told, ['begun', 'stopped', 'begun', 'stopped']);
});

void test('a try that fails is logged, and the next one is made', async (t) => {
  const reasons: string[] = [];
  const answers: (() => Promise<HeldLease | undefined>)[] = [
    async () => undefined,
    () => Promise.reject(new Error('it cannot be locked')),
    async () => {
      reasons.push(...own.election.unhealthyReasons());
      return heldLease();
    },
  ];
  const lease = { acquire: () => answers.shift()?.() ?? Promise.resolve(undefined) };
  const own = createProcess(leaseOf(t), { lease });
  await own.election.start();
  t.strictSame(own.election.unhealthyReasons(), []);
  await eventually('its turn', () => own.told.includes('begun') || undefined);
  t.equal(answers.length, 0);
  t.strictSame(reasons, ['it cannot be locked']);
  t.strictSame(own.election.unhealthyReasons(), []);
  await own.election.stop();
});

void test('a lease that comes after the stop is given back', async (t) => {
  const asked = Promise.withResolvers<void>();
  let released = 0;
  const lease = {
    acquire: async () => {
      await asked.promise;
      return heldLease(() => (released += 1));
    },
  };
  const own = createProcess(leaseOf(t), { lease });
  const starting = own.election.start();
  const stopping = own.election.stop();
  asked.resolve();
  await Promise.all([starting, stopping]);
  t.equal(released, 1);
  t.strictSame(own.told, []);
});
