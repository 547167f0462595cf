import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { tryAcquireLease } from '../../src/sqlite/lease.ts';
import { eventually } from '../support/deadline.ts';
import { testDirectory } from '../support/directory.ts';

const LEASE = new URL('../../src/sqlite/lease.ts', import.meta.url).href;

void test('one holds it at a time', async (t) => {
  const path = join(testDirectory(t), 'render.lock');
  const first = tryAcquireLease(path);
  t.ok(first);
  t.equal(tryAcquireLease(path), undefined);
  t.equal(tryAcquireLease(path), undefined, 'a look takes nothing from its holder');
  first?.release();
  first?.release();
  const second = tryAcquireLease(path);
  t.ok(second, 'released');
  second?.release();
});

void test('it ends with its process, however that ends', async (t) => {
  const path = join(testDirectory(t), 'render.lock');
  const script = `
    import { tryAcquireLease } from ${JSON.stringify(LEASE)};
    globalThis.lease = tryAcquireLease(${JSON.stringify(path)});
    process.stdout.write(globalThis.lease ? 'held' : 'busy');
    setInterval(() => {}, 1000);`;
  const start = () =>
    spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const holder = start();
  t.teardown(() => holder.kill('SIGKILL'));
  const [said] = await once(holder.stdout, 'data');
  t.equal(String(said), 'held');
  t.equal(tryAcquireLease(path), undefined);
  holder.kill('SIGKILL');
  await once(holder, 'close');
  const lease = await eventually('the lease', () => tryAcquireLease(path), 5000);
  const late = start();
  t.teardown(() => late.kill('SIGKILL'));
  const [refused] = await once(late.stdout, 'data');
  t.equal(String(refused), 'busy', 'and it is held against other processes');
  lease.release();
});

void test('a file that cannot be locked is one clear error', async (t) => {
  const directory = testDirectory(t);
  const isOneLine = (path: string, reason: RegExp): void => {
    try {
      tryAcquireLease(path);
      t.fail(`${path} was locked`);
    } catch (error) {
      const { message } = error as Error;
      t.ok(message.startsWith(`${path} cannot be locked (`), message);
      t.match(message, reason);
      t.notMatch(message, /\n/);
    }
  };
  isOneLine(join(directory, 'nowhere', 'render.lock'), /directory does not exist/);
  mkdirSync(join(directory, 'folder'));
  isOneLine(join(directory, 'folder'), /unable to open/);
  writeFileSync(join(directory, 'text'), 'not a database\n'.repeat(100));
  isOneLine(join(directory, 'text'), /not a database/);
});
