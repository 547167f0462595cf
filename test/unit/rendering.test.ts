import { join } from 'node:path';
import { type Test, test } from 'tap';
import { tryAcquireLease } from '../../src/embedded/lease.ts';
import { Rendering, type RenderingOptions, type RenderingParts } from '../../src/rendering.ts';
import { eventually } from '../support/deadline.ts';
import { silent } from '../support/renderer.ts';

/** A process on a directory whose renderer a test holds back, lets start or lets fail. */
function createProcess(path: string, changes: Partial<RenderingOptions> = {}) {
  const told: string[] = [];
  const parts: RenderingParts = {
    ready: () => ({ ready: true }),
    stop: async () => {
      told.push('stopped');
    },
  };
  const rendering = new Rendering({
    acquire: () => tryAcquireLease(path),
    begin: async () => {
      told.push('begun');
      return parts;
    },
    logger: silent,
    lookMs: 5,
    lookAfterFailureMs: 5,
    ...changes,
  });
  return { rendering, told, parts };
}

const noChrome = () => Promise.reject(new Error('no Chrome'));
const leaseOf = (t: Test): string => join(t.testdir(), 'render.lock');

void test('one of two renders, and the other takes over when it stops', async (t) => {
  const path = leaseOf(t);
  const [one, two] = [createProcess(path), createProcess(path)];
  t.equal(one.rendering.missing(), 'the renderer is starting');
  await one.rendering.start();
  await two.rendering.start();
  t.equal(one.rendering.missing(), undefined);
  t.equal(two.rendering.missing(), undefined, 'it can accept, and the other renders');
  t.strictSame(two.told, []);
  await one.rendering.stop();
  t.strictSame(one.told, ['begun', 'stopped']);
  await eventually('the other', () => two.told.length > 0 || undefined, 5000);
  t.strictSame(two.told, ['begun']);
  await two.rendering.stop();
});

void test('what its renderer misses is what it misses', async (t) => {
  const own = createProcess(leaseOf(t));
  await own.rendering.start();
  own.parts.ready = () => ({ ready: false, reason: 'Chrome is away' });
  t.equal(own.rendering.missing(), 'Chrome is away');
  await own.rendering.stop();
});

void test('a renderer that cannot start leaves the work to others', async (t) => {
  const path = leaseOf(t);
  const broken = createProcess(path, { begin: noChrome });
  await t.rejects(broken.rendering.start(), { message: 'no Chrome' });
  const other = createProcess(path);
  await other.rendering.start();
  t.strictSame(other.told, ['begun']);
  await other.rendering.stop();
});

void test('a take-over that fails is said, and tried again', async (t) => {
  const path = leaseOf(t);
  const before = createProcess(path);
  await before.rendering.start();
  let tries = 0;
  const seen: (string | undefined)[] = [];
  const next = createProcess(path, {
    begin: async () => {
      tries += 1;
      seen.push(next.rendering.missing());
      if (tries < 3) throw new Error('no Chrome');
      return next.parts;
    },
  });
  await next.rendering.start();
  await before.rendering.stop();
  await eventually('three tries', () => tries === 3 || undefined, 5000);
  await eventually('the renderer', () => next.rendering.missing() === undefined || undefined, 5000);
  t.strictSame(seen, Array(3).fill('the renderer is starting'));
  await next.rendering.stop();
  t.strictSame(next.told, ['stopped']);
});

void test('while a take-over fails it is not ready', async (t) => {
  const path = leaseOf(t);
  const before = createProcess(path);
  await before.rendering.start();
  const next = createProcess(path, { begin: noChrome, lookAfterFailureMs: 60_000 });
  await next.rendering.start();
  await before.rendering.stop();
  await eventually('its failure', () => next.rendering.missing(), 5000);
  await eventually(
    'the reason',
    () => /not start/.exec(next.rendering.missing() ?? '') ?? undefined,
  );
  const third = createProcess(path);
  await third.rendering.start();
  t.strictSame(third.told, ['begun'], 'another may');
  await Promise.all([next.rendering.stop(), third.rendering.stop()]);
});

void test('a stop waits for a renderer that is starting, and ends it', async (t) => {
  const path = leaseOf(t);
  const started = Promise.withResolvers<void>();
  const own = createProcess(path, {
    begin: async () => {
      await started.promise;
      return own.parts;
    },
  });
  const starting = own.rendering.start();
  let over = false;
  const stopping = own.rendering.stop().then(() => {
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
  await own.rendering.stop();
  await own.rendering.start();
  t.strictSame(own.told, []);
});
