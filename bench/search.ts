/**
 * A search among the conversions of one account beside a page of their list, in one service, asked in turn over HTTP: the
 * first search, which opens all names, and those after it. While the first one is under way another client asks for the
 * account, which shows how long others wait.
 *
 *   node bench/search.ts [conversions, default 100000]
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileKeyring } from '../src/documents/keys/file-records.ts';
import { loadMasterKey } from '../src/documents/keys/master-key.ts';
import { createVault } from '../src/documents/keys/vault.ts';
import type { DomainEvent } from '../src/domain/events.ts';
import { openEmbeddedDatabase } from '../src/sqlite/database.ts';
import { completion, request, type Step, start } from '../test/support/history.ts';
import { LAUNCHER } from '../test/support/place.ts';
import { accountId } from '../test/support/samples.ts';
import { appendSteps } from './made-up-log.ts';
import { inTemporaryDirectory, median, percentile, print } from './measure.ts';
import { benchPlace, type RunningService, startService } from './running-service.ts';

const SETTINGS = {
  RETENTION_SECONDS: '3153600000',
  MAX_ACCOUNT_STORED_BYTES: String(2 ** 50),
};
const ROUNDS = 7;
const REQUESTS = 60;
const CITIES = ['Łódź', 'Zürich', 'Köln', 'Paris', 'Oslo', 'Malmö', 'Brno', 'Graz'];

/** Texts as callers give them: some words that all have, some that few have, one that is its own. */
const textsOf = (n: number) => ({
  filename: `Invoice ${n} ${CITIES[n % CITIES.length]}.pdf`,
  reference: `Order 2026-${(n * 7_919) % 1_000_000}`,
  tags: JSON.stringify({ customer: `Customer ${n % 5_000}`, month: `2026-${1 + (n % 12)}` }),
});

type Seal = (text: string) => Promise<string>;

/** Each conversion with its names, sealed; every second one is of a page with a title. */
async function namedSteps(count: number, owner: string, seal: Seal): Promise<readonly Step[]> {
  const steps: Step[] = [];
  for (let n = 1; n <= count; n += 1) {
    const entries = Object.entries(textsOf(n)).map(async ([name, text]) => [
      name,
      await seal(text),
    ]);
    const texts = Object.fromEntries(await Promise.all(entries)) as Record<string, string>;
    const title = n % 2 === 0 ? { title: await seal(`Statement of ${n}`) } : {};
    const more = { ConversionRequested: texts, ConversionCompleted: title };
    for (const { stream, events } of [request(n, 1), start(n, 1), completion(n, 1)]) {
      const owned = events(0n).map(({ type, data }) => {
        const added = type in more ? more[type as keyof typeof more] : {};
        return { type, data: { ...data, ...added, accountId: owner } } as DomainEvent;
      });
      steps.push({ stream: stream.replace(accountId(1), owner), events: () => owned });
    }
  }
  return steps;
}

async function fill(directory: string, count: number, owner: string): Promise<void> {
  const data = join(directory, 'data');
  const vault = createVault(fileKeyring(join(data, 'keyring'), loadMasterKey(data, undefined)));
  const steps = await namedSteps(count, owner, (text) => vault.seal(owner, text));
  const database = openEmbeddedDatabase(join(data, 'pressledger.db'));
  appendSteps(database, steps);
  database.close();
  const { env } = benchPlace(directory, SETTINGS);
  execFileSync(LAUNCHER, ['projections', 'rebuild'], { env });
}

const memoryOf = ({ pid }: RunningService): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** Processor time of the service, all its threads together, in milliseconds. */
function cpuOf({ pid }: RunningService): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  // Of user and kernel, in hundredths of a second.
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

async function ask({ server, apiKey }: RunningService, path: string) {
  const begun = performance.now();
  const answer = await fetch(`${server}/api/v1${path}`, { headers: { 'X-API-Key': apiKey } });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  return { ms: performance.now() - begun, total: Number(answer.headers.get('X-Total-Count')) };
}

