/** Wherever read models are made or opened, the log is held against the newest signed checkpoint. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { type Test, test } from 'tap';
import { allProjections } from '../../projections/all.ts';
import { logTreeQueries } from '../../projections/log-tree.ts';
import { type EventStore, LogDiffers, type ReadAllOptions } from '../../src/event-store/port.ts';
import { comparedStore } from '../../src/log/compared-store.ts';
import { LogGuard } from '../../src/log/log-guard.ts';
import { openLog as nameOf } from '../../src/log/log-origin.ts';
import { openReadModel, ReadModel } from '../../src/read-model/database.ts';
import { currentGeneration } from '../../src/read-model/generations.ts';
import { rebuildReadModel } from '../../src/read-model/rebuild.ts';
import { ProjectionRunner } from '../../src/read-model/runner.ts';
import { openLastCheckpoint, openSuspect } from '../../src/service/log.ts';
import { FaultyStore } from '../support/faulty-store.ts';
import { history } from '../support/history.ts';
import { openLog, write } from '../support/log.ts';
import { openNode } from '../support/projected.ts';
import { accountId } from '../support/samples.ts';
import { openSigner, signingKey } from '../support/signer.ts';

/** A signed log of some events, its node, and a way to change the log past everybody. */
async function signedNode(t: Test) {
  const log = openLog(t);
  const { directory, store } = log;
  await write(log, history(2, 60));
  const path = join(directory, 'read-model');
  const node = openSigner(t, { ...openNode(t, path, store), store }, directory);
  await node.signer.sign();
  await node.runner.waitFor(await store.head());
  return {
    ...node,
    log,
    directory,
    path,
    change: (statement: string) => {
      const db = new Sqlite(join(directory, 'store.db'));
      db.exec('DROP TRIGGER IF EXISTS events_no_update');
      const { changes } = db.prepare(statement).run();
      db.close();
      t.equal(changes, 1);
    },
  };
}

const FORGED = `UPDATE events SET data = replace(data, '"amount":1000000', '"amount":9999999') WHERE position = 2`;
const CHANGED = {
  name: 'LogDiffers',
  message: /^The log's first \d+ events are not those .*audit\.md/,
};

/** Follows the log into tables that are guarded. */
async function guarded(t: Test, directory: string, store: EventStore, guard: LogGuard) {
  const projections = allProjections;
  const readModel = await openReadModel({ directory, projections, guardOf: guard.ofTables }, store);
  const runner = new ProjectionRunner({ store, readModel });
  t.teardown(async () => {
    await runner.stop();
    readModel.close();
  });
  return { readModel, runner };
}

const guardIn = (directory: string) => new LogGuard(openLastCheckpoint(directory));

void test('read models that are made anew do not take in an event that was changed', async (t) => {
  const { directory, store, change } = await signedNode(t);
  change(FORGED);
  const guard = guardIn(directory);
  const { runner, readModel } = await guarded(t, join(directory, 'fresh'), store, guard);
  runner.start();
  await t.rejects(runner.waitFor(await store.head()), CHANGED);
  await t.rejects(runner.ended, CHANGED);
  await t.rejects(guard.differs, CHANGED);
  t.equal(readModel.reached(), 0n, 'nothing of it is told');
});

void test('a rebuild leaves the read models in use, and says so', async (t) => {
  const { directory, path, store, change } = await signedNode(t);
  change(FORGED);
  const guardOf = guardIn(directory).ofTables;
  const readModel = { directory: path, projections: allProjections, guardOf };
  await t.rejects(rebuildReadModel({ readModel, store }), CHANGED);
  t.equal(currentGeneration(path), 1);
});

void test('read models that somebody else has replaced are not opened', async (t) => {
  const { directory, path, store, change } = await signedNode(t);
  const { readModel } = await guarded(t, path, store, guardIn(directory));
  change(FORGED);
  // A process that knows no checkpoint.
  await rebuildReadModel({ readModel: { directory: path, projections: allProjections }, store });
  t.throws(() => readModel.refresh(), LogDiffers);
});

void test('without its file, a node knows the newest checkpoint from the log itself', async (t) => {
  const { actors, directory, store, change, log } = await signedNode(t);
  change(FORGED);
  rmSync(join(directory, 'transparency-log'), { recursive: true });
  // Far behind the checkpoint there are others of the log's own events.
  const note = { size: 3, signatures: ['— w AAAA'], at: 1 };
  for (let n = 0; n < 80; n += 1) {
    await log.append('pressledger-log', { type: 'CheckpointCosigned', data: note });
  }
  const guard = guardIn(directory);
  await guard.learn(
    { actors, store },
    await nameOf({ actors, clock: { now: () => 1 } }),
    signingKey,
  );
  const { runner } = await guarded(t, join(directory, 'fresh'), store, guard);
  await t.rejects(runner.waitFor(await store.head()), CHANGED);
});

