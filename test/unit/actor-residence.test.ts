import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { test } from 'tap';
import type { Snapshot, SnapshotCache } from '../../src/actors/snapshots.ts';
import { SqliteSnapshots } from '../../src/actors/snapshots.ts';
import { accountAggregate } from '../../src/domain/account.ts';
import { grant, OPEN, sentBy, startNode, type TestNode } from '../support/actors.ts';
import { testDirectory } from '../support/directory.ts';
import { accountId } from '../support/samples.ts';

const ID = accountId();
const STREAM = accountAggregate.stream(ID);

/** A cache in memory that tells of each snapshot. */
class WatchedSnapshots implements SnapshotCache {
  readonly #rows = new Map<string, Snapshot & { readonly version: number }>();
  readonly revisions: number[] = [];
  #told = Promise.withResolvers<void>();

  get(stream: string, version: number): Snapshot | undefined {
    const row = this.#rows.get(stream);
    return row?.version === version ? row : undefined;
  }
  put(stream: string, version: number, revision: number, json: string): void {
    this.#rows.set(stream, { version, revision, json });
    this.revisions.push(revision);
    this.#told.resolve();
  }
  close(): void {}

  /** Resolves with the next snapshot. */
  async next(): Promise<void> {
    this.#told = Promise.withResolvers<void>();
    await this.#told.promise;
  }
}

/** `count` grants of one credit each, sent `together` at a time. */
async function grantMany({ system }: TestNode, count: number, together = 50): Promise<void> {
  for (let n = 0; n < count; n += together) {
    await Promise.all(
      Array.from({ length: Math.min(together, count - n) }, () =>
        system.send(accountAggregate, ID, grant(1), sentBy(`grant-${Math.random()}`)),
      ),
    );
  }
}

void test('streams are let go by count and by idle time, and read again when needed', async (t) => {
  const node = startNode(t, testDirectory(t), { limits: { cached: 3, idleMs: 20 } });
  const { system, store } = node;
  for (const id of ['a', 'b', 'c', 'd', 'e']) {
    await system.send(accountAggregate, id, OPEN, sentBy(`open-${id}`));
    t.ok(system.cached <= 3, `${system.cached} cached`);
  }
  store.reads.length = 0;
  t.match(await system.read(accountAggregate, 'a'), { state: { credits: 10 }, revision: 1 });
  t.match(store.reads, [{ from: 0, events: 2 }], 'a was let go');
  const deadline = Date.now() + 5_000;
  while (system.cached > 0 && Date.now() < deadline) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.equal(system.cached, 0, 'all were idle');
});

void test('a stream with waiting commands is never let go', async (t) => {
  const { system, store } = startNode(t, testDirectory(t), { limits: { cached: 1 } });
  const append = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  store.beforeAppend = () => {
    began.resolve();
    return append.promise;
  };
  const first = system.send(accountAggregate, 'a', OPEN, sentBy('a'));
  const second = system.send(accountAggregate, 'b', OPEN, sentBy('b'));
  t.equal(system.cached, 2, 'busy streams may exceed the count');
  await began.promise;
  const third = system.send(accountAggregate, 'a', grant(1), sentBy('a2'));
  append.resolve();
  t.match(await Promise.all([first, second, third]), [{}, {}, { state: { credits: 11 } }]);
  t.equal(store.appends.length, 3, 'a had one writer only, so no conflict');
});

void test('ids that are guessed leave nothing behind', async (t) => {
  const { system } = startNode(t, testDirectory(t));
  t.match(await system.read(accountAggregate, 'guess'), {
    state: { status: 'none' },
    revision: -1,
  });
  t.equal(system.cached, 0);
});

void test('a cold stream is read from its snapshot on', async (t) => {
  const dir = testDirectory(t);
  const snapshots = new WatchedSnapshots();
  const limits = { snapshotEvery: 100, page: 40 };
  const one = startNode(t, dir, { snapshots, limits });
  await one.system.send(accountAggregate, ID, OPEN, sentBy('open'));
  const taken = snapshots.next();
  await grantMany(one, 130);
  await taken;
  const [revision = -1] = snapshots.revisions;
  t.ok(revision >= 99 && revision < 131, `taken at ${revision}`);

  const two = startNode(t, dir, { snapshots, limits });
  t.match(await two.system.read(accountAggregate, ID), { state: { credits: 140 }, revision: 131 });
  t.equal(two.store.reads[0]?.from, revision);
  t.equal(
    two.store.reads.reduce((sum, read) => sum + read.events, 0),
    131 - revision + 1,
    'its own event, to compare, and those after it',
  );

  await two.system.close();
  t.equal(snapshots.revisions.length, 1, 'too few events for another snapshot');
});

