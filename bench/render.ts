/**
 * Documents a second of the whole service (HTTP, events on disk, file stored) beside puppeteer-cluster
 * and a loop of raw DevTools calls: the same Chrome, documents and machine, rounds of all of them in
 * turn. Then how long one document takes when nothing else is to be done.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { PressledgerClient } from '../client/src/client.ts';
import { findChrome } from '../src/renderer/chrome/find.ts';
import { invoice, letter, scripted } from './documents.ts';
import { inTemporaryDirectory, median, perSecond, print } from './measure.ts';
import { processorTime } from './processor-time.ts';
import { type Rival, startPuppeteerCluster, startRawLoop } from './rivals.ts';
import { convertAll, startService, untilCompleted } from './running-service.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
const BATCH = Number(process.argv[3] ?? 32);
/** More than the service keeps warm tabs for, so that each round meets them cold. */
const ACCOUNTS = BATCH;
/** Requests that a client has under way at once. */
const CLIENTS = 8;
const IDLE_DOCUMENTS = 25;

type Batch = (documents: readonly string[]) => Promise<void>;

const through =
  (clients: readonly PressledgerClient[]): Batch =>
  (documents) =>
    convertAll(clients, documents, CLIENTS);

async function compare(
  name: string,
  make: (number: number) => string,
  batches: Readonly<Record<string, Batch>>,
): Promise<void> {
  const speeds = new Map(Object.keys(batches).map((each) => [each, [] as number[]]));
  const costs = new Map(Object.keys(batches).map((each) => [each, [] as number[]]));
  let number = 0;
  for (let round = -1; round < ROUNDS; round += 1) {
    const documents = Array.from({ length: BATCH }, () => make((number += 1)));
    const order = Object.entries(batches);
    for (const [each, batch] of round % 2 === 0 ? order : order.toReversed()) {
      // All contenders are children of this process, and the others rest.
      const before = processorTime(process.pid);
      const speed = await perSecond(BATCH, () => batch(documents));
      // The first round only warms up.
      if (round < 0) continue;
      speeds.get(each)?.push(speed);
      costs.get(each)?.push((processorTime(process.pid) - before) / BATCH);
    }
  }
  const medians = [...speeds].map(([each, numbers]) => [each, median(numbers)] as const);
  const cluster = medians[0]?.[1] ?? Number.NaN;
  for (const [each, speed] of medians) {
    const ratio = (speed / cluster).toFixed(2);
    const cost = median(costs.get(each) ?? []).toFixed(0);
    print(
      `${name.padEnd(9)} ${each.padEnd(34)} ${speed.toFixed(1).padStart(6)}/s  ${ratio} x  processor ${cost.padStart(4)} ms a document`,
    );
  }
}

async function idle(
  name: string,
  make: (number: number) => string,
  client: PressledgerClient,
  raw: Rival,
): Promise<void> {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let number = 0; number < IDLE_DOCUMENTS; number += 1) {
    const html = make(number);
    const { id } = await client.create({ html });
    const accepted = performance.now();
    await untilCompleted(client, id);
    ours.push(performance.now() - accepted);
    await pause(150);
    const begun = performance.now();
    await raw.one(html);
    theirs.push(performance.now() - begun);
    await pause(150);
  }
  print(
    `${name.padEnd(9)} idle: 202 to completed ${median(ours).toFixed(1)} ms, raw loop ${median(theirs).toFixed(1)} ms (medians of ${IDLE_DOCUMENTS})`,
  );
}

await inTemporaryDirectory(async (directory) => {
  const { path } = await findChrome({
    chromePath: process.env['CHROME_PATH'],
    searchPath: process.env['PATH'],
    fallbackFile: join(import.meta.dirname, '../setup/chrome/executable'),
  });
  const service = await startService(directory);
  const cluster = await startPuppeteerCluster(path);
  const raw = await startRawLoop(path);
  try {
    const many: PressledgerClient[] = [];
    for (let each = 0; each < ACCOUNTS; each += 1) many.push(await service.account(`a${each}`));
    const batches = {
      'puppeteer-cluster': (documents: readonly string[]) => cluster.all(documents),
      'raw loop': (documents: readonly string[]) => raw.all(documents),
      'Pressledger, one account': through([service.client]),
      'Pressledger, each another account': through(many),
    };
    print(`${ROUNDS} rounds of ${BATCH} documents, medians`);
    await compare('letters', letter, batches);
    await compare('invoices', invoice, batches);
    await compare('scripted', scripted, batches);
    await idle('letter', letter, service.client, raw);
    await idle('invoice', invoice, service.client, raw);
    await idle('scripted', scripted, service.client, raw);
  } finally {
    await Promise.all([cluster.close(), raw.close(), service.stop()]);
  }
});
