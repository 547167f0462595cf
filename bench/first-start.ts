/**
 * A start without read models: seconds and processor time until they have the whole log, on SQLite and, where
 * EVENTSTORE_TEST_URL names an event store server, on that server.
 * `node bench/first-start.ts [events, default 60000]`
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import { allProjections } from '../projections/all.ts';
import { openKurrentDb } from '../src/event-store/kurrentdb/store.ts';
import type { CopyableEventStore, EventStore } from '../src/event-store/port.ts';
import { SqliteEventStore } from '../src/event-store/sqlite/store.ts';
import { ReadModel } from '../src/read-model/database.ts';
import { ProjectionRunner } from '../src/read-model/runner.ts';
import { openEmbeddedDatabase } from '../src/sqlite/database.ts';
import { fillLog } from './made-up-log.ts';
import { inTemporaryDirectory, print } from './measure.ts';

const EVENTS = Number(process.argv[2] ?? 60_000);
const PAGE = 5_000;

async function measure(name: string, directory: string, store: EventStore): Promise<void> {
  const readModel = new ReadModel({
    directory: join(directory, name),
    projections: allProjections,
  });
  const runner = new ProjectionRunner({ store, readModel });
  const head = await store.head();
  const [began, spent] = [performance.now(), process.cpuUsage()];
  runner.start();
  while (runner.checkpoint() < head) await new Promise((resolve) => setTimeout(resolve, 20));
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(spent);
  const processor = (user + system) / 1_000_000;
  print(`${name.padEnd(6)} ${seconds.toFixed(1)} s, processor ${processor.toFixed(1)} s`);
  await runner.stop();
  readModel.close();
}

async function copy(from: EventStore, to: CopyableEventStore): Promise<void> {
  for (let after = 0n; ; ) {
    const events = await from.readAll({ after, limit: PAGE });
    const last = events.at(-1);
    if (last === undefined) return;
    await to.appendCopies(events);
    after = last.position;
  }
}

await inTemporaryDirectory(async (directory) => {
  const path = join(directory, 'log.db');
  print(`${fillLog(path, EVENTS)} events`);
  const database = openEmbeddedDatabase(path);
  const sqlite = new SqliteEventStore(database);
  await measure('SQLite', directory, sqlite);
  const { EVENTSTORE_TEST_URL: url } = process.env;
  if (url !== undefined) {
    const namespace = `bench${randomUUID().slice(0, 8)}`;
    const at = `${url}${url.includes('?') ? '&' : '?'}namespace=${namespace}`;
    const server = await openKurrentDb(at, { logger: pino({ level: 'silent' }) });
    await copy(sqlite, server);
    await measure('server', directory, server);
    await server.close();
  }
  await sqlite.close();
  database.close();
});
