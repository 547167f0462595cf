import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { type Test, test } from 'tap';
import type { EventStore } from '../../src/event-store/port.ts';
import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import { eventually } from '../support/deadline.ts';
import { testDirectory } from '../support/directory.ts';
import { appendNext, follow, newEvent, newEvents } from '../support/events.ts';

const HELPER = join(import.meta.dirname, '../support/appending-process.ts');

function open(
  t: Test,
  busyTimeoutMs?: number,
): { path: string; database: EmbeddedDatabase; store: EventStore } {
  const path = join(testDirectory(t), 'pressledger.db');
  const database = openEmbeddedDatabase(path, busyTimeoutMs === undefined ? {} : { busyTimeoutMs });
  const store = new SqliteEventStore(database);
  t.teardown(async () => {
    await store.close();
    database.close();
  });
  return { path, database, store };
}

async function appendElsewhere(path: string, name: string, count: number): Promise<void> {
  const child = spawn(process.execPath, [HELPER, path, name, String(count)], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`The appending process ${name} ended with ${code}.`);
}

void test('what is appended can be neither changed nor removed', async (t) => {
  const { database, store } = open(t);
  await store.append('a-1', newEvents(2), 'no-stream');
  const before = await store.readAll();
  for (const sql of [
    `UPDATE events SET data = '{}'`,
    'DELETE FROM events WHERE position = 2',
    'DELETE FROM events',
    `INSERT OR REPLACE INTO events VALUES (1, 'a-1', 0, 'x', 'T', '{}', '{}')`,
    `INSERT OR REPLACE INTO events VALUES (3, 'a-1', 1, 'x', 'T', '{}', '{}')`,
  ]) {
    t.throws(() => database.db.exec(sql), { message: /append-only/ }, sql);
  }
  t.strictSame(await store.readAll(), before);
});

void test('processes that append at once leave no gaps', async (t) => {
  const { path, store } = open(t);
  const { seen, subscription, until } = follow(store, 0n);
  const here = async (): Promise<void> => {
    await until(1);
    for (let n = 0; n < 100; n += 1) await appendNext(store, 'here', newEvents(1));
  };
  await Promise.all([appendElsewhere(path, 'a', 100), appendElsewhere(path, 'b', 100), here()]);
  // Each helper: 50 appends of two events to the shared stream, 50 of one to its own.
  await until(400);
  await subscription.stop();
  t.strictSame(
    seen.map(({ position }) => position),
    Array.from({ length: 400 }, (_, n) => BigInt(n + 1)),
    'the subscription has seen every position',
  );
  for (const [stream, length] of Object.entries({
    shared: 200,
    'own-a': 50,
    'own-b': 50,
    here: 100,
  })) {
    t.strictSame(
      seen.filter((event) => event.stream === stream).map(({ revision }) => revision),
      Array.from({ length }, (_, n) => n),
      stream,
    );
  }
});

void test('appends of one turn of the event loop share one transaction', async (t) => {
  const { database, store } = open(t);
  let commits = 0;
  database.onCommit(() => void (commits += 1));
  await Promise.all(
    Array.from({ length: 64 }, (_, n) => store.append(`a-${n}`, newEvents(1), 'no-stream')),
  );
  t.equal(commits, 1);
  await Promise.all(
    Array.from({ length: 1000 }, (_, n) => store.append(`b-${n}`, newEvents(1), 'no-stream')),
  );
  t.ok(commits > 2, 'a transaction is bounded');
});

void test('a full disk stores nothing and says so, until there is room again', async (t) => {
  const { database, store } = open(t);
  await store.append('a-1', newEvents(1), 'no-stream');
  const pages = Number(database.db.pragma('page_count', { simple: true }));
  database.db.pragma(`max_page_count = ${pages + 4}`);
  const large = newEvent({ text: 'x'.repeat(100_000) });
  const outcomes = await Promise.allSettled([
    store.append('a-2', newEvents(1), 'no-stream'),
    store.append('a-3', [large], 'no-stream'),
    store.append('a-4', newEvents(1), 'no-stream'),
  ]);
  for (const outcome of outcomes) {
    t.match(outcome, {
      status: 'rejected',
      reason: { name: 'EventStoreUnavailable', cause: { code: 'SQLITE_FULL' } },
    });
  }
  t.equal(await store.head(), 1n);
  t.equal(database.failure(), 'the disk is full');
  database.db.pragma(`max_page_count = ${pages + 1000}`);
  const { position } = await store.append('a-3', [large], 'no-stream');
  t.equal(position, 2n, 'no gap after a rollback');
  t.equal(database.failure(), undefined);
});