void test('a stream that is let go leaves a snapshot if it is worth one', async (t) => {
  const snapshots = new WatchedSnapshots();
  const node = startNode(t, testDirectory(t), { snapshots, limits: { snapshotOnRelease: 20 } });
  await node.system.send(accountAggregate, ID, OPEN, sentBy('open'));
  await grantMany(node, 30);
  await node.system.close();
  t.strictSame(snapshots.revisions, [31]);
});

const WRONG: Record<string, (found: Snapshot) => Snapshot> = {
  'is ahead of the stream': ({ json }) => ({ revision: 5_000, json }),
  'is of another history': ({ revision, json }) => ({
    revision,
    json: json.replace(/"eventId":"[^"]*"/, '"eventId":"c7d0e6b1-0000-5000-8000-000000000000"'),
  }),
  'is no JSON': ({ revision, json }) => ({ revision, json: json.slice(0, -9) }),
  'is not a state': ({ revision }) => ({ revision, json: '{"eventId":"x","state":{"credits":7}}' }),
};

for (const [fault, spoil] of Object.entries(WRONG)) {
  void test(`a snapshot that ${fault} is ignored`, async (t) => {
    const dir = testDirectory(t);
    const snapshots = new WatchedSnapshots();
    const one = startNode(t, dir, { snapshots });
    await one.system.send(accountAggregate, ID, OPEN, sentBy('open'));
    await grantMany(one, 60);
    await one.system.close();
    const { version } = accountAggregate.snapshot;
    const found = snapshots.get(STREAM, version);
    if (found === undefined) throw new Error('There is no snapshot to spoil.');
    const { revision, json } = spoil(found);
    snapshots.put(STREAM, version, revision, json);
    const two = startNode(t, dir, { snapshots });
    t.match(await two.system.read(accountAggregate, ID), { state: { credits: 70 }, revision: 61 });
    t.match(two.store.reads.at(-1), { from: 0, events: 62 }, 'it is read from the beginning');
  });
}

const KEY = Buffer.alloc(32, 1);

void test('the file of snapshots: kept, of one version, checked, and disposable', async (t) => {
  const path = join(testDirectory(t), 'snapshots.db');
  const first = new SqliteSnapshots(path, KEY);
  first.put('s', 1, 41, '"old"');
  first.put('s', 1, 42, '"new"');
  first.close();

  const second = new SqliteSnapshots(path, KEY);
  t.strictSame(second.get('s', 1), { revision: 42, json: '"new"' });
  t.equal(second.get('s', 2), undefined, 'another codec version');
  t.equal(second.get('other', 1), undefined);
  const db = new Sqlite(path);
  db.exec(`UPDATE snapshots SET json = '"forged"'`);
  db.close();
  t.equal(second.get('s', 1), undefined, 'its MAC does not fit');
  const forger = new SqliteSnapshots(path, Buffer.alloc(32, 2));
  forger.put('s', 1, 43, '"forged"');
  forger.close();
  t.equal(second.get('s', 1), undefined, 'another deployment has written it');
  second.close();
  second.put('s', 1, 43, '""');
  t.equal(second.get('s', 1), undefined, 'closed: nothing, without an error');

  writeFileSync(path, 'this is not a database, though its name says so. '.repeat(200));
  const third = new SqliteSnapshots(path, KEY);
  t.equal(third.get('s', 1), undefined);
  third.put('s', 1, 44, '"new"');
  t.strictSame(third.get('s', 1), { revision: 44, json: '"new"' });
  third.close();

  const nowhere = new SqliteSnapshots(join(t.testdirName, 'no', 'such', 'directory.db'), KEY);
  nowhere.put('s', 1, 1, '""');
  t.equal(nowhere.get('s', 1), undefined, 'no file can be made: no snapshots, no error');
});

void test('a file that is damaged while in use is replaced', async (t) => {
  const path = join(testDirectory(t), 'snapshots.db');
  const filled = new SqliteSnapshots(path, KEY);
  for (let n = 0; n < 200; n += 1) filled.put(`s${n}`, 1, n, JSON.stringify('x'.repeat(2_000)));
  filled.close();
  const cache = new SqliteSnapshots(path, KEY);
  writeFileSync(path, Buffer.alloc(100 * 4096, 0x5a));
  for (let n = 0; n < 200; n += 1) t.equal(cache.get(`s${n}`, 1), undefined);
  cache.put('s', 1, 1, '"new"');
  t.strictSame(cache.get('s', 1), { revision: 1, json: '"new"' });
  t.ok(existsSync(path));
  cache.close();
});
