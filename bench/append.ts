/**
 * Durable appends a second, beside plain better-sqlite3: the same rows into the same table with the
 * same indexes, triggers and settings (WAL, synchronous=FULL), by one prepared INSERT, as many to a
 * transaction as there are writers, its JSON made beforehand. Rounds of both sides alternate on two
 * growing files; printed are medians, and the median of the rounds' ratios.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { NewEvent } from '../src/event-store/port.ts';
import { createEventTables, INSERT_EVENT } from '../src/event-store/sqlite/append.ts';
import { SqliteEventStore } from '../src/event-store/sqlite/store.ts';
import { openEmbeddedDatabase } from '../src/sqlite/database.ts';
import { inTemporaryDirectory, median, perSecond, print } from './measure.ts';

const ROUNDS = 15;

interface Row {
  readonly stream: string;
  readonly revision: number;
  readonly event: NewEvent;
  readonly data: string;
  readonly metadata: string;
}

/** `count` events, one after another to each of `writers` streams. */
function makeRows(count: number, writers: number, round: number): Row[] {
  return Array.from({ length: count }, (_, n) => {
    const conversionId = `conv_${String(n % writers).padStart(4, '0')}${'0'.repeat(22)}`;
    const accountId = `acct_${'0'.repeat(26)}`;
    const time = 1_790_000_000_000 + n;
    const event = {
      id: randomUUID(),
      type: 'ConversionStarted',
      data: { accountId, conversionId, renderer: 'node-1', attempt: 1, startedAt: time },
      metadata: {
        correlationId: conversionId,
        causationId: conversionId,
        actor: { kind: 'renderer', id: 'node-1' },
        time,
        schemaVersion: 1,
      },
    };
    return {
      stream: `conversion-${round}-${conversionId}`,
      revision: Math.floor(n / writers),
      event,
      data: JSON.stringify(event.data),
      metadata: JSON.stringify(event.metadata),
    };
  });
}

async function appendAll(store: SqliteEventStore, rows: readonly Row[], writers: number) {
  const write = async (writer: number): Promise<void> => {
    for (let n = writer; n < rows.length; n += writers) {
      const row = rows[n];
      if (row === undefined) return;
      const expected = row.revision === 0 ? 'no-stream' : row.revision - 1;
      await store.append(row.stream, [row.event], expected);
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
}

function plainInserts(path: string) {
  const database = openEmbeddedDatabase(path);
  createEventTables(database);
  const insert = database.db.prepare(INSERT_EVENT);
  const begin = database.db.prepare('BEGIN IMMEDIATE');
  const commit = database.db.prepare('COMMIT');
  let position = 0;
  const insertAll = (rows: readonly Row[], together: number): void => {
    for (let from = 0; from < rows.length; from += together) {
      begin.run();
      for (const { stream, revision, event, data, metadata } of rows.slice(from, from + together)) {
        position += 1;
        insert.run(position, stream, revision, event.id, event.type, data, metadata);
      }
      commit.run();
    }
  };
  return { insertAll, close: () => database.close() };
}

async function compare(dir: string, writers: number, count: number): Promise<void> {
  const database = openEmbeddedDatabase(join(dir, `store-${writers}.db`));
  const store = new SqliteEventStore(database);
  const plain = plainInserts(join(dir, `plain-${writers}.db`));
  const speeds: { readonly ours: number; readonly theirs: number }[] = [];
  for (let round = -2; round < ROUNDS; round += 1) {
    const rows = makeRows(count, writers, round);
    const runOurs = () => perSecond(count, () => appendAll(store, rows, writers));
    const runTheirs = () => perSecond(count, () => plain.insertAll(rows, writers));
    const before = round % 2 === 0 ? await runTheirs() : undefined;
    const ours = await runOurs();
    const theirs = before ?? (await runTheirs());
    // The first rounds warm up.
    if (round >= 0) speeds.push({ ours, theirs });
  }
  await store.close();
  database.close();
  plain.close();
  const ratio = median(speeds.map(({ ours, theirs }) => ours / theirs));
  print(
    `${String(writers).padStart(2)} writers  ` +
      `appends ${median(speeds.map(({ ours }) => ours))
        .toFixed(0)
        .padStart(6)}/s  ` +
      `plain inserts ${median(speeds.map(({ theirs }) => theirs))
        .toFixed(0)
        .padStart(6)}/s  ` +
      `ratio ${ratio.toFixed(2)}`,
  );
}

await inTemporaryDirectory(async (dir) => {
  await compare(dir, 1, 1_000);
  await compare(dir, 64, 6_400);
});
