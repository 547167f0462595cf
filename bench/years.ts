/**
 * What a log that has grown for years costs: bytes, starts, catch-up, rebuild, `verify` and backup, by the clock, by
 * processor time and in memory at the peak. All documents of the made-up conversions have expired, and the log has a
 * checkpoint for each 60 events. Bytes of real events and the costs of a document come from a second, small store,
 * whose documents Chrome has printed. Run it for two sizes, and compare: docs/retention.md has such figures.
 *
 *   node bench/years.ts [conversions, default 300000] [folder: keeps the store for the next run]
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { LAUNCHER } from '../test/support/place.ts';
import { letter } from './documents.ts';
import { type MadeStore, makeStore, SETTINGS } from './growth/store.ts';
import { inTemporaryDirectory, print } from './measure.ts';
import { ownProcessorTime } from './processor-time.ts';
import { benchPlace, convertAll, type RunningService, startService } from './running-service.ts';

const DOCUMENTS = 500;
const DOCUMENTS_AT_ONCE = 4;
const LOOK_MS = 20;
/** Processor time of a second in which a service does nothing. */
const QUIET_MS = 50;
const MINUTES_OF_A_YEAR = 365 * 24 * 60;

/** Seconds by the clock and of processor time, and MiB at the peak; of a process without its children. */
interface Cost {
  readonly wall: number;
  readonly cpu: number;
  readonly peak: number;
}

function memoryOf(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mib = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
  return { now: mib('VmRSS'), peak: mib('VmHWM') };
}

/** Looks at a process until the work is done: once a process has ended, nothing tells its peak. */
async function costOf<T>(pid: number, work: Promise<T>): Promise<Cost> {
  const [begun, before] = [performance.now(), ownProcessorTime(pid)];
  const seen = { cpu: 0, peak: 0 };
  const watched = { isDone: false };
  const done = work.finally(() => {
    watched.isDone = true;
  });
  done.catch(() => {});
  while (!watched.isDone) {
    try {
      seen.peak = Math.max(seen.peak, memoryOf(pid).peak || 0);
      seen.cpu = Math.max(seen.cpu, ownProcessorTime(pid) - before);
    } catch {
      // It has just ended.
    }
    await delay(LOOK_MS);
  }
  await done;
  return { wall: (performance.now() - begun) / 1000, cpu: seen.cpu / 1000, peak: seen.peak };
}

