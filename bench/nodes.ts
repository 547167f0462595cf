/**
 * The whole service beyond one process: documents a second over NATS beside the embedded queue, and with
 * 1, 2 and 4 renderer nodes that share one queue. Rounds alternate; printed are medians and their ratios.
 * Documents and log lie as the settings say: on files and SQLite, or, where EVENTSTORE_TEST_URL names a
 * server, also on that server with documents in NATS. `node bench/nodes.ts [rounds] [documents]`
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { startNatsServer } from '../test/support/nats-server.ts';
import { invoice, letter } from './documents.ts';
import { inTemporaryDirectory, median, perSecond, print } from './measure.ts';
import { convertAll, type RunningService, startRenderer, startService } from './running-service.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
const BATCH = Number(process.argv[3] ?? 48);
/** Requests that the client has under way at once: enough for the slots of every node. */
const AT_ONCE = 16;
const SLOTS = 2;
const NODES = [1, 2, 4] as const;
const MASTER_KEY = '0123456789abcdef'.repeat(4);

interface Contender {
  readonly name: string;
  readonly service: RunningService;
}

type Make = (number: number) => string;

const endings: (() => unknown)[] = [];

/** An API node and renderer nodes with `slots` each. */
async function startApart(
  directory: string,
  settings: Readonly<Record<string, string>>,
  nodes: number,
  slots: number,
): Promise<RunningService> {
  const nats = await startNatsServer({ teardown: (ending) => void endings.push(ending) });
  const shared = { BLOB_STORE_URL: `file:${join(directory, 'shared')}`, MASTER_KEY };
  const all = { ...shared, ...settings, NATS_URL: nats.url };
  const api = await startService(join(directory, 'api'), all, 'api');
  endings.push(() => api.stop());
  for (let node = 0; node < nodes; node += 1) {
    const own = { ...all, RENDER_CONCURRENCY: String(slots) };
    const renderer = await startRenderer(join(directory, `node-${node}`), own);
    endings.push(() => renderer.stop());
  }
  return api;
}

async function compare(name: string, make: Make, contenders: readonly Contender[]): Promise<void> {
  const speeds = contenders.map((): number[] => []);
  let number = 0;
  for (let round = -1; round < ROUNDS; round += 1) {
    const documents = Array.from({ length: BATCH }, () => make((number += 1)));
    const order = [...contenders.entries()];
    for (const [index, { service }] of round % 2 === 0 ? order : order.toReversed()) {
      const speed = await perSecond(BATCH, () => convertAll([service.client], documents, AT_ONCE));
      // The first round only warms up.
      if (round >= 0) speeds[index]?.push(speed);
    }
  }
  for (const [index, { name: contender }] of contenders.entries()) {
    const own = speeds[index] ?? [];
    const ratio = median(own.map((speed, round) => speed / (speeds[0]?.[round] ?? Number.NaN)));
    const speed = median(own).toFixed(1).padStart(6);
    print(`${name.padEnd(9)} ${contender.padEnd(36)} ${speed}/s  ${ratio.toFixed(2)} x`);
  }
}

async function measure(contenders: readonly Contender[]): Promise<void> {
  await compare('letters', letter, contenders);
  await compare('invoices', invoice, contenders);
}

async function end(): Promise<void> {
  for (const each of endings.splice(0).toReversed()) await each();
}

await inTemporaryDirectory(async (directory) => {
  print(`${ROUNDS} rounds of ${BATCH} documents, ${AT_ONCE} at once, medians`);
  try {
    const slots = { RENDER_CONCURRENCY: String(SLOTS) };
    const embedded = await startService(join(directory, 'embedded'), slots);
    endings.push(() => embedded.stop());
    const apart = await startApart(join(directory, 'apart'), {}, 1, SLOTS);
    const contenders = [
      { name: 'embedded queue', service: embedded },
      { name: 'NATS', service: apart },
    ];
    const { EVENTSTORE_TEST_URL: server } = process.env;
    if (server !== undefined) {
      const url = `${server}${server.includes('?') ? '&' : '?'}namespace=bench${randomUUID().slice(0, 8)}`;
      const settings = {
        EVENT_STORE_URL: url,
        BLOB_STORE_URL: 'nats:',
      };
      const beyond = await startApart(join(directory, 'beyond'), settings, 1, SLOTS);
      contenders.push({ name: 'NATS, event-store server, NATS blobs', service: beyond });
    }
    await measure(contenders);
    await end();

    const scaled: Contender[] = [];
    for (const nodes of NODES) {
      const at = join(directory, `scaled-${nodes}`);
      const service = await startApart(at, {}, nodes, 1);
      scaled.push({ name: `${nodes} renderer node(s) of one slot`, service });
    }
    await measure(scaled);
  } finally {
    await end();
  }
});
