import { join } from 'node:path';
import { type Test, test } from 'tap';
import { tryAcquireLease } from '../../src/sqlite/lease.ts';
import { Duty, type DutyOptions, type DutyWork } from '../../src/duty.ts';
import { eventually } from '../support/deadline.ts';
import { testDirectory } from '../support/directory.ts';
import { silent } from '../support/renderer.ts';

/** A process on a directory whose renderer a test holds back, lets start or lets fail. */
function createProcess(path: string, changes: Partial<DutyOptions> = {}) {
  const told: string[] = [];
  const work: DutyWork = {
    ready: () => ({ ready: true }),
    stop: async () => {
      told.push('stopped');
    },
  };
  const duty = new Duty({
    name: 'the renderer',
    acquire: () => tryAcquireLease(path),
    begin: async () => {
      told.push('begun');
      return work;
    },
    logger: silent,
    lookMs: 5,
    lookAfterFailureMs: 5,
    ...changes,
  });
  return { duty, told, work };
}

const noChrome = () => Promise.reject(new Error('no Chrome'));
const leaseOf = (t: Test): string => join(testDirectory(t), 'render.lock');

void test('one of two renders, and the other takes over when it stops', async (t) => {
  const path = leaseOf(t);
  const [one, two] = [createProcess(path), createProcess(path)];
  t.equal(one.duty.missing(), 'the renderer is starting');
  await one.duty.start();
  await two.duty.start();
  t.equal(one.duty.missing(), undefined);
  t.equal(two.duty.missing(), undefined, 'it can accept, and the other renders');
  t.strictSame(two.told, []);
  await one.duty.stop();
  t.strictSame(one.told, ['begun', 'stopped']);
  await eventually('the other', () => two.told.length > 0 || undefined, 5000);
  t.strictSame(two.told, ['begun']);
  await two.duty.stop();
});

void test('what its renderer misses is what it misses', async (t) => {
  const own = createProcess(leaseOf(t));
  await own.duty.start();
  own.work.ready = () => ({ ready: false, reason: 'Chrome is away' });
  t.equal(own.duty.missing(), 'Chrome is away');
  await own.duty.stop();
});

void test('a renderer that cannot start leaves the work to others', async (t) => {
  const path = leaseOf(t);
  const broken = createProcess(path, { begin: noChrome });
  await t.rejects(broken.duty.start(), { message: 'no Chrome' });
  const other = createProcess(path);
  await other.duty.start();
  t.strictSame(other.told, ['begun']);
  await other.duty.stop();
});

void test('a take-over that fails is said, and tried again', async (t) => {
  const path = leaseOf(t);
  const before = createProcess(path);
  await before.duty.start();
  let tries = 0;
  const seen: (string | undefined)[] = [];
  const next = createProcess(path, {
    begin: async () => {
      tries += 1;
      seen.push(next.duty.missing());
      if (tries < 3) throw new Error('no Chrome');
      return next.work;
    },
  });
  await next.duty.start();
  await before.duty.stop();
  await eventually('three tries', () => tries === 3 || undefined, 5000);
  await eventually('the renderer', () => next.duty.missing() === undefined || undefined, 5000);
  t.strictSame(seen, Array(3).fill('the renderer is starting'));
  await next.duty.stop();
  t.strictSame(next.told, ['stopped']);
});

void test('while a take-over fails it is not ready', async (t) => {
  const path = leaseOf(t);
  const before = createProcess(path);
  await before.duty.start();
  const next = createProcess(path, { begin: noChrome, lookAfterFailureMs: 60_000 });
  await next.duty.start();
  await before.duty.stop();
  await eventually('its failure', () => next.duty.missing(), 5000);
  await eventually('the reason', () => /not start/.exec(next.duty.missing() ?? '') ?? undefined);
  const third = createProcess(path);
  await third.duty.start();
  t.strictSame(third.told, ['begun'], 'another may');
  await Promise.all([next.duty.stop(), third.duty.stop()]);
});

void test('a stop waits for a renderer that is starting, and ends it', async (t) => {
  const path = leaseOf(t);
  const begun = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const own = createProcess(path, {
    begin: async () => {
      begun.resolve();
      await started.promise;
      return own.work;
    },
  });
  const starting = own.duty.start();
  await begun.promise;
  let over = false;
  const stopping = own.duty.stop().then(() => {
    over = true;
    return tryAcquireLease(path);
  });
  await new Promise(setImmediate);
  t.notOk(over);
  t.equal(tryAcquireLease(path), undefined, 'nobody else renders meanwhile');
  started.resolve();
  await starting;
  const lease = await stopping;
  t.strictSame(own.told, ['stopped']);
  t.ok(lease, 'free again');
  lease?.release();
});

void test('a start after the stop does nothing', async (t) => {
  const own = createProcess(leaseOf(t));
  await own.duty.stop();
  await own.duty.start();
  t.strictSame(own.told, []);
});

/** A lease that a test can take away, of which there is one at a time. */
function losable() {
  let held: PromiseWithResolvers<void> | undefined;
  return {
    acquire: async () => {
      if (held) return undefined;
      const mine = Promise.withResolvers<void>();
      held = mine;
      return {
        lost: mine.promise,
        release: () => {
          if (held === mine) held = undefined;
        },
      };
    },
    lose: () => held?.resolve(),
  };
}

void test('who loses the lease leaves the work, stands by and takes it up again', async (t) => {
  const lease = losable();
  const own = createProcess(leaseOf(t), { acquire: lease.acquire });
  await own.duty.start();
  t.strictSame(own.told, ['begun']);
  lease.lose();
  await eventually('its return', () => own.told.length === 3 || undefined, 5000);
  t.strictSame(own.told, ['begun', 'stopped', 'begun']);
  t.equal(own.duty.missing(), undefined);
  await own.duty.stop();
  t.strictSame(own.told, ['begun', 'stopped', 'begun', 'stopped']);
});

void test('a look that fails is no reason to give up', async (t) => {
  const answers: (() => Promise<{ release: () => void } | undefined>)[] = [
    async () => undefined,
    () => Promise.reject(new Error('away')),
    async () => ({ release: () => {} }),
  ];
  const own = createProcess(leaseOf(t), {
    acquire: () => answers.shift()?.() ?? Promise.resolve(undefined),
  });
  await own.duty.start();
  await eventually('its turn', () => own.told.includes('begun') || undefined, 5000);
  t.equal(answers.length, 0);
  await own.duty.stop();
});

void test('a lease that comes after the stop is given back', async (t) => {
  const asked = Promise.withResolvers<void>();
  let released = 0;
  const own = createProcess(leaseOf(t), {
    acquire: async () => {
      await asked.promise;
      return { release: () => void (released += 1) };
    },
  });
  const starting = own.duty.start();
  const stopping = own.duty.stop();
  asked.resolve();
  await Promise.all([starting, stopping]);
  t.equal(released, 1);
  t.strictSame(own.told, []);
});
