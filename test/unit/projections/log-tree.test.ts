import { join } from 'node:path';
import Database from 'better-sqlite3';
import { test } from 'tap';
import { checkpointQueries } from '../../../projections/checkpoints.ts';
import { logTree, logTreeQueries } from '../../../projections/log-tree.ts';
import type { EventOf } from '../../../src/domain/events.ts';
import type { EventStore, RecordedEvent } from '../../../src/event-store/port.ts';
import { canonicalEvent } from '../../../src/transparency-log/canonical-event.ts';
import { Frontier, leafHash, rootHash } from '../../../src/transparency-log/merkle-tree.ts';
import {
  emptyLogUrl,
  needsEventStoreServer,
  openEventStoreServer,
} from '../../support/event-store-server.ts';
import { newEvents } from '../../support/events.ts';
import { history } from '../../support/history.ts';
import { openLog, write } from '../../support/log.ts';
import { openNode, openProjected } from '../../support/projected.ts';
import { NOW, ORIGIN } from '../../support/samples.ts';

/** The tree by its definition, of events as the store gives them. */
function frontierOf(events: readonly RecordedEvent[]): Frontier {
  const frontier = new Frontier();
  for (const event of events) frontier.add(leafHash(canonicalEvent(event)));
  return frontier;
}

/** Appends each event again, as an import of the log does. */
async function copy(from: EventStore, to: EventStore): Promise<void> {
  for (const event of await from.readAll({ limit: 100_000 })) {
    const { stream, revision, id, type, data, metadata } = event;
    const expected = revision === 0 ? 'no-stream' : revision - 1;
    await to.append(stream, [{ id, type, data, metadata }], expected);
  }
}

const eventAt = (n: number): RecordedEvent => ({
  id: `id ${n}`,
  type: 'Happened',
  data: { n },
  metadata: {},
  stream: 's',
  revision: n,
  // Beyond what a number holds, as a server's positions can be.
  position: 2n ** 60n + BigInt(n) * 3n,
});

void test('every event is a leaf as it is stored, of an unknown type or version too', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  await write(log, history(2, 60));
  const { id, type, data, metadata } = eventAt(1);
  await log.store.append('foreign', [{ id, type, data, metadata }], 'no-stream');
  await runner.waitFor(await log.store.head());
  const events = await log.store.readAll({ limit: 100_000 });
  const { hashes, indexAt, positionOf } = readModel.query(logTreeQueries);
  t.equal(hashes.size, events.length);
  t.ok(rootHash(hashes, events.length).equals(frontierOf(events).root()));
  t.ok(rootHash(hashes, 100).equals(frontierOf(events.slice(0, 100)).root()));
  for (const [index, { position }] of events.entries()) {
    if (indexAt(position) !== index || positionOf(index) !== position) t.fail(`${position}`);
  }
  t.equal(indexAt(0n), undefined);
  t.equal(indexAt(BigInt(events.length + 1)), undefined);
});

void test('whole subtrees are kept, and positions that a number cannot hold', (t) => {
  const db = new Database(':memory:');
  t.teardown(() => db.close());
  db.exec(logTree.ddl);
  const take = logTree.everyEvent?.(db);
  const count = 65_536 + 300;
  const frontier = new Frontier();
  const rootsAt = new Map<number, Buffer>();
  db.transaction(() => {
    for (let n = 0; n < count; n += 1) {
      take?.(eventAt(n));
      frontier.add(leafHash(canonicalEvent(eventAt(n))));
      if ([256, 65_536, count].includes(n + 1)) rootsAt.set(n + 1, frontier.root());
    }
  })();
  const { hashes, indexAt } = logTreeQueries(db);
  for (const [size, root] of rootsAt) t.ok(rootHash(hashes, size).equals(root), `${size}`);
  t.strictSame(hashes.subtree(2, 0), rootsAt.get(65_536));
  t.ok(hashes.subtree(1, 256));
  t.equal(hashes.subtree(1, 257), undefined);
  t.equal(indexAt(eventAt(300).position), 300);
  t.equal(indexAt(eventAt(300).position + 1n), undefined);
  t.end();
});

