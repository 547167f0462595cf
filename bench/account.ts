/**
 * 64 clients that send commands to one account, each waiting for its durable answer, beside plain
 * better-sqlite3 that inserts the same rows, durable, 64 commands' rows to a transaction.
 *
 *   node bench/account.ts [commands per round]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ActorSystem } from '../src/actors/system.ts';
import { accountAggregate } from '../src/domain/account.ts';
import { createEventTables, INSERT_EVENT } from '../src/event-store/sqlite/append.ts';
import { SqliteEventStore } from '../src/event-store/sqlite/store.ts';
import { openEmbeddedDatabase } from '../src/sqlite/database.ts';
import { noSnapshots, OPEN, request, sentBy } from '../test/support/actors.ts';
import { accountId, sha256 } from '../test/support/samples.ts';

const CLIENTS = 64;
const ROUNDS = 7;
const commands = Number(process.argv[2] ?? 6_400);
const ID = accountId();

type Row = [number, string, number, string, string, string, string];

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const dir = mkdtempSync(join(tmpdir(), 'pressledger-bench-'));
const database = openEmbeddedDatabase(join(dir, 'store.db'));
const store = new SqliteEventStore(database);
const system = new ActorSystem({ store, snapshots: noSnapshots });
const plain = openEmbeddedDatabase(join(dir, 'plain.db'));
createEventTables(plain);
const insert = plain.db.prepare<Row>(INSERT_EVENT);
const written = database.db
  .prepare<[number], Row>(
    `SELECT position, stream, revision, id, type, data, metadata FROM events
     WHERE position > ? ORDER BY position`,
  )
  .raw();

/** Seconds in which the clients get `commands` answers. */
async function throughActor(from: number): Promise<number> {
  let next = from;
  const client = async (): Promise<void> => {
    while (next < from + commands) {
      const n = next;
      next += 1;
      await system.send(accountAggregate, ID, request(n, sha256(n)), sentBy(`request-${n}`));
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return (performance.now() - began) / 1000;
}

/** Seconds in which the same rows are inserted, two rows a command. */
function throughPlain(rows: readonly Row[]): number {
  const group = plain.db.transaction((some: readonly Row[]) => {
    for (const row of some) insert.run(...row);
  });
  const began = performance.now();
  for (let n = 0; n < rows.length; n += 2 * CLIENTS) {
    group.immediate(rows.slice(n, n + 2 * CLIENTS));
  }
  return (performance.now() - began) / 1000;
}

try {
  await system.send(accountAggregate, ID, { ...OPEN, credits: 1_000_000_000 }, sentBy('open'));
  const rounds: { readonly actor: number; readonly plain: number }[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const before = Number(await store.head());
    const actor = await throughActor(round * commands);
    const measured = { actor, plain: throughPlain(written.all(before)) };
    if (round > 0) rounds.push(measured);
  }
  const rate = (seconds: number): string => Math.round(commands / seconds).toLocaleString('en');
  const ratio = median(rounds.map((round) => round.plain / round.actor));
  process.stdout.write(
    `one account, ${CLIENTS} clients, ${commands} commands of 2 events a round, ${ROUNDS} rounds\n` +
      `  actor  ${rate(median(rounds.map((round) => round.actor)))} commands/s, durable\n` +
      `  plain  ${rate(median(rounds.map((round) => round.plain)))} commands' rows/s, durable\n` +
      `  ratio  ${ratio.toFixed(2)} (median of rounds)\n`,
  );
} finally {
  await system.close();
  await store.close();
  database.close();
  plain.close();
  rmSync(dir, { recursive: true });
}