void test('a database locked by another process is unavailable, not broken', async (t) => {
  const { path, database, store } = open(t, 20);
  const other = openEmbeddedDatabase(path);
  other.db.exec('BEGIN IMMEDIATE');
  const refused = { name: 'EventStoreUnavailable', cause: { code: 'SQLITE_BUSY' } };
  const appends = [1, 2, 3].map((n) => store.append(`a-${n}`, newEvents(1), 'no-stream'));
  for (const append of appends) await t.rejects(append, refused);
  t.equal(database.failure(), 'another process keeps it locked');
  other.db.exec('ROLLBACK');
  other.close();
  await eventually('the lock seen to be gone', () => database.failure() === undefined || undefined);
  t.equal((await store.append('a-1', newEvents(1), 'no-stream')).position, 1n);
});

void test('an append waits for the lock, and the event loop for nothing', async (t) => {
  const { path, database, store } = open(t);
  const other = openEmbeddedDatabase(path);
  other.db.exec('BEGIN IMMEDIATE');
  const append = store.append('a-1', newEvents(1), 'no-stream');
  const loop = monitorEventLoopDelay();
  loop.enable();
  const told = await eventually('the lock to be told', () => database.failure());
  loop.disable();
  t.equal(told, 'another process keeps it locked');
  t.ok(loop.max < 1e9, `the event loop stood for at most ${loop.max / 1e6} ms`);
  other.db.exec('ROLLBACK');
  other.close();
  t.equal((await append).position, 1n);
  t.equal(database.failure(), undefined);
});

void test('a subscription to a store that cannot be looked at ends, and the process goes on', async (t) => {
  const { database, store } = open(t);
  const { subscription, until } = follow(store, 0n);
  await store.append('a-1', newEvents(1), 'no-stream');
  await until(1);
  // It has read to the end by then and waits: only a look can tell it.
  await setImmediate();
  database.close();
  const deadline = setTimeout(() => t.fail('not within 10 s'), 10_000);
  await t.rejects(subscription.ended, { name: 'EventStoreUnavailable' });
  clearTimeout(deadline);
});

void test('after the database is closed nothing is accepted', async (t) => {
  const { database, store } = open(t);
  const waiting = store.append('a-1', newEvents(1), 'no-stream');
  database.close();
  t.equal((await waiting).revision, 0, 'what waited is stored');
  await t.rejects(store.append('a-1', newEvents(1), 0), { name: 'EventStoreUnavailable' });
  await t.rejects(store.readStream('a-1'), { name: 'EventStoreUnavailable' });
});

void test('the WAL is bounded while the store works and gone when the last process has closed it', async (t) => {
  const { path, database, store } = open(t);
  const events = Array.from({ length: 600 }, () => newEvent({ text: 'x'.repeat(50_000) }));
  for (const [n, event] of events.entries()) await appendNext(store, `a-${n % 9}`, [event]);
  t.ok(statSync(`${path}-wal`).size < 24 * 1024 * 1024, '30 MB went through it');
  const other = openEmbeddedDatabase(path);
  database.close();
  t.ok(existsSync(`${path}-wal`), 'another process has it');
  other.close();
  t.notOk(existsSync(`${path}-wal`));
});

void test('a database has one event store at a time', async (t) => {
  const { database, store } = open(t);
  t.throws(() => new SqliteEventStore(database), { message: /has its event store already/ });
  await store.close();
  const next = new SqliteEventStore(database);
  t.equal((await next.append('a-1', newEvents(1), 'no-stream')).position, 1n);
  await next.close();
});
