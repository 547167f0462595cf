/**
 * The cost of a conversion in a store of a million beside one of ten thousand, by the processor time of the
 * service's process and by the clock: accepting, polling, lists, downloads, the start, memory. One account has a
 * tenth of all conversions, and every request is its own, or an operator's. Both services run at the same time and
 * are asked in turn. Neither renders meanwhile: this process holds the lease of their renderers. Each run leaves
 * conversions and events of downloads in both stores: those that are kept compare after equally many runs.
 *
 *   node bench/growth.ts [conversions, default 1000000] [folder: keeps the stores for the next run]
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MAX_FILTERED_EVENTS } from '../projections/history.ts';
import { FileLease } from '../src/leader/file-lease.ts';
import { NOW } from '../test/support/samples.ts';
import { letter } from './documents.ts';
import { completedOf, endAll, type MadeStore, makeStore, SETTINGS } from './growth/store.ts';
import { inTemporaryDirectory, median, print } from './measure.ts';
import { ownProcessorTime, processorTime } from './processor-time.ts';
import { type RunningService, startService } from './running-service.ts';

const SMALL = 10_000;
const ROUNDS = 7;
const STARTS = 3;
const REQUESTS = 150;
const PAGE_SIZE = 20;
/** Changed conversions that a client of the stream has missed. */
const MISSED = 50;
/** Less than the life of an access token. */
const TOKEN_MS = 4 * 60_000;
/** Processor time of a second in which a service does nothing. */
const QUIET_MS = 50;
const DAY_MS = 24 * 60 * 60 * 1000;
const AFTER_START_MS = 3_000;
const MOST_GROWTH = 1.2;

interface Cost {
  /** Milliseconds by the clock, the median of the requests. */
  readonly wall: number;
  /** Milliseconds of processor time. */
  readonly cpu: number;
}

/** A request of a kind; `call` counts up, so that each is for something else. */
type Ask = (call: number) => {
  readonly path: string;
  readonly html?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

interface Measured {
  readonly store: MadeStore;
  readonly service: RunningService;
  readonly accepted: string[];
  /** The operator's access token. */
  readonly signedIn: { token?: string; until: number };
  readonly asks: ReadonlyMap<string, Ask>;
}

/** MiB that the service's own process holds now, and has held at the most. */
function memoryOf({ pid }: RunningService): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mib = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
  return { now: mib('VmRSS'), peak: mib('VmHWM') };
}