void test('a checkpoint that was changed in the log is not believed', async (t) => {
  const { actors, directory, store, change } = await signedNode(t);
  change(
    `UPDATE events SET data = replace(data, '"note":"pressledger', '"note":"Pressledger') WHERE type = 'CheckpointSigned'`,
  );
  rmSync(join(directory, 'transparency-log'), { recursive: true });
  const named = await nameOf({ actors, clock: { now: () => 1 } });
  const learning = guardIn(directory).learn({ actors, store }, named, signingKey);
  await t.rejects(learning, { name: 'LogDiffers', message: /newest checkpoint .* is not signed/ });
});

void test('a log that ends before the checkpoint is refused when it has been read', async (t) => {
  const { directory, store } = await signedNode(t);
  const older = openLog(t);
  for (const { stream, revision, position: _, ...event } of await store.readAll({ limit: 30 })) {
    await older.store.append(stream, [event], revision === 0 ? 'no-stream' : revision - 1);
  }
  const fresh = join(directory, 'fresh');
  const { runner } = await guarded(t, fresh, older.store, guardIn(directory));
  const message = /^The log holds 30 events, and this node .* checkpoint of \d+ .* older log/;
  await t.rejects(runner.waitFor(await older.store.head()), { name: 'LogDiffers', message });
  const readModel = {
    directory: fresh,
    projections: allProjections,
    guardOf: guardIn(directory).ofTables,
  };
  await t.rejects(rebuildReadModel({ readModel, store: older.store }), { message });
});

void test('an opening compares the events at the checkpoint and at half of it', async (t) => {
  const { directory, path, store, change, readModel: known } = await signedNode(t);
  const { hashes, positionOf } = known.query(logTreeQueries);
  const readModel = new ReadModel({ directory: path, projections: allProjections });
  t.teardown(() => readModel.close());
  const check = async () => {
    const guard = guardIn(directory);
    const compared = comparedStore(store, guard, openSuspect(directory));
    await compared.compareWith(() => readModel.query(logTreeQueries));
    await guard.checkEvents(readModel.query(logTreeQueries), compared);
  };
  await check();
  // The checkpoint's own event came after what it covers.
  const last = hashes.size - 2;
  for (const index of [Math.floor((last + 1) / 2), last]) {
    const metadata = `UPDATE events SET metadata = replace(metadata, $from, $to) WHERE position = ${positionOf(index)}`;
    const [there, forged] = [`'"time":'`, `'"time":1'`];
    change(metadata.replace('$from', there).replace('$to', forged));
    const message = new RegExp(`^The log's event at position ${positionOf(index)} `);
    await t.rejects(check(), { name: 'LogDiffers', message });
    change(metadata.replace('$from', forged).replace('$to', there));
    await check();
  }
});

void test('a rebuild does not expect what was signed after it had begun to read', async (t) => {
  const { directory, store, log, signer } = await signedNode(t);
  let isSigned = false;
  class Growing extends FaultyStore {
    override async readAll(options?: ReadAllOptions) {
      const events = await super.readAll(options);
      if (!isSigned) {
        isSigned = true;
        const data = { accountId: accountId(), amount: 1 };
        await log.append(`account-${data.accountId}`, { type: 'CreditGranted', data });
        await signer.sign();
      }
      return events;
    }
  }
  const guardOf = guardIn(directory).ofTables;
  const readModel = { directory: join(directory, 'fresh'), projections: allProjections, guardOf };
  await rebuildReadModel({ readModel, store: new Growing(store) });
  t.ok(isSigned);
});

void test('a member that lacks what was signed is asked again before its log counts as older', async (t) => {
  const { directory, store } = await signedNode(t);
  class Behind extends FaultyStore {
    asked = 0;
    override async readAll(options?: ReadAllOptions) {
      const events = await super.readAll(options);
      this.asked += 1;
      return this.asked <= 2 ? events.filter(({ position }) => position <= 30n) : events;
    }
  }
  const guard = guardIn(directory);
  const behind = new Behind(store);
  const { runner } = await guarded(t, join(directory, 'fresh'), behind, guard);
  await runner.waitFor(await store.head());
  t.notOk(guard.hasDiffered);
  const guardOf = guardIn(directory).ofTables;
  const readModel = { directory: join(directory, 'built'), projections: allProjections, guardOf };
  const { events } = await rebuildReadModel({ readModel, store: new Behind(store) });
  t.equal(events, (await store.readAll({ limit: 10_000 })).length);
});
