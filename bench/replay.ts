/**
 * Replay: events a second of a rebuild into all read models, beside plain better-sqlite3 in the same
 * run, which reads and parses the same events and makes
 * - "same rows": the very same writes to the same tables, every statement written out by hand;
 * - "one row": a single insert per event, into a table with one unique index.
 * Each run is a process of its own, whose memory at its highest is printed, also for a log of a tenth.
 *
 *   node bench/replay.ts [events, default 200000] [rounds, default 3]
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allProjections } from '../projections/all.ts';
import { SqliteEventStore } from '../src/event-store/sqlite/store.ts';
import { rebuildReadModel } from '../src/read-model/rebuild.ts';
import { openEmbeddedDatabase } from '../src/sqlite/database.ts';
import { compareGenerations } from '../test/support/compare-generations.ts';
import { fillLog } from './made-up-log.ts';
import { inTemporaryDirectory, median, print } from './measure.ts';
import { copyOneRow, replayByHand } from './replay-plain.ts';

async function rebuild(logPath: string, target: string): Promise<void> {
  const database = openEmbeddedDatabase(logPath);
  const store = new SqliteEventStore(database);
  await rebuildReadModel({
    readModel: { directory: target, projections: allProjections },
    store,
  });
  await store.close();
  database.close();
}

const WORKS = { ours: rebuild, 'same rows': replayByHand, 'one row': copyOneRow } as const;
type Work = keyof typeof WORKS;

/** Seconds by the clock and of processor time, and MiB of memory at the highest. */
interface Cost {
  readonly wall: number;
  readonly cpu: number;
  readonly peak: number;
}

async function measure(work: Work, logPath: string, target: string): Promise<Cost> {
  const [start, used] = [performance.now(), process.cpuUsage()];
  await WORKS[work](logPath, target);
  const { user, system } = process.cpuUsage(used);
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  const wall = (performance.now() - start) / 1000;
  return { wall, cpu: (user + system) / 1e6, peak: Math.round(Number(kib) / 1024) };
}

/** Runs one work in a process of its own. */
function run(work: Work, logPath: string, target: string): Cost {
  const args = [import.meta.filename, 'run', work, logPath, target];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Cost;
}

async function compare(wanted: number, rounds: number): Promise<void> {
  await inTemporaryDirectory(async (dir) => {
    const [log, small] = [join(dir, 'log.db'), join(dir, 'small.db')];
    const events = fillLog(log, wanted);
    const tenth = fillLog(small, wanted / 10);
    const costs: Record<Work, Cost[]> = { ours: [], 'same rows': [], 'one row': [] };
    for (let round = 0; round < rounds; round += 1) {
      const path = (work: Work): string => join(dir, `${work}-${round}`);
      for (const work of Object.keys(WORKS) as Work[]) {
        costs[work].push(run(work, log, path(work)));
      }
      if (round > 0) continue;
      const [made, plain] = [join(path('ours'), 'g1.db'), path('same rows')];
      const [difference] = compareGenerations(made, plain, allProjections);
      if (difference !== undefined) throw new Error(`Not the same rows: ${difference}`);
    }
    const of = (work: Work, what: keyof Cost): number =>
      median(costs[work].map((cost) => cost[what]));
    const line = (name: string, work: Work): void => {
      const [wall, cpu] = (['wall', 'cpu'] as const).map((what) => {
        const rate = Math.round(events / of(work, what));
        const ratio = (of(work, what) / of('ours', what)).toFixed(2);
        return `${rate.toLocaleString('en').padStart(9)} a second, ratio ${ratio}`;
      });
      print(`${name.padEnd(34)} ${wall} | by CPU time ${cpu} | at most ${of(work, 'peak')} MiB`);
    };
    print(`replay of ${events.toLocaleString('en')} events, median of ${rounds} rounds`);
    line('rebuild into all read models', 'ours');
    line('plain better-sqlite3, same rows', 'same rows');
    line('plain better-sqlite3, one row each', 'one row');
    const { peak } = run('ours', small, join(dir, 'small'));
    print(`rebuild of ${tenth.toLocaleString('en')} events: at most ${peak} MiB`);
  });
}

const [, , first, ...rest] = process.argv;
if (first === 'run') {
  const [work, logPath, target] = rest as [Work, string, string];
  print(JSON.stringify(await measure(work, logPath, target)));
} else {
  await compare(Number(first ?? 200_000), Number(rest[0] ?? 3));
}