/** Milliseconds that a small request took each time, until `done`. */
async function waitsOf(service: RunningService, done: Promise<unknown>): Promise<number[]> {
  const waits: number[] = [];
  const state = { isOver: false };
  void done.finally(() => {
    state.isOver = true;
  });
  while (!state.isOver) {
    waits.push((await ask(service, '/account/')).ms);
    await delay(1);
  }
  return waits;
}

async function measure(service: RunningService, count: number): Promise<void> {
  for (let n = 0; n < 200; n += 1) await ask(service, '/conversions/');
  const quiet: number[] = [];
  for (let n = 0; n < 200; n += 1) quiet.push((await ask(service, '/account/')).ms);
  const before = memoryOf(service);
  const cpuBefore = cpuOf(service);
  const first = ask(service, '/conversions/?q=invoice');
  const waits = await waitsOf(service, first);
  const { ms: firstMs } = await first;
  const cpu = cpuOf(service) - cpuBefore;
  print(
    `first search: ${Math.round(firstMs)} ms of ${count.toLocaleString('en')}, ${cpu} ms of processor time, ` +
      `with ${waits.length} other requests`,
  );
  const shares = [0.5, 0.99, 1].map((share) =>
    [quiet, waits].map((each) => percentile(each, share).toFixed(1)).join(' → '),
  );
  print(`others meanwhile, median, 99 %, longest: ${shares.join(', ')} ms`);
  print(`memory: ${Math.round(before)} → ${Math.round(memoryOf(service))} MiB`);
  const lists = {
    'a page of the list': () => '/conversions/?',
    'a word of one': (n: number) => `/conversions/?q=${1 + ((n * 7_919) % count)}`,
    'two words of few': (n: number) => `/conversions/?q=customer ${n % 5_000} lodz`,
    'a word of all': () => '/conversions/?q=inv',
    'a digit of very many': () => '/conversions/?q=1',
    'a tag': (n: number) => `/conversions/?tag=customer:Customer ${n % 5_000}`,
    'a source and a status': () => '/conversions/?source=html&status=completed',
    'beginning of ids': () => '/conversions/?q=conv_0',
    'late page of a word of all': () => `/conversions/?q=inv&page=${Math.floor(count / 40)}`,
  };
  const times = new Map(Object.keys(lists).map((name) => [name, [] as number[]]));
  const cpus = new Map<string, number>();
  const totals = new Map<string, number>();
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [name, pathOf] of Object.entries(lists)) {
      const each: number[] = [];
      const cpuOfAll = cpuOf(service);
      for (let n = 0; n < REQUESTS; n += 1) {
        const { ms, total } = await ask(service, encodeURI(pathOf(round * REQUESTS + n + 99)));
        each.push(ms);
        totals.set(name, total);
      }
      // The first round warms up.
      if (round < 0) continue;
      times.get(name)?.push(median(each));
      cpus.set(name, (cpus.get(name) ?? 0) + cpuOf(service) - cpuOfAll);
    }
  }
  const figuresOf = (name: string) => ({
    ms: median(times.get(name) ?? []),
    cpu: (cpus.get(name) ?? 0) / (ROUNDS * REQUESTS),
  });
  const list = figuresOf('a page of the list');
  print('                             time: ms, ratio; processor time: ms, ratio');
  for (const name of times.keys()) {
    const each = figuresOf(name);
    const shown = [each.ms, each.ms / list.ms, each.cpu, each.cpu / list.cpu].map((figure) =>
      figure.toFixed(2).padStart(7),
    );
    const found = (totals.get(name) ?? 0).toLocaleString('en');
    print(`${name.padEnd(27)} ${shown.join('')}  (finds ${found})`);
  }
}

const count = Number(process.argv[2] ?? 100_000);
await inTemporaryDirectory(async (directory) => {
  const made = await startService(directory, SETTINGS);
  const { id: owner } = await made.client.account();
  await made.stop();
  await fill(directory, count, owner);
  const service = await startService(directory, SETTINGS, 'start', made.apiKey);
  try {
    await measure(service, count);
  } finally {
    await service.stop();
  }
});
