/** A read model that is damaged is rebuilt, and a log that lacks what it knows is refused. */
import { closeSync, openSync, readdirSync, writeFileSync, writeSync } from 'node:fs';
import type { Test } from 'tap';
import { test } from 'tap';
import { allProjections } from '../../../projections/all.ts';
import { conversionQueries } from '../../../projections/conversions.ts';
import type { EventStore } from '../../../src/event-store/port.ts';
import { consistentQuery } from '../../../src/read-model/consistent-query.ts';
import { openReadModel, type ReadModel } from '../../../src/read-model/database.ts';
import { currentGeneration, generationPath } from '../../../src/read-model/generations.ts';
import { ProjectionRunner } from '../../../src/read-model/runner.ts';
import { newEvents } from '../../support/events.ts';
import { history, opening, request } from '../../support/history.ts';
import { openLog, write } from '../../support/log.ts';
import { openProjected } from '../../support/projected.ts';
import { accountId, conversionId } from '../../support/samples.ts';

const current = (directory: string) => generationPath(directory, currentGeneration(directory));
const databases = (directory: string) =>
  readdirSync(directory).filter((name) => /^(g|build-).*\.db$/.test(name));

/** Opens a node's read model as the service does. */
async function openVerified(t: Test, directory: string, store: EventStore) {
  const readModel = await openReadModel({ directory, projections: allProjections }, store);
  const runner = new ProjectionRunner({ store, readModel });
  t.teardown(async () => {
    await runner.stop();
    readModel.close();
  });
  return { readModel, runner };
}

/** Overwrites the first page of a table; returns once it is in the file. */
function damage(readModel: ReadModel, directory: string, table: string): void {
  const [firstPage, pageBytes] = readModel.query((db) => {
    db.pragma('wal_checkpoint(TRUNCATE)');
    db.pragma('cache_size = 0');
    const root = db.prepare<[string], number>('SELECT rootpage FROM sqlite_schema WHERE name = ?');
    const size = Number(db.pragma('page_size', { simple: true }));
    return [root.pluck().get(table) ?? 0, size] as const;
  });
  const file = openSync(current(directory), 'r+');
  writeSync(file, Buffer.alloc(pageBytes, 0xaa), 0, pageBytes, (firstPage - 1) * pageBytes);
  closeSync(file);
}

for (const [name, before, after] of [
  ['older than the read model', 60, 30],
  ['as long as the read model, with another past', 60, 60],
  ['longer than the read model, with another past', 30, 60],
  ['empty', 60, 0],
] as const) {
  void test(`a log that was put back, ${name}: it is refused, and the read model stays`, async (t) => {
    const old = openProjected(t);
    await write(old.log, [opening(3, 10), request(7000, 3)]);
    const head = await write(old.log, history(2, before));
    await old.runner.waitFor(head);
    await old.runner.stop();
    old.readModel.close();

    const restored = openLog(t, 'other');
    if (after > 0) await write(restored, [opening(4, 10), opening(5, 10), ...history(2, after)]);
    const line =
      /^The log lacks revision \d+ of \S+ \(event \S+, position \d+\), which the read models/;
    await t.rejects(openVerified(t, old.directory, restored.store), {
      name: 'LogDiffers',
      message: line,
    });
    const again = await openVerified(t, old.directory, old.log.store);
    t.equal(again.runner.checkpoint(), head, 'its own log is served as before');
  });
}

void test('a log that was moved to another store: the read model is rebuilt from it', async (t) => {
  const old = openProjected(t);
  const head = await write(old.log, history(2, 20));
  await old.runner.waitFor(head);
  await old.runner.stop();
  old.readModel.close();

  const moved = openLog(t);
  await moved.store.append('others', newEvents(3), 'no-stream');
  for (const { stream, revision, position: _, ...event } of await old.log.store.readAll()) {
    await moved.store.append(stream, [event], revision === 0 ? 'no-stream' : revision - 1);
  }
  const { store } = moved;
  const { readModel, runner } = await openVerified(t, old.directory, store);
  const queries = await consistentQuery({ store, readModel, runner }, conversionQueries);
  t.equal(queries.page(accountId(1), { offset: 0, limit: 1 }).total, 10);
  t.equal(readModel.reached(), head + 3n);
});

void test('a whole read model of the same log is kept', async (t) => {
  const { log, directory, runner, readModel } = openProjected(t);
  const head = await write(log, history(2, 50));
  await runner.waitFor(head);
  await runner.stop();
  readModel.close();
  const again = await openVerified(t, directory, log.store);
  t.equal(again.readModel.reached(), 0n, 'not read yet');
  t.equal(again.runner.checkpoint(), head);
  t.strictSame(databases(directory), ['g1.db']);
});

void test('a damaged page that only a query would meet is found by the check of all pages', async (t) => {
  const { log, directory, runner, readModel } = openProjected(t);
  const head = await write(log, history(2, 300));
  await runner.waitFor(head);
  damage(readModel, directory, 'conversions');
  t.throws(() => readModel.query(conversionQueries).byId(conversionId(50)), {
    code: 'SQLITE_CORRUPT',
  });
  await runner.stop();
  readModel.close();
  const damaged = databases(directory);
  const again = await openVerified(t, directory, log.store);
  again.runner.start();
  await again.readModel.checkPages(new AbortController().signal);
  await again.runner.waitFor(head);
  t.match(again.readModel.query(conversionQueries).byId(conversionId(50)), { status: 'completed' });
  const rebuilt = databases(directory);
  t.equal(rebuilt.length, 1);
  t.notSame(rebuilt, damaged);
  await again.readModel.checkPages(new AbortController().signal);
  t.strictSame(databases(directory), rebuilt, 'a whole one stays');
});

const spoilWhole = (readModel: ReadModel, directory: string): void => {
  readModel.query((db) => db.pragma('wal_checkpoint(TRUNCATE)'));
  readModel.query((db) => db.pragma('cache_size = 0'));
  writeFileSync(current(directory), Buffer.alloc(400_000, 0xaa));
};
const spoilPage = (readModel: ReadModel, directory: string): void =>
  damage(readModel, directory, 'conversions');

for (const [name, spoil] of [
  ['everywhere', spoilWhole],
  ['in one page', spoilPage],
] as const) {
  void test(`damage ${name} that the projections meet ends them, and the next opening mends it`, async (t) => {
    const { log, directory, runner, readModel } = openProjected(t);
    await runner.waitFor(await write(log, history(2, 200)));
    spoil(readModel, directory);
    runner.start();
    const head = await write(log, [request(9000, 1)]);
    await t.rejects(runner.ended, { message: /damaged; start again, and it is rebuilt/ });
    await t.rejects(runner.waitFor(head), { message: /damaged; start again/ });
    await runner.stop();
    readModel.close();
    const again = await openVerified(t, directory, log.store);
    await again.runner.waitFor(head);
    t.equal(
      again.readModel.query(conversionQueries).page(accountId(1), { offset: 0, limit: 1 }).total,
      101,
    );
  });
}