/** Runs a command of the product on a store. */
async function commandCost(directory: string, args: readonly string[]): Promise<Cost> {
  const { env } = benchPlace(directory, SETTINGS);
  const child = spawn(LAUNCHER, [...args, '--json'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const errors: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  const ended = new Promise<void>((resolve, reject) => {
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${args.join(' ')} ended with ${code}: ${errors.at(-1) ?? ''}`));
    });
  });
  return await costOf(child.pid ?? 0, ended);
}

const whole = (value: number): string => Math.round(value).toLocaleString('en');

function tell(name: string, { wall, cpu, peak }: Cost): void {
  const seconds = `${wall.toFixed(1)} s, of the processor ${cpu.toFixed(1)} s`;
  print(`${name.padEnd(44)} ${seconds}, at most ${whole(peak)} MiB`);
}

const tellBytes = (name: string, bytes: number, count: number): void =>
  print(`${name.padEnd(44)} ${whole(bytes)} bytes, ${whole(bytes / count)} a conversion`);

/** Bytes of each table with its indices. */
function tablesOf(file: string): ReadonlyMap<string, number> {
  const db = new Sqlite(file, { readonly: true });
  const rows = db
    .prepare<[], { name: string; bytes: number }>(
      `SELECT coalesce(s.tbl_name, d.name) AS name, sum(d.pgsize) AS bytes
       FROM dbstat d LEFT JOIN sqlite_schema s ON s.name = d.name WHERE d.aggregate = TRUE GROUP BY 1`,
    )
    .all();
  db.close();
  return new Map(rows.map(({ name, bytes }) => [name, bytes]));
}

const total = (tables: ReadonlyMap<string, number>, isWanted: (name: string) => boolean): number =>
  [...tables].reduce((sum, [name, bytes]) => sum + (isWanted(name) ? bytes : 0), 0);

function bytesBelow(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

const isTree = (name: string): boolean => name.startsWith('log_');

function tellSizes(data: string, conversions: number): void {
  const log = tablesOf(join(data, 'pressledger.db'));
  tellBytes(
    'event log',
    total(log, (name) => name !== 'blobs'),
    conversions,
  );
  const readModel = join(data, 'read-model');
  const current = readFileSync(join(readModel, 'CURRENT'), 'utf8').trim();
  const tables = tablesOf(join(readModel, current));
  tellBytes('tree of hashes', total(tables, isTree), conversions);
  tellBytes(
    'read models',
    total(tables, (name) => !isTree(name)),
    conversions,
  );
  const largest = [...tables].toSorted(([, a], [, b]) => b - a).slice(0, 6);
  print(`  the largest: ${largest.map(([name, bytes]) => `${name} ${whole(bytes)}`).join(', ')}`);
}

function tellCheckpoints(data: string): void {
  const db = new Sqlite(join(data, 'pressledger.db'), { readonly: true });
  const {
    events = 0,
    checkpoints = 0,
    bytes = 0,
  } = db
    .prepare<[], { events: number; checkpoints: number; bytes: number }>(
      `SELECT (SELECT max(position) FROM events) AS events, count(*) AS checkpoints,
           sum(length(data) + length(metadata) + length(id) + length(stream) + length(type)) AS bytes
         FROM events WHERE stream = 'pressledger-log' AND type = 'CheckpointSigned'`,
    )
    .get() ?? {};
  db.close();
  const year = (bytes / checkpoints) * MINUTES_OF_A_YEAR;
  print(
    `${whole(events)} events, ${whole(checkpoints)} checkpoints of ${whole(bytes / checkpoints)} bytes: ` +
      `one in each minute of a year would take ${whole(year)} bytes`,
  );
}

/** A service that has started looks for damage, and for documents that no event names. */
async function untilQuiet(pid: number): Promise<void> {
  for (let before = ownProcessorTime(pid), isQuiet = false; !isQuiet; ) {
    await delay(1_000);
    const now = ownProcessorTime(pid);
    isQuiet = now - before < QUIET_MS;
    before = now;
  }
}

/** Its reads wait until the read models have caught up. */
async function untilCaughtUp({ server, apiKey }: RunningService): Promise<void> {
  for (;;) {
    const answer = await fetch(`${server}/api/v1/account/`, { headers: { 'X-API-Key': apiKey } });
    await answer.arrayBuffer();
    if (answer.ok) return;
    if (answer.status !== 503) throw new Error(`The account answered ${answer.status}.`);
    await delay(LOOK_MS);
  }
}

async function tellStart(name: string, { directory, apiKey }: MadeStore): Promise<void> {
  const begun = performance.now();
  const service = await startService(directory, SETTINGS, 'start', apiKey);
  const ready = (performance.now() - begun) / 1000;
  print(`${`${name}: until ready`.padEnd(44)} ${ready.toFixed(1)} s`);
  tell('  until reads are answered', await costOf(service.pid, untilCaughtUp(service)));
  tell('  until quiet', await costOf(service.pid, untilQuiet(service.pid)));
  print(`${'  memory at rest'.padEnd(44)} ${whole(memoryOf(service.pid).now)} MiB`);
  await service.stop();
}

async function tellCommand(directory: string, ...args: string[]) {
  const cost = await commandCost(directory, args);
  const name = args.map((arg) => (arg.startsWith('/') ? 'PLACE' : arg)).join(' ');
  tell(name, cost);
  return cost;
}

async function measureLog(folder: string, conversions: number): Promise<void> {
  const store = await makeStore(folder, conversions, { allExpired: true });
  const { directory } = store;
  const data = join(directory, 'data');
  print(`${whole(conversions)} conversions`);
  tellCheckpoints(data);
  tellSizes(data, conversions);
  await tellStart('start', store);
  await tellCommand(directory, 'verify');
  const place = join(directory, 'backup');
  rmSync(place, { recursive: true, force: true });
  await tellCommand(directory, 'backup', place);
  await tellCommand(directory, 'backup', place);
  tellBytes('the backup', bytesBelow(place), conversions);
  await tellCommand(directory, 'backup', 'verify', place);
  rmSync(place, { recursive: true });
  await tellCommand(directory, 'projections', 'rebuild');
  rmSync(join(data, 'read-model'), { recursive: true });
  await tellStart('start without read models', store);
}

/** What real events take, and what each document adds. */
async function measureDocuments(directory: string): Promise<void> {
  const service = await startService(directory, SETTINGS);
  const documents = Array.from({ length: DOCUMENTS }, (_, number) => letter(number));
  await convertAll([await service.account('documents')], documents, DOCUMENTS_AT_ONCE);
  await service.stop();
  print(`\n${whole(DOCUMENTS)} conversions by Chrome, with their documents`);
  const data = join(directory, 'data');
  tellSizes(data, DOCUMENTS);
  const requests = total(tablesOf(join(data, 'pressledger.db')), (name) => name === 'blobs');
  tellBytes('documents', requests + bytesBelow(join(data, 'blobs')), DOCUMENTS);
  const without = await tellCommand(directory, 'verify');
  const checked = await tellCommand(directory, 'verify', '--documents');
  const place = join(directory, 'backup');
  await tellCommand(directory, 'backup', place);
  tellBytes('the backup', bytesBelow(place), DOCUMENTS);
  const each = ((checked.cpu - without.cpu) / DOCUMENTS) * 1000;
  print(
    `verify --documents adds ${each.toFixed(1)} ms of the processor for each conversion's documents`,
  );
}

async function measure(folder: string, conversions: number): Promise<void> {
  await measureLog(folder, conversions);
  const documents = join(folder, 'documents');
  rmSync(documents, { recursive: true, force: true });
  await measureDocuments(documents);
}

const [, , wanted = '300000', named] = process.argv;
if (named === undefined) await inTemporaryDirectory((folder) => measure(folder, Number(wanted)));
else await measure(named, Number(wanted));
