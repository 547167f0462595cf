import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { test } from 'tap';
import { allProjections } from '../../../projections/all.ts';
import { conversionQueries } from '../../../projections/conversions.ts';
import { ledger } from '../../../projections/ledger.ts';
import { EventStoreUnavailable, type ReadAllOptions } from '../../../src/event-store/port.ts';
import { currentGeneration, generationPath } from '../../../src/read-model/generations.ts';
import { type RebuildProgress, rebuildReadModel } from '../../../src/read-model/rebuild.ts';
import { compareGenerations } from '../../support/compare-generations.ts';
import { eventually } from '../../support/deadline.ts';
import { FaultyStore } from '../../support/faulty-store.ts';
import { history, opening, request } from '../../support/history.ts';
import { write } from '../../support/log.ts';
import { openNode, openProjected } from '../../support/projected.ts';
import { accountId } from '../../support/samples.ts';

const current = (directory: string) => generationPath(directory, currentGeneration(directory));
const databases = (directory: string) =>
  readdirSync(directory).filter((name) => /^(g|build-).*\.db$/.test(name));

void test('a replay equals the live run, row for row', async (t) => {
  const { log, directory, runner, readModel } = openProjected(t);
  runner.start();
  const steps = [...history(3, 300)];
  for (let at = 0; at < steps.length; at += 50) {
    await runner.waitFor(await write(log, steps.slice(at, at + 50)));
  }
  const head = await log.store.head();
  const replayed = join(log.directory, 'replayed');
  await rebuildReadModel({
    readModel: { directory: replayed, projections: allProjections },
    store: log.store,
  });
  t.strictSame(compareGenerations(current(directory), current(replayed), allProjections), []);
  const other = openNode(t, replayed, log.store);
  t.equal(other.runner.checkpoint(), head);

  other.readModel.query((db) =>
    db.exec("UPDATE conversions SET pages = 9 WHERE status = 'completed'"),
  );
  const told = compareGenerations(current(directory), current(replayed), allProjections);
  t.equal(told.length, 20, 'the comparison can fail');
  t.match(told[0], /^conversions: /);
  await runner.stop();
  readModel.close();

  rmSync(directory, { recursive: true });
  const fresh = openNode(t, directory, log.store);
  t.equal(fresh.runner.checkpoint(), 0n);
  await fresh.runner.waitFor(head);
  other.readModel.query((db) => db.exec('UPDATE conversions SET pages = 2 WHERE pages = 9'));
  t.strictSame(
    compareGenerations(current(directory), current(replayed), allProjections),
    [],
    'deleted and rebuilt',
  );
});

const requests = (count: number) => Array.from({ length: count }, (_, n) => request(n + 1, 1));

/** What a database is made of, by the definitions that SQLite stores. */
function definitions(path: string): readonly unknown[] {
  const db = new Sqlite(path, { readonly: true });
  try {
    return db.prepare('SELECT type, name, sql FROM sqlite_master ORDER BY type, name').all();
  } finally {
    db.close();
  }
}

void test('a first build that is cut off leaves nothing behind, and the next one is whole', async (t) => {
  const { log, directory, runner } = openProjected(t);
  await runner.waitFor(await write(log, [opening(1, 100_000)]));
  const head = await write(log, requests(1_200));
  await runner.waitFor(head);

  const started = join(log.directory, 'started');
  const gate = Promise.withResolvers<void>();
  class Halting extends FaultyStore {
    override async readAll(options: ReadAllOptions = {}) {
      if ((options.after ?? 0n) > 0n) await gate.promise;
      return await super.readAll(options);
    }
  }
  const node = openNode(t, started, new Halting(log.store));
  node.runner.start();
  await eventually('a page of the log', () => node.runner.progress() >= 1_000n || undefined);
  t.equal(node.runner.checkpoint(), 0n, 'the generation in use is empty meanwhile');
  t.equal(databases(started).length, 2);
  const stopped = node.runner.stop();
  gate.resolve();
  await stopped;
  t.equal(node.runner.checkpoint(), 0n);
  t.strictSame(databases(started), ['g1.db']);

  const next = openNode(t, started, log.store);
  await next.runner.waitFor(head);
  t.strictSame(databases(started), ['g2.db']);
  t.strictSame(compareGenerations(current(directory), current(started), allProjections), []);
  t.strictSame(definitions(current(started)), definitions(current(directory)));
});

void test('a first build outlasts an outage of the event store', async (t) => {
  const { log } = openProjected(t);
  const head = await write(log, [opening(1, 100_000), ...requests(1_200)]);
  let fails = 2;
  class Faltering extends FaultyStore {
    override async readAll(options: ReadAllOptions = {}) {
      if ((options.after ?? 0n) === 1_000n && fails > 0) {
        fails -= 1;
        throw new EventStoreUnavailable('It is away.');
      }
      return await super.readAll(options);
    }
  }
  const store = new Faltering(log.store);
  const { readModel, runner } = openNode(t, join(log.directory, 'faltering'), store);
  await runner.waitFor(head);
  t.equal(fails, 0);
  t.equal(readModel.reached(), head);
});

