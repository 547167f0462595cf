/**
 * Documents a second of the whole service (HTTP, events on disk, file stored) beside what people would
 * otherwise run: the same Chrome, documents and machine, rounds of all of them in turn. Then how long one
 * document takes when nothing else is to be done: from 202 to completed, beside one in the loop of fresh
 * contexts.
 *
 * The rivals do as their users do: they print at the load event. So they do not wait for what a page draws
 * after it, and a chart may be missing or half drawn on their paper.
 *
 * `node bench/render.ts [rounds] [documents in a round] [kinds, separated by commas]`
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { PressledgerClient } from '../client/src/client.ts';
import { findChrome } from '../src/renderer/browser/find.ts';
import { WARM_ACCOUNTS } from '../src/renderer/chrome/warm-tabs.ts';
import {
  animatedCharts,
  brandedInvoice,
  catalogue,
  form,
  invoice,
  letter,
  report,
  scripted,
  statement,
} from './documents.ts';
import { inTemporaryDirectory, median, perSecond, print } from './measure.ts';
import { processorTime } from './processor-time.ts';
import { type Rival, startPuppeteerCluster, startRawLoop, startWarmLoop } from './rivals.ts';
import { convertAll, create, startService, untilCompleted } from './running-service.ts';
import { type Site, startSite } from './site.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
const BATCH = Number(process.argv[3] ?? 32);
/** Requests that a client has under way at once. */
const CLIENTS = 8;
/** More than the service keeps warm tabs for, so that each document meets its account cold. */
const ACCOUNTS = WARM_ACCOUNTS * availableParallelism() + CLIENTS;
const IDLE_DOCUMENTS = 15;
const IDLE_PAUSE_MS = 150;

type Make = (number: number) => string;
type Batch = (documents: readonly string[]) => Promise<void>;

interface Speed {
  readonly perSecond: number;
  /** Milliseconds of processor time for a document, of all processes. */
  readonly cost: number;
}

const kindsOf = (site: Site): Readonly<Record<string, Make>> => ({
  letter,
  invoice,
  branded: brandedInvoice,
  form,
  report,
  catalogue,
  statement,
  chart: scripted,
  chartjs: animatedCharts,
  url: (number) => site.pageUrl(number),
});

function chosen(kinds: Readonly<Record<string, Make>>): readonly (readonly [string, Make])[] {
  const names = process.argv[4]?.split(',') ?? Object.keys(kinds);
  return names.map((name) => {
    const make = kinds[name];
    if (!make) throw new Error(`${name} is none of ${Object.keys(kinds).join(', ')}`);
    return [name, make];
  });
}

const through =
  (clients: readonly PressledgerClient[]): Batch =>
  (documents) =>
    convertAll(clients, documents, CLIENTS);

async function compare(make: Make, batches: readonly Batch[]): Promise<readonly Speed[]> {
  const speeds = batches.map((): number[] => []);
  const costs = batches.map((): number[] => []);
  let number = 0;
  for (let round = -1; round < ROUNDS; round += 1) {
    const documents = Array.from({ length: BATCH }, () => make((number += 1)));
    const order = [...batches.entries()];
    for (const [each, batch] of round % 2 === 0 ? order : order.toReversed()) {
      // All contenders are children of this process, and the others rest.
      const before = processorTime(process.pid);
      const speed = await perSecond(BATCH, () => batch(documents));
      // The first round only warms up.
      if (round < 0) continue;
      speeds[each]?.push(speed);
      costs[each]?.push((processorTime(process.pid) - before) / BATCH);
    }
  }
  return speeds.map((each, index) => ({
    perSecond: median(each),
    cost: median(costs[index] ?? []),
  }));
}

/** @returns milliseconds of a document of ours, and of the rival's */
async function idle(make: Make, client: PressledgerClient, rival: Rival) {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let number = 0; number < IDLE_DOCUMENTS; number += 1) {
    const document = make(number);
    const id = await create(client, document);
    const accepted = performance.now();
    await untilCompleted(client, id);
    ours.push(performance.now() - accepted);
    await pause(IDLE_PAUSE_MS);
    const begun = performance.now();
    await rival.one(document);
    theirs.push(performance.now() - begun);
    await pause(IDLE_PAUSE_MS);
  }
  return [median(ours), median(theirs)] as const;
}

const WIDTHS = [9, 15, 15, 15, 27, 27, 12];
const row = (cells: readonly string[]): void =>
  print(cells.map((cell, index) => cell.padEnd(WIDTHS[index] ?? 0)).join(' | '));

const rate = ({ perSecond: speed, cost }: Speed): string =>
  `${speed.toFixed(1).padStart(5)} ${cost.toFixed(0).padStart(5)} ms`;
const ratios = (speed: Speed, cluster: Speed, warm: Speed): string =>
  [cluster, warm]
    .map((each) => `${(speed.perSecond / each.perSecond).toFixed(2).padStart(5)} x`)
    .join('');

await inTemporaryDirectory(async (directory) => {
  const { path } = await findChrome({
    chromePath: process.env['CHROME_PATH'],
    searchPath: process.env['PATH'],
    fallbackFile: join(import.meta.dirname, '../setup/chrome/executable'),
  });
  const site = await startSite();
  const kinds = chosen(kindsOf(site));
  const service = await startService(directory, {
    ALLOW_PRIVATE_NETWORK: 'true',
    EGRESS_PORTS: String(site.port),
  });
  const cluster = await startPuppeteerCluster(path);
  const fresh = await startRawLoop(path);
  const warm = await startWarmLoop(path, site);
  try {
    const many: PressledgerClient[] = [];
    for (let each = 0; each < ACCOUNTS; each += 1) many.push(await service.account(`a${each}`));
    const rivals = [cluster, fresh, warm].map(
      (rival): Batch =>
        (each) =>
          rival.all(each),
    );
    const batches = [...rivals, through([service.client]), through(many)];
    print(
      `${ROUNDS} rounds of ${BATCH} documents, medians: documents a second, processor time for one, and for Pressledger\n` +
        `the ratios to puppeteer-cluster and to the warm raw loop; idle (${IDLE_DOCUMENTS} documents): 202 to completed, fresh raw loop\n`,
    );
    row([
      '',
      'cluster',
      'raw, fresh',
      'raw, warm',
      'one account',
      'each another account',
      'idle ms',
    ]);
    for (const [name, make] of kinds) {
      const [a, b, c, one, others] = await compare(make, batches);
      if (!(a && b && c && one && others)) throw new Error('a contender is missing');
      const [ours, theirs] = await idle(make, service.client, fresh);
      row([
        name,
        ...[a, b, c].map(rate),
        ...[one, others].map((each) => rate(each) + ratios(each, a, c)),
        `${ours.toFixed(0).padStart(4)} ${theirs.toFixed(0).padStart(4)}`,
      ]);
    }
  } finally {
    await Promise.all([cluster.close(), fresh.close(), warm.close(), service.stop()]);
    await site.close();
  }
});
