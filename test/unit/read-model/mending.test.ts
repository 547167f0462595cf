/** A read model that does not fit its log, or is damaged where it is read, is made anew by itself. */
import { closeSync, openSync, readdirSync, writeFileSync, writeSync } from 'node:fs';
import { test } from 'tap';
import { conversionQueries } from '../../../projections/conversions.ts';
import { consistentQuery } from '../../../src/use-cases/consistent-query.ts';
import { currentGeneration, generationPath } from '../../../src/read-model/generations.ts';
import { ReadModelDamaged } from '../../../src/read-model/database.ts';
import { history, opening, request } from '../../support/history.ts';
import { openLog, write } from '../../support/log.ts';
import { openNode, openProjected } from '../../support/projected.ts';
import { accountId, conversionId } from '../../support/samples.ts';

const current = (directory: string) => generationPath(directory, currentGeneration(directory));
const databases = (directory: string) =>
  readdirSync(directory).filter((name) => /^(g|build-).*\.db$/.test(name));

for (const [name, before, after] of [
  ['older than the read model', 60, 30],
  ['as long as the read model, with another past', 60, 60],
  ['longer than the read model, with another past', 30, 60],
  ['empty', 60, 0],
] as const) {
  void test(`a log that was put back, ${name}: the read model is made anew of it`, async (t) => {
    const old = openProjected(t);
    await write(old.log, [opening(3, 10), request(7000, 3)]);
    await old.runner.waitFor(await write(old.log, history(2, before)));
    await old.runner.stop();
    old.readModel.close();

    const restored = openLog(t, 'other');
    if (after > 0) await write(restored, [opening(4, 10), opening(5, 10), ...history(2, after)]);
    const { readModel, runner } = openNode(t, old.directory, restored.store);
    const told = async (): Promise<number> => {
      const queries = await consistentQuery(
        { store: restored.store, readModel, runner },
        conversionQueries,
      );
      t.equal(queries.byId(conversionId(7000)), undefined, 'what the log does not hold');
      return queries.page(accountId(1), { offset: 0, limit: 1 }).total;
    };
    t.equal(await told(), after / 2);
    runner.start();
    await write(restored, after > 0 ? [request(9001, 1)] : history(2, 2));
    t.equal(await told(), after / 2 + 1, 'what comes is told');
  });
}

void test('the read model of the same log is kept', async (t) => {
  const { log, directory, runner, readModel } = openProjected(t);
  const head = await write(log, history(2, 50));
  await runner.waitFor(head);
  await runner.stop();
  readModel.close();
  const again = openNode(t, directory, log.store);
  await again.runner.waitFor(head);
  t.strictSame(databases(directory), ['g1.db']);
});

void test('damage that only a query meets is mended from the log', async (t) => {
  const { log, directory, runner, readModel } = openProjected(t);
  const deps = { store: log.store, readModel, runner };
  await runner.waitFor(await write(log, history(2, 300)));
  const [firstPage, pageBytes] = readModel.query((db) => {
    db.pragma('wal_checkpoint(TRUNCATE)');
    db.pragma('cache_size = 0');
    const root = db.prepare<[], number>(
      "SELECT rootpage FROM sqlite_schema WHERE name = 'conversions'",
    );
    return [root.pluck().get() ?? 0, Number(db.pragma('page_size', { simple: true }))] as const;
  });
  const file = openSync(current(directory), 'r+');
  writeSync(file, Buffer.alloc(pageBytes, 0xaa), 0, pageBytes, (firstPage - 1) * pageBytes);
  closeSync(file);
  const find = async () => (await consistentQuery(deps, conversionQueries)).byId(conversionId(50));
  await t.rejects(find(), ReadModelDamaged);
  t.match(await find(), { status: 'completed' });
  t.strictSame(databases(directory), ['g2.db']);
});

void test('damage that is met while waiting is mended by the next one who waits', async (t) => {
  const { log, directory, runner, readModel } = openProjected(t);
  const head = await write(log, history(2, 200));
  await runner.waitFor(head);
  readModel.query((db) => db.pragma('wal_checkpoint(TRUNCATE)'));
  readModel.query((db) => db.pragma('cache_size = 0'));
  writeFileSync(current(directory), Buffer.alloc(400_000, 0xaa));
  await t.rejects(runner.waitFor(head + 1n), ReadModelDamaged);
  await runner.waitFor(head);
  t.strictSame(databases(directory), ['g2.db']);
});