void test('two processes that share a read model number the events once', async (t) => {
  const { log, directory, readModel, runner } = openProjected(t);
  const other = openNode(t, directory, log.openAgain());
  for (let n = 0; n < 40; n += 1) {
    const { position } = await log.store.append(`s${n}`, newEvents(20), 'no-stream');
    await Promise.all([runner.waitFor(position), other.runner.waitFor(position)]);
  }
  const events = await log.store.readAll({ limit: 100_000 });
  for (const each of [readModel, other.readModel]) {
    const { hashes } = each.query(logTreeQueries);
    t.equal(hashes.size, 800);
    t.ok(rootHash(hashes, 800).equals(frontierOf(events).root()));
  }
});

async function sameTree(t: Parameters<typeof openLog>[0], target: EventStore): Promise<void> {
  const { log, readModel, runner } = openProjected(t);
  await write(log, history(2, 40));
  await log.append(
    'pressledger-log',
    { type: 'LogOpened', data: { origin: ORIGIN } },
    { type: 'LogRenamed', data: { origin: 'pdf.example.com/tlog' } },
  );
  await copy(log.store, target);
  const copied = openNode(t, join(log.directory, 'copied'), target);
  await runner.waitFor(await log.store.head());
  await copied.runner.waitFor(await target.head());
  const [one, two] = [readModel, copied.readModel].map((each) => each.query(logTreeQueries).hashes);
  const size = one?.size ?? 0;
  t.ok(size > 100);
  t.equal(two?.size, size);
  if (one && two) t.ok(rootHash(one, size).equals(rootHash(two, size)));
}

void test('a log that is copied to another store has the same tree', async (t) => {
  await sameTree(t, openLog(t, 'copy').store);
});

void test('… also on an EventStoreDB server', needsEventStoreServer, async (t) => {
  const store = await openEventStoreServer(emptyLogUrl());
  t.teardown(() => store.close());
  await sameTree(t, store);
});

function keyAdded(generation: number): EventOf<'SigningKeyAdded'> {
  const verifierKey = `${ORIGIN}+0000000${generation}+AQ${'A'.repeat(42)}`;
  return { type: 'SigningKeyAdded', data: { generation, verifierKey, addedAt: NOW } };
}

void test('checkpoints are listed with what witnesses and timestamps added', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  const root = Buffer.alloc(32, 7).toString('base64');
  const signed = (size: number) =>
    ({ type: 'CheckpointSigned', data: { size, root, note: `${size}\n`, signedAt: NOW } }) as const;
  const position = await log.append(
    'pressledger-log',
    keyAdded(1),
    { type: 'LogRenamed', data: { origin: 'n' } },
    keyAdded(2),
    keyAdded(3),
    signed(2),
    signed(5),
    keyAdded(4),
    signed(9),
    {
      type: 'CheckpointCosigned',
      data: { size: 5, signatures: ['— w AAAA', '— x AAAA'], at: NOW },
    },
    { type: 'CheckpointTimestamped', data: { size: 2, token: 'AAEC', at: NOW } },
  );
  await runner.waitFor(position);
  const queries = readModel.query(checkpointQueries);
  const base = { root: Buffer.alloc(32, 7), signedAt: NOW };
  const second = { size: 5, note: '5\n— w AAAA\n— x AAAA\n', ...base };
  t.strictSame(queries.newest(), { size: 9, note: '9\n', ...base });
  t.strictSame(queries.covering(3), second);
  t.strictSame(queries.covering(5), second);
  t.equal(queries.covering(10), undefined);
  t.strictSame(queries.all(0, 2), [
    { size: 2, note: '2\n', ...base, timestamp: Buffer.from([0, 1, 2]) },
    second,
  ]);
  const rowsOf = (offset: number, limit: number) =>
    queries.page({ offset, limit }).rows.map(({ size, timestampedAt }) => [size, timestampedAt]);
  t.equal(queries.page({ offset: 0, limit: 1 }).total, 3);
  t.strictSame(rowsOf(0, 2), [
    [9, null],
    [5, null],
  ]);
  t.strictSame(rowsOf(2, 2), [[2, NOW]]);
  t.strictSame(
    queries.keys().map(({ generation }) => generation),
    [4, 3],
  );
});