/** Milliseconds of processor time of the service's own process, to the nanosecond. */
function ownTime({ pid }: RunningService): number {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const spent = tasks.map((task) => readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8'));
  return spent.reduce((sum, text) => sum + Number(text.split(' ', 1)[0]), 0) / 1e6;
}

/** After a start, the service looks for damage and for blobs that no event names. */
async function untilQuiet({ pid }: RunningService): Promise<void> {
  await delay(AFTER_START_MS);
  for (let before = ownProcessorTime(pid), isQuiet = false; !isQuiet; ) {
    await delay(1_000);
    const now = ownProcessorTime(pid);
    isQuiet = now - before < QUIET_MS;
    before = now;
  }
}

const start = ({ directory, apiKey }: MadeStore): Promise<RunningService> =>
  startService(directory, SETTINGS, 'start', apiKey);

const isOperators = ({ path }: ReturnType<Ask>): boolean => path.startsWith('/operator/');

/** A stream that has less to tell than was asked for would not end. */
const MOST_MS = 120_000;

/** Signs in again before an access token ends, and not for each request: sign-ins are limited. */
async function tokenOf({ service, store, signedIn }: Measured): Promise<string> {
  if (signedIn.token !== undefined && performance.now() < signedIn.until) return signedIn.token;
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify(store.operator);
  const address = `${service.server}/api/v1/auth/jwt/create/`;
  const answer = await fetch(address, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`the operator cannot sign in: ${answer.status}`);
  signedIn.token = ((await answer.json()) as { access: string }).access;
  signedIn.until = performance.now() + TOKEN_MS;
  return signedIn.token;
}

async function ask({ service, accepted }: Measured, asked: ReturnType<Ask>, token?: string) {
  const { path, html } = asked;
  const headers = {
    ...(token === undefined
      ? { 'X-API-Key': service.apiKey }
      : { Authorization: `Bearer ${token}` }),
    'Content-Type': 'application/json',
    ...asked.headers,
  };
  const body = html === undefined ? {} : { method: 'POST', body: JSON.stringify({ html }) };
  const answer = await fetch(`${service.server}/api/v1${path}`, {
    headers,
    ...body,
    signal: AbortSignal.timeout(MOST_MS),
  });
  const content = answer.headers.get('Content-Type')?.startsWith('text/event-stream')
    ? await changesOf(answer)
    : Buffer.from(await answer.arrayBuffer());
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${content.toString()}`);
  if (html !== undefined) accepted.push((JSON.parse(content.toString()) as { id: string }).id);
  return answer;
}

/** A stream has no end: the client leaves once it has caught up. */
async function changesOf(stream: Response): Promise<Buffer> {
  let text = '';
  for await (const part of stream.body ?? []) {
    text += Buffer.from(part as Uint8Array).toString();
    if (text.split('event: conversion').length > MISSED) break;
  }
  return Buffer.from(text);
}

/** Numbers that are spread over a range without an order. */
const spread = (call: number, size: number): number => (call * 7_919) % size;

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The period of the middle fifths of all conversions: it begins and ends between the same rows in any store. */
function middleOf({ conversions }: MadeStore): string {
  const [from, to] = [1, 4].map((fifth) => NOW + Math.round((conversions * fifth) / 5));
  return `from=${new Date(from ?? 0).toISOString()}&to=${new Date(to ?? 0).toISOString()}`;
}

/** Nothing where the account has so many events that such a list is refused. */
async function filteredEvents(measured: Measured): Promise<Record<string, string>> {
  const { headers } = await ask(measured, { path: '/account/events/' });
  if (Number(headers.get('X-Total-Count')) > MAX_FILTERED_EVENTS) return {};
  return {
    'events by type': '/account/events/?type=ConversionFailed&',
    'events by actor': '/account/events/?actor=key&',
  };
}

async function listAsks(measured: Measured): Promise<[string, Ask][]> {
  const lists = {
    'list of conversions': '/conversions/?',
    'list by completed': '/conversions/?status=completed&',
    'list by failed': '/conversions/?status=failed&',
    'list of ledger entries': '/account/ledger/?',
    'list of events': '/account/events/?',
    ...(await filteredEvents(measured)),
    'list of a period': `/conversions/?${middleOf(measured.store)}&`,
    'completed in a period': `/conversions/?status=completed&${middleOf(measured.store)}&`,
    "operators' accounts": '/operator/accounts/?',
    "operators' failures": '/operator/failures/?',
    "operators' checkpoints": '/operator/checkpoints/?',
  };
  const asks: [string, Ask][] = [];
  const token = await tokenOf(measured);
  for (const [name, list] of Object.entries(lists)) {
    const path = `${list}page_size=${PAGE_SIZE}`;
    const { headers } = await ask(measured, { path }, isOperators({ path }) ? token : undefined);
    // Full ones: a page costs by its rows.
    const pages = Math.max(1, Math.floor(Number(headers.get('X-Total-Count')) / PAGE_SIZE));
    // Accepted later, and still pending: smaller rows, which are listed before these pages.
    const pending = (): number =>
      list === '/conversions/?' ? measured.accepted.length / PAGE_SIZE : 0;
    const page = (of: () => number): Ask => {
      return () => ({ path: `${path}&page=${Math.max(1, Math.round(of()))}` });
    };
    asks.push([`${name}, first page`, page(() => 1)]);
    asks.push([`${name}, middle page`, page(() => pending() + pages / 2)]);
    asks.push([`${name}, last page`, page(() => pending() + pages)]);
  }
  return asks;
}

/**
 * Asks for the conversions that have changed since an event of the account. Nothing where it has too few events: such a
 * stream would never have told enough.
 */
async function streamAsk(measured: Measured): Promise<[string, Ask][]> {
  const { service } = measured;
  const headers = { 'X-API-Key': service.apiKey };
  const list = `${service.server}/api/v1/account/events/?page_size=100&page=${MISSED / 10}`;
  const events = (await (await fetch(list, { headers })).json()) as { position: string }[];
  const position = events.length < 100 ? undefined : events.at(-1)?.position;
  if (position === undefined) return [];
  const seen = { 'Last-Event-ID': position };
  return [['stream, resumed', () => ({ path: '/conversions/stream/', headers: seen })]];
}

async function measuredOf(store: MadeStore, service: RunningService): Promise<Measured> {
  const accepted: string[] = [];
  const completed = completedOf(store);
  const completedAt = (call: number): string => completed[spread(call, completed.length)] ?? '';
  const printedAt = (call: number): string => store.printed[call % store.printed.length] ?? '';
  const measured = { store, service, accepted, signedIn: { until: 0 }, asks: new Map() };
  const usage = `/account/usage/?from=${dayOf(NOW - 365 * DAY_MS)}&to=${dayOf(NOW + 30 * DAY_MS)}`;
  const oneAccount = `/operator/accounts/${store.accountId}/`;
  const asks = new Map<string, Ask>([
    ['accept', (call) => ({ path: '/pdf/', html: letter(call) })],
    ['poll, pending', (call) => ({ path: `/conversions/${accepted[call % accepted.length]}/` })],
    ['poll, completed', (call) => ({ path: `/conversions/${completedAt(call)}/` })],
    ['events of a conversion', (call) => ({ path: `/conversions/${completedAt(call)}/events/` })],
    ['proof of a conversion', (call) => ({ path: `/conversions/${printedAt(call)}/proof/` })],
    ['download', (call) => ({ path: `/conversions/${printedAt(call)}/file/` })],
    ['account', () => ({ path: '/account/' })],
    ['list of keys', () => ({ path: '/api-keys/' })],
    ...(await streamAsk(measured)),
    ['usage of a year', () => ({ path: usage })],
    ["operators' status", () => ({ path: '/operator/status/' })],
    ["operators' read models", () => ({ path: '/operator/projections/' })],
    ["operators' account", () => ({ path: oneAccount })],
    ...(await listAsks(measured)),
  ]);
  return { ...measured, asks };
}

async function costOf(measured: Measured, of: Ask, round: number): Promise<Cost> {
  const token = isOperators(of(0)) ? await tokenOf(measured) : undefined;
  const before = ownTime(measured.service);
  const times: number[] = [];
  for (let call = 0; call < REQUESTS; call += 1) {
    const begun = performance.now();
    await ask(measured, of(round * REQUESTS + call), token);
    times.push(performance.now() - begun);
  }
  const cpu = (ownTime(measured.service) - before) / REQUESTS;
  return { wall: median(times), cpu };
}

function tell(name: string, unit: string, small: readonly number[], large: readonly number[]) {
  const [one, other] = [median(small), median(large)];
  const ratio = other / one;
  const digits = one < 100 ? 2 : 0;
  print(
    `${name.padEnd(40)} ${one.toFixed(digits).padStart(8)} ${other.toFixed(digits).padStart(8)} ${unit.padEnd(6)} ` +
      `ratio ${ratio.toFixed(2)}${ratio > MOST_GROWTH ? '  above' : ''}`,
  );
}

/** Starts as a user would, renderer and all. */
async function compareStarts(stores: readonly MadeStore[]): Promise<void> {
  const names = [
    'until ready',
    'processor until ready',
    'processor after',
    'memory after',
  ] as const;
  const found = stores.map(() => names.map((): number[] => []));
  for (let round = -1; round < STARTS; round += 1) {
    for (const [index, store] of stores.entries()) {
      const begun = performance.now();
      const service = await start(store);
      const ready = performance.now() - begun;
      const used = processorTime(service.pid);
      await delay(AFTER_START_MS);
      const after = processorTime(service.pid) - used;
      const { now } = memoryOf(service);
      await service.stop();
      if (round < 0) continue;
      for (const [n, value] of [ready, used, after, now].entries()) found[index]?.[n]?.push(value);
    }
  }
  for (const [n, name] of names.entries()) {
    const unit = name.startsWith('memory') ? 'MiB' : 'ms';
    tell(`start: ${name}`, unit, found[0]?.[n] ?? [], found[1]?.[n] ?? []);
  }
}

async function compareRequests(both: readonly Measured[]): Promise<void> {
  const names = [...(both[0]?.asks.keys() ?? [])];
  for (const name of names.filter((each) => both.every(({ asks }) => asks.has(each)))) {
    const costs = both.map((): Cost[] => []);
    for (let round = -1; round < ROUNDS; round += 1) {
      const order = [...both.entries()];
      for (const [index, measured] of round % 2 === 0 ? order : order.toReversed()) {
        const of = measured.asks.get(name);
        const cost = of && (await costOf(measured, of, round + 1));
        // The first round warms up.
        if (round >= 0 && cost) costs[index]?.push(cost);
      }
    }
    const values = (index: number, what: keyof Cost): number[] =>
      costs[index]?.map((cost) => cost[what]) ?? [];
    tell(name, 'ms', values(0, 'wall'), values(1, 'wall'));
    tell('  by processor time', 'ms', values(0, 'cpu'), values(1, 'cpu'));
  }
}

async function compare(folder: string, conversions: number): Promise<void> {
  const stores = [await makeStore(folder, SMALL), await makeStore(folder, conversions)];
  print(`stores of ${stores.map((store) => store.conversions.toLocaleString('en')).join(' and ')}`);
  await compareStarts(stores);
  const leases = stores.map(({ directory }) => new FileLease(join(directory, 'data/render.lock')));
  const held = await Promise.all(leases.map((lease) => lease.acquire()));
  const services: RunningService[] = [];
  const both: Measured[] = [];
  try {
    for (const store of stores) {
      const service = await start(store);
      services.push(service);
      both.push(await measuredOf(store, service));
    }
    for (const service of services) await untilQuiet(service);
    await compareRequests(both);
    const memories = services.map(memoryOf);
    for (const what of ['now', 'peak'] as const) {
      const [small = Number.NaN, large = Number.NaN] = memories.map((memory) => memory[what]);
      tell(`memory ${what === 'now' ? 'after all requests' : 'at most'}`, 'MiB', [small], [large]);
    }
  } finally {
    for (const service of services) await service.stop();
    for (const each of held) await each?.release();
    // Else the next run would begin with printing them.
    for (const { store, accepted } of both) await endAll(store, accepted);
  }
}

const [, , wanted = '1000000', named] = process.argv;
if (named === undefined) await inTemporaryDirectory((folder) => compare(folder, Number(wanted)));
else await compare(named, Number(wanted));