void test('a rebuild beside a running service: it goes over and loses nothing', async (t) => {
  const { log, directory, runner, readModel } = openProjected(t);
  runner.start();
  await write(log, [opening(1, 100_000), ...history(3, 100)].slice(1));
  await runner.waitFor(await log.store.head());
  const before = current(directory);
  const writer = { on: true, last: 1000 };
  const traffic = (async () => {
    while (writer.on) {
      writer.last += 1;
      await runner.waitFor(await write(log, [request(writer.last, 1)]));
    }
  })();
  const progress: RebuildProgress[] = [];
  const store = log.openAgain();
  for (let round = 0; round < 3; round += 1) {
    const result = await rebuildReadModel({
      readModel,
      store,
      onProgress: (each) => progress.push(each),
    });
    t.ok(result.events > 400);
  }
  const written = writer.last;
  while (writer.last < written + 20) await setImmediate();
  writer.on = false;
  await traffic;
  t.not(current(directory), before);
  t.notOk(existsSync(before), 'the old generation is gone');
  t.equal(databases(directory).length, 1);
  t.ok(progress.length >= 3);
  t.ok(progress.every(({ done, total, perSecond }) => done <= total && perSecond > 0));

  const head = await log.store.head();
  await runner.waitFor(head);
  const alone = openNode(t, join(log.directory, 'alone'), log.store);
  await alone.runner.waitFor(head);
  const apart = current(join(log.directory, 'alone'));
  t.strictSame(compareGenerations(current(directory), apart, allProjections), []);
  const page = readModel.query(conversionQueries).page(accountId(1), { offset: 0, limit: 1 });
  t.equal(page.rows[0]?.id.slice(-4), `${writer.last}`, 'the node reads the new generation');
});

void test('a rebuild that is cut off leaves the old generation; its leftovers are swept', async (t) => {
  const { log, directory, runner, readModel } = openProjected(t);
  const head = await write(log, history(2, 50));
  await runner.waitFor(head);
  const before = current(directory);
  const cut = AbortSignal.abort(new Error('cut off'));
  await t.rejects(
    rebuildReadModel({ readModel, store: log.store, signal: cut }),
    new Error('cut off'),
  );
  const broken = {
    ...ledger,
    handlers: () => ({
      CreditGranted: () => {
        throw new Error('no');
      },
    }),
  };
  await t.rejects(
    rebuildReadModel({ readModel: { directory, projections: [broken] }, store: log.store }),
    /Projection ledger failed on CreditGranted at position 2: no/,
  );
  t.equal(current(directory), before);
  t.equal(runner.checkpoint(), head);

  writeFileSync(join(directory, 'build-leftover.db'), 'of a process that was killed');
  writeFileSync(join(directory, 'g77.db'), 'of a switch that was cut off');
  openNode(t, directory, log.store);
  t.strictSame(databases(directory), ['g1.db']);
});

void test('a generation under construction is not taken for a leftover', async (t) => {
  const { log, directory, readModel } = openProjected(t);
  await write(log, history(2, 50));
  let swept = false;
  await rebuildReadModel({
    readModel,
    store: log.store,
    onProgress: () => {
      openNode(t, directory, log.store);
      swept = true;
      t.equal(databases(directory).length, 2);
    },
  });
  t.ok(swept);
  t.strictSame(databases(directory), ['g2.db']);
});

void test('two rebuilds at once both end, and one of them is in use', async (t) => {
  const { log, directory, runner, readModel } = openProjected(t);
  const head = await write(log, history(2, 100));
  const again = log.openAgain();
  await Promise.all([
    rebuildReadModel({ readModel, store: log.store }),
    rebuildReadModel({ readModel, store: again }),
  ]);
  t.strictSame(databases(directory), ['g3.db']);
  t.equal(runner.checkpoint(), head);
});

for (const [name, damage] of [
  ['is not a database', (path: string) => writeFileSync(path, 'not a database, '.repeat(1000))],
  ['is missing', (path: string) => rmSync(path)],
  ['is empty', (path: string) => writeFileSync(path, '')],
] as const) {
  void test(`a generation that ${name} is rebuilt at the next opening`, async (t) => {
    const { log, directory, runner, readModel } = openProjected(t);
    const head = await write(log, history(2, 50));
    await runner.waitFor(head);
    await runner.stop();
    readModel.close();
    damage(current(directory));
    const fresh = openNode(t, directory, log.store);
    t.equal(fresh.runner.checkpoint(), 0n);
    await fresh.runner.waitFor(head);
    const page = fresh.readModel
      .query(conversionQueries)
      .page(accountId(1), { offset: 0, limit: 1 });
    t.equal(page.total, 25);
    t.strictSame(databases(directory), ['g2.db']);
  });
}

void test('a directory that is deleted under a running service comes back', async (t) => {
  const { log, directory, runner, readModel } = openProjected(t);
  runner.start();
  const head = await write(log, history(2, 50));
  await runner.waitFor(head);
  rmSync(directory, { recursive: true });
  readModel.refresh();
  await runner.waitFor(head);
  const page = readModel.query(conversionQueries).page(accountId(1), { offset: 0, limit: 1 });
  t.equal(page.total, 25);
  t.ok(existsSync(current(directory)));
});
