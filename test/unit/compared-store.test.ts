/** With read models that stay, a log that was changed past the service decides nothing. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { type Test, test } from 'tap';
import { logTreeQueries } from '../../projections/log-tree.ts';
import { ActorSystem } from '../../src/actors/system.ts';
import { accountAggregate } from '../../src/domain/account.ts';
import { LogDiffers, type ReadStreamOptions } from '../../src/event-store/port.ts';
import { comparedStore, type Suspect } from '../../src/log/compared-store.ts';
import { LogGuard } from '../../src/log/log-guard.ts';
import { openLastCheckpoint } from '../../src/service/log.ts';
import { grant, noSnapshots, sentBy } from '../support/actors.ts';
import {
  emptyLogUrl,
  needsEventStoreServer,
  openEventStoreServer,
} from '../support/event-store-server.ts';
import { newEvents } from '../support/events.ts';
import { FaultyStore } from '../support/faulty-store.ts';
import { history } from '../support/history.ts';
import { write } from '../support/log.ts';
import { openNode, openProjected } from '../support/projected.ts';
import { accountId } from '../support/samples.ts';

const ID = accountId(1);
const STREAM = `account-${ID}`;

/** What differed last, in memory. */
function suspectOf(): Suspect {
  let place: ReturnType<Suspect['read']>;
  return {
    read: () => place,
    keep: (given) => {
      place = given;
    },
    forget: () => {
      place = undefined;
    },
  };
}

/** A log that the read models have, its compared store, and a way to change it past everybody. */
async function node(t: Test) {
  const { log, readModel, runner } = openProjected(t);
  await write(log, history(2, 60));
  await runner.waitFor(await log.store.head());
  const guard = new LogGuard(openLastCheckpoint(log.directory));
  const suspect = suspectOf();
  const store = comparedStore(log.store, guard, suspect);
  const tree = () => readModel.query(logTreeQueries);
  const compare = () => store.compareWith(tree);
  const change = (...statements: readonly string[]): void => {
    const db = new Sqlite(join(log.directory, 'store.db'));
    db.exec('DROP TRIGGER IF EXISTS events_no_update; DROP TRIGGER IF EXISTS events_no_delete');
    for (const statement of statements) t.equal(db.prepare(statement).run().changes, 1);
    db.close();
  };
  return { log, runner, guard, suspect, store, tree, compare, change };
}

/** The same log, opened again, with actors that have nothing in memory. */
async function startedOn(t: Test, ...statements: readonly string[]) {
  const opened = await node(t);
  await opened.compare();
  opened.change(...statements);
  const actors = new ActorSystem({ store: opened.store, snapshots: noSnapshots });
  t.teardown(() => actors.close());
  return { ...opened, actors };
}

const OF_STREAM = `stream = '${STREAM}'`;
const LAST = `(SELECT max(revision) FROM events WHERE ${OF_STREAM})`;
const FORGED = `UPDATE events SET data = replace(data, '"amount":1000000', '"amount":9999999') WHERE ${OF_STREAM} AND revision = 1`;
const CASES: Readonly<Record<string, { statements: readonly string[]; message: RegExp }>> = {
  'an event that was changed': {
    statements: [FORGED],
    message: /^The log's event at position \d+ \(revision 1 of account-/,
  },
  'an event that was removed from the middle': {
    statements: [`DELETE FROM events WHERE ${OF_STREAM} AND revision = 5`],
    message: /^The log lacks revision 5 of account-/,
  },
  'a stream that lost its last event': {
    statements: [`DELETE FROM events WHERE ${OF_STREAM} AND revision = ${LAST}`],
    message: /^The log lacks revision \d+ of account-/,
  },
  'an event that was put in where no read model looks': {
    statements: [
      `INSERT INTO events SELECT -5, stream, revision + 1, 'id', type, data, metadata FROM events WHERE ${OF_STREAM} AND revision = ${LAST}`,
    ],
    message: /^The log's event at position -5 /,
  },
  'two events that changed places': {
    statements: [
      [2, -1],
      [3, 2],
      [-1, 3],
    ].map(
      ([from, to]) =>
        `UPDATE events SET revision = ${to} WHERE ${OF_STREAM} AND revision = ${from}`,
    ),
    message: /^The log's event at position \d+ /,
  },
};

