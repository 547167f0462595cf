import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { type Test, test } from 'tap';
import { FileLease } from '../../src/leader/file-lease.ts';
import { NatsLease } from '../../src/leader/nats-lease.ts';
import type { HeldLease, Lease } from '../../src/leader/port.ts';
import { connectToNats } from '../../src/nats/connection.ts';
import { cable } from '../support/cable.ts';
import { eventually } from '../support/deadline.ts';
import { testDirectory } from '../support/directory.ts';
import { startNatsServer } from '../support/nats-server.ts';

const logger = pino({ level: 'silent' });
/** The time that the server keeps a lease that is not renewed. */
const KEEP_MS = 1500;

async function onNats(t: Test, url: string): Promise<Lease> {
  const link = await connectToNats(url, { name: 'test', logger });
  t.teardown(() => link.close());
  return new NatsLease({ link, logger, keepMs: KEEP_MS });
}

/** Each opens leases on one thing, as other processes would. */
const ADAPTERS: Readonly<Record<string, (t: Test) => Promise<() => Promise<Lease>>>> = {
  file: async (t) => {
    const path = join(testDirectory(t), 'render.lock');
    return async () => new FileLease(path);
  },
  NATS: async (t) => {
    const { url } = await startNatsServer(t);
    return () => onNats(t, url);
  },
};

const acquired = (lease: Lease): Promise<HeldLease> =>
  eventually('the lease', () => lease.acquire());

/** Says later whether it has been lost by then. */
function watch(lease: HeldLease): () => boolean {
  let lost = false;
  void lease.lost.then(() => (lost = true));
  return () => lost;
}

for (const [name, open] of Object.entries(ADAPTERS)) {
  void test(`${name}: one of many has it, and a release hands it on at once`, async (t) => {
    const another = await open(t);
    const processes = await Promise.all([1, 2, 3, 4].map(another));
    const acquireAll = async (): Promise<HeldLease[]> =>
      (await Promise.all(processes.map((each) => each.acquire()))).filter(
        (each) => each !== undefined,
      );
    const [lease, ...more] = await acquireAll();
    if (!lease) return t.fail('nobody has it');
    t.strictSame(more, []);
    const isLost = watch(lease);
    const start = performance.now();
    let others = 0;
    while (performance.now() - start < 2 * KEEP_MS) {
      others += (await acquireAll()).length;
      // Its holder must have a chance to renew it.
      await new Promise(setImmediate);
    }
    t.equal(others, 0, 'looks take nothing from its holder, for longer than a server keeps it');
    t.notOk(isLost());
    await lease.release();
    await lease.lost;
    const [next] = await acquireAll();
    if (!next) return t.fail('it is not handed on');
    await lease.release();
    t.strictSame(await acquireAll(), [], 'a second release is none of the next one');
    t.notOk(watch(next)());
    await next.release();
  });
}

const FILE_LEASE = new URL('../../src/leader/file-lease.ts', import.meta.url).href;

void test('a lock ends with its process, however that ends', async (t) => {
  const path = join(testDirectory(t), 'render.lock');
  const script = `
    import { FileLease } from ${JSON.stringify(FILE_LEASE)};
    const lease = new FileLease(${JSON.stringify(path)});
    process.stdout.write((await lease.acquire()) ? 'held' : 'busy');
    setInterval(() => lease, 1000);`;
  const start = () =>
    spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const own = new FileLease(path);
  const holder = start();
  t.teardown(() => holder.kill('SIGKILL'));
  const [said] = await once(holder.stdout, 'data');
  t.equal(String(said), 'held');
  t.equal(await own.acquire(), undefined);
  holder.kill('SIGKILL');
  await once(holder, 'close');
  const lease = await acquired(own);
  const late = start();
  t.teardown(() => late.kill('SIGKILL'));
  const [refused] = await once(late.stdout, 'data');
  t.equal(String(refused), 'busy', 'and it is held against other processes');
  await lease.release();
});

void test('a file that cannot be locked is one clear error', async (t) => {
  const directory = testDirectory(t);
  const isOneLine = async (path: string, reason: RegExp): Promise<void> => {
    const message = await new FileLease(path).acquire().then(
      () => 'locked',
      (error: unknown) => (error instanceof Error ? error.message : ''),
    );
    t.ok(message.startsWith(`${path} cannot be locked (`), message);
    t.match(message, reason);
    t.notMatch(message, /\n/);
  };
  await isOneLine(join(directory, 'nowhere', 'render.lock'), /directory does not exist/);
  mkdirSync(join(directory, 'folder'));
  await isOneLine(join(directory, 'folder'), /unable to open/);
  writeFileSync(join(directory, 'text'), 'not a database\n'.repeat(100));
  await isOneLine(join(directory, 'text'), /not a database/);
});

void test('a node that is cut off loses it before another gets it', async (t) => {
  const server = await startNatsServer(t);
  const { url, cut } = await cable(t, server.port);
  const [cutOff, other] = [await onNats(t, url), await onNats(t, server.url)];
  const isLost = watch(await acquired(cutOff));
  cut();
  const next = await acquired(other);
  t.ok(isLost(), 'before');
  await next.release();
});

void test('a server that comes back without its data gives it to one node again', async (t) => {
  const server = await startNatsServer(t);
  const [one, other] = [await onNats(t, server.url), await onNats(t, server.url)];
  const lease = await acquired(one);
  await server.kill();
  await lease.lost;
  t.equal(await other.acquire(), undefined, 'not while the server is away');
  await server.restart({ loseData: true });
  const next = await acquired(other);
  t.equal(await one.acquire(), undefined);
  await next.release();
});

void test('a node that lost it with its connection may have it back at once', async (t) => {
  const server = await startNatsServer(t);
  const [one, other] = [await onNats(t, server.url), await onNats(t, server.url)];
  const lease = await acquired(one);
  await server.restart();
  await lease.lost;
  const again = await acquired(one);
  t.equal(await other.acquire(), undefined, 'the server has kept it for its holder');
  await again.release();
});
