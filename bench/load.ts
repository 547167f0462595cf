/**
 * The whole service under mixed traffic of many accounts, for as long as is asked: a line for each interval, and
 * whether memory and descriptors grow. Then requests at three times the measured capacity, and how soon it
 * recovers. `node bench/load.ts [--minutes 4] [--accounts 12] [--clients 8] [--seed 1]`
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { PressledgerClient } from '../client/src/client.ts';
import { readLog } from '../test/support/invariants.ts';
import { seededRandom } from '../test/support/random.ts';
import { letter } from './documents.ts';
import { overload } from './load/overload.ts';
import { type Resources, resourcesOf } from './load/resources.ts';
import { type Account, runTraffic, type Seen } from './load/traffic.ts';
import { counted, inTemporaryDirectory, median, percentile, perSecond, print } from './measure.ts';
import { convertAll, type RunningService, startService } from './running-service.ts';

const INTERVALS = 20;
/** Between the second quarter and the last. */
const MAX_GROWTH = 1.15;
const CAPACITY_LETTERS = 300;
/** Longer than the minute that rate limits count. */
const OVERLOAD_SECONDS = 75;
/** The work that may wait: what comes on top is refused with 503. */
const MOST_WAITING_SECONDS = 5;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '4' },
    accounts: { type: 'string', default: '12' },
    clients: { type: 'string', default: '8' },
    seed: { type: 'string', default: '1' },
  },
});
const [minutes, count, clients, seed] = [
  values.minutes,
  values.accounts,
  values.clients,
  values.seed,
].map(Number) as [number, number, number, number];

const COLUMNS = [
  ['s', 6],
  ['calls/s', 8],
  ['PDFs/s', 7],
  ['p50 ms', 7],
  ['p95', 6],
  ['p99', 6],
  ['PDF p50', 8],
  ['p95', 6],
  ['p99', 6],
  ['node MiB', 9],
  ['Chrome', 7],
  ['fds', 5],
  ['disk', 6],
] as const;

const row = (cells: readonly string[]): string =>
  cells.map((cell, n) => cell.padStart(COLUMNS[n]?.[1] ?? 0)).join('');

const makesPdf = ({ kind }: Seen): boolean =>
  kind === 'letter' || kind === 'invoice' || kind === 'page with a script';

const percentiles = (times: readonly number[]): string[] =>
  [0.5, 0.95, 0.99].map((share) => percentile(times, share).toFixed(0));

function line(from: number, to: number, seen: readonly Seen[], used: Resources): string {
  const pdfs = seen.filter(makesPdf).map(({ ms }) => ms);
  const others = seen.filter((each) => !makesPdf(each)).map(({ ms }) => ms);
  const seconds = (to - from) / 1000;
  return row([
    (to / 1000).toFixed(0),
    (seen.length / seconds).toFixed(1),
    (pdfs.length / seconds).toFixed(1),
    ...percentiles(others),
    ...percentiles(pdfs),
    used.node.toFixed(0),
    used.chrome.toFixed(0),
    String(used.descriptors),
    used.disk.toFixed(0),
  ]);
}

function verdict(name: string, numbers: readonly number[]): void {
  const quarter = Math.ceil(numbers.length / 4);
  const early = median(numbers.slice(quarter, 2 * quarter));
  const late = median(numbers.slice(-quarter));
  const flat = late <= early * MAX_GROWTH ? 'flat' : 'GROWING';
  print(`${name}: second quarter ${early.toFixed(0)}, last ${late.toFixed(0)}: ${flat}`);
}

async function steady(
  service: RunningService,
  accounts: readonly Account[],
  dataDir: string,
): Promise<void> {
  const over = new AbortController();
  const all: Seen[] = [];
  let seen: Seen[] = [];
  const began = performance.now();
  const random = seededRandom(seed);
  const traffic = runTraffic(accounts, { clients, random, over: over.signal }, (each) => {
    seen.push(each);
    all.push(each);
  });
  print(row(COLUMNS.map(([name]) => name)));
  const used: Resources[] = [];
  const intervalMs = (minutes * 60_000) / INTERVALS;
  for (let interval = 1, from = 0; interval <= INTERVALS; interval += 1) {
    await pause(began + interval * intervalMs - performance.now());
    const now = performance.now() - began;
    const resources = resourcesOf(service.pid, dataDir);
    used.push(resources);
    print(line(from, now, seen, resources));
    seen = [];
    from = now;
  }
  over.abort();
  await traffic;
  print(`Calls: ${counted(all.map(({ kind }) => kind))}.`);
  print(`Outcomes: ${counted(all.map(({ outcome }) => outcome))}.`);
  verdict(
    'Memory of node, MiB',
    used.map(({ node }) => node),
  );
  verdict(
    'Memory of Chrome, MiB',
    used.map(({ chrome }) => chrome),
  );
  verdict(
    'Descriptors',
    used.map(({ descriptors }) => descriptors),
  );
}

/** An operator sets the limit by what the service can do: together, the accounts may ask for no more. */
async function flooded(directory: string, keys: readonly string[], capacity: number) {
  const perMinute = String(Math.max(1, Math.floor((capacity * 60) / keys.length)));
  const settings = {
    RATE_LIMIT_FREE: perMinute,
    RATE_LIMIT_STARTER: '1000000',
    MAX_QUEUED: String(Math.ceil(capacity * MOST_WAITING_SECONDS)),
  };
  const service = await startService(directory, settings, 'start', keys[0]);
  try {
    print(
      `Rate limit: ${perMinute} requests a minute for each of ${keys.length} accounts; MAX_QUEUED: ${settings.MAX_QUEUED}.`,
    );
    const calmKey = await service.accountKey('calm', 'starter');
    const calm = new PressledgerClient({ server: service.server, apiKey: calmKey });
    const unfinished = (): number => {
      const types = readLog(join(directory, 'data')).map(({ type }) => type);
      const countOf = (...of: string[]): number => types.filter((type) => of.includes(type)).length;
      return countOf('ConversionRequested') - countOf('ConversionCompleted', 'ConversionFailed');
    };
    const options = { capacity, seconds: OVERLOAD_SECONDS, unfinished };
    await overload(service, { keys, calm }, options);
  } finally {
    await service.stop();
  }
}

await inTemporaryDirectory(async (directory) => {
  const service = await startService(directory);
  const { server } = service;
  const keys: string[] = [];
  let capacity: number;
  try {
    while (keys.length < count) keys.push(await service.accountKey(`a${keys.length}`));
    const everybody = keys.map((apiKey) => new PressledgerClient({ server, apiKey, retries: 0 }));
    const accounts = everybody.map((client) => ({ client, ended: [] }));
    await steady(service, accounts, join(directory, 'data'));
    const letters = Array.from({ length: CAPACITY_LETTERS }, (_, n) => letter(n));
    capacity = await perSecond(CAPACITY_LETTERS, () => convertAll(everybody, letters, clients));
    print(`Capacity: ${capacity.toFixed(1)} letters a second.`);
  } finally {
    await service.stop();
  }
  await flooded(directory, keys, capacity);
});
