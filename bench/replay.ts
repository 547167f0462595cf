/**
 * Replay: events a second of a rebuild into all read models, beside plain better-sqlite3 in the same
 * run, which reads and parses the same events and makes
 * - "same rows": the very same writes to the same tables, every statement written out by hand;
 * - "one row": a single insert per event, into a table with one unique index.
 *
 *   node bench/replay.ts [events, default 200000]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stdout } from 'node:process';
import { allProjections } from '../projections/all.ts';
import { openEmbeddedDatabase } from '../src/sqlite/database.ts';
import { SqliteEventStore } from '../src/event-store/sqlite/store.ts';
import { compareGenerations } from '../test/support/compare-generations.ts';
import { rebuildReadModel } from '../src/read-model/rebuild.ts';
import { fillLog } from './made-up-log.ts';
import { copyOneRow, replayByHand } from './replay-plain.ts';

const ROUNDS = 3;

const directory = mkdtempSync(join(tmpdir(), 'pressledger-bench-'));
const logPath = join(directory, 'store.db');

async function rebuild(target: string): Promise<void> {
  const database = openEmbeddedDatabase(logPath);
  const store = new SqliteEventStore(database);
  await rebuildReadModel({
    readModel: { directory: target, projections: allProjections },
    store,
  });
  await store.close();
  database.close();
}

/** Events a second, by the clock and by the processor time that this process has used. */
interface Rate {
  readonly wall: number;
  readonly cpu: number;
}

async function rateOf(events: number, work: () => void | Promise<void>): Promise<Rate> {
  const [start, used] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(used);
  const wall = Math.round((events * 1000) / (performance.now() - start));
  return { wall, cpu: Math.round((events * 1e6) / (user + system)) };
}

function median(rates: readonly Rate[], of: keyof Rate): number {
  const sorted = rates.map((rate) => rate[of]).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

try {
  const wanted = Number(process.argv[2] ?? 200_000);
  const events = fillLog(logPath, wanted);
  const [ours, sameRows, oneRow]: [Rate[], Rate[], Rate[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const [target, plain, copy] = ['ours', 'plain', 'copy'].map((each) =>
      join(directory, `${each}-${round}`),
    ) as [string, string, string];
    ours.push(await rateOf(events, () => rebuild(target)));
    sameRows.push(await rateOf(events, () => replayByHand(logPath, plain)));
    oneRow.push(await rateOf(events, () => copyOneRow(logPath, copy)));
    if (round === 0) {
      const differences = compareGenerations(join(target, 'g1.db'), plain, allProjections);
      if (differences.length > 0) throw new Error(`Not the same rows: ${differences[0]}`);
    }
  }
  const column = (rates: readonly Rate[], of: keyof Rate): string =>
    `${median(rates, of).toLocaleString('en').padStart(9)} a second, ratio ` +
    (median(ours, of) / median(rates, of)).toFixed(2);
  const line = (name: string, rates: readonly Rate[]): string =>
    `${name.padEnd(34)} ${column(rates, 'wall')} | by CPU time ${column(rates, 'cpu')}\n`;
  stdout.write(`replay of ${events.toLocaleString('en')} events, median of ${ROUNDS} rounds\n`);
  stdout.write(line('rebuild into all read models', ours));
  stdout.write(line('plain better-sqlite3, same rows', sameRows));
  stdout.write(line('plain better-sqlite3, one row each', oneRow));
} finally {
  rmSync(directory, { recursive: true });
}