for (const [what, { statements, message }] of Object.entries(CASES)) {
  void test(`${what} decides nothing`, async (t) => {
    const { actors, guard, log, store, suspect, tree } = await startedOn(t, ...statements);
    const differs = { name: 'LogDiffers', message };
    const head = await store.head();
    await t.rejects(actors.read(accountAggregate, ID), differs);
    await t.rejects(actors.send(accountAggregate, ID, grant(1), sentBy('1')), differs);
    await t.rejects(guard.differs, differs);
    t.equal(await store.head(), head, 'nothing was appended');
    const again = comparedStore(log.store, guard, suspect);
    await t.rejects(again.compareWith(tree), differs, 'nor does the next start');
  });
}

const keepOnFullDisk = (): never => {
  throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
};

void test('a full disk does not hide a difference', async (t) => {
  const { log, guard, tree, change } = await node(t);
  change(FORGED);
  const store = comparedStore(log.store, guard, { ...suspectOf(), keep: keepOnFullDisk });
  await store.compareWith(tree);
  await t.rejects(store.readStream(STREAM), LogDiffers);
  t.ok(guard.hasDiffered);
});

void test('a suspect that is as it was is forgotten', async (t) => {
  const { store, suspect, tree } = await node(t);
  suspect.keep({ stream: STREAM, revision: 1 });
  await store.compareWith(tree);
  t.equal(suspect.read(), undefined);
});

void test('what is told of the log by its order is compared, too', async (t) => {
  const { store, log } = await startedOn(t, FORGED);
  await t.rejects(store.readAll(), LogDiffers);
  const { position = 0n } = (await log.store.readStream(STREAM, { from: 1, limit: 1 }))[0] ?? {};
  t.equal((await store.readAll({ after: position, limit: 7 })).length, 7, 'the rest is as it was');
});

void test('a log that lost an event is noticed where it is read by its order', async (t) => {
  const last = 'DELETE FROM events WHERE position = (SELECT max(position) FROM events)';
  const { store, log } = await startedOn(t, last);
  const message = /^The log lacks position \d+,/;
  await t.rejects(store.readAll({ after: (await log.store.head()) - 3n }), { message });
});

void test('what was read before the read models were open is compared when they are', async (t) => {
  const { store, change, compare } = await node(t);
  change(FORGED);
  t.ok((await store.readStream(STREAM)).length > 1);
  await t.rejects(compare(), LogDiffers);
});

void test('events that the read models do not have yet are read, and by parts', async (t) => {
  const { store, log, runner, compare } = await node(t);
  await compare();
  const before = await store.readStream(STREAM);
  await log.store.append('new-1', newEvents(3), 'no-stream');
  t.equal((await store.readStream('new-1')).length, 3);
  const after = await log.store.head();
  t.equal((await store.readAll({ after: after - 4n })).length, 4);
  await runner.waitFor(after);
  t.equal((await store.readStream('new-1', { from: 1, limit: 1 })).length, 1);
  t.equal((await store.readStream('new-1', { from: 3 })).length, 0);
  t.equal((await store.readStream('none')).length, 0);
  t.strictSame(await store.readStream(STREAM, { from: 2, limit: 5 }), before.slice(2, 7));
});

void test('a member of a cluster that is behind is asked again', async (t) => {
  const { guard, log, tree } = await node(t);
  let asked = 0;
  const behind = new FaultyStore(log.store);
  behind.readStream = async (stream: string, options?: ReadStreamOptions) => {
    asked += 1;
    const events = await log.store.readStream(stream, options);
    return asked === 1 ? events.slice(0, 3) : events;
  };
  const store = comparedStore(behind, guard, suspectOf());
  await store.compareWith(tree);
  t.strictSame(await store.readStream(STREAM), await log.store.readStream(STREAM));
  t.equal(asked, 2);
});

void test('on a server, what is read is what the tree has', needsEventStoreServer, async (t) => {
  const { log, guard } = await node(t);
  const server = await openEventStoreServer(emptyLogUrl());
  t.teardown(() => server.close());
  await server.appendCopies(await log.store.readAll({ limit: 10_000 }));
  const { readModel, runner } = openNode(t, join(log.directory, 'of-server'), server);
  await runner.waitFor(await server.head());
  const store = comparedStore(server, guard, suspectOf());
  await store.compareWith(() => readModel.query(logTreeQueries));
  const all = await store.readAll({ limit: 10_000 });
  t.equal(all.length, (await log.store.readAll({ limit: 10_000 })).length);
  for (const stream of new Set(all.map((event) => event.stream))) {
    const events = await store.readStream(stream);
    t.strictSame(
      events,
      all.filter((event) => event.stream === stream),
    );
  }
  t.notOk(guard.hasDiffered);
});
