/**
 * The whole service beyond one process: documents a second over NATS beside the embedded queue, and with
 * 1, 2 and 4 renderer nodes that share one queue. Rounds alternate; printed are medians and their ratios,
 * and the processor milliseconds that a document costs each process. A document is two requests: one that
 * is accepted, and one that waits for its end. What the client itself costs is not counted.
 * Documents and log lie as the settings say: on files and SQLite, or, where EVENTSTORE_TEST_URL names a
 * server, also on that server with documents in NATS. `node bench/nodes.ts [rounds] [documents] [queues]`,
 * where `queues` leaves out the comparison of 1, 2 and 4 nodes.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { startNatsServer } from '../test/support/nats-server.ts';
import { invoice, letter } from './documents.ts';
import { inTemporaryDirectory, median, perSecond, print } from './measure.ts';
import { ownProcessorTime, processorTime } from './processor-time.ts';
import { convertAll, type RunningService, startRenderer, startService } from './running-service.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
const BATCH = Number(process.argv[3] ?? 48);
const ONLY_QUEUES = process.argv[4] === 'queues';
/** Requests that the client has under way at once: enough for the slots of every node. */
const AT_ONCE = 16;
const SLOTS = 2;
const NODES = [1, 2, 4] as const;
const MASTER_KEY = '0123456789abcdef'.repeat(4);

/** Processor milliseconds by the name of the process. */
type Costs = ReadonlyMap<string, number>;

interface Contender {
  readonly name: string;
  readonly service: RunningService;
  /** Since the processes began. */
  readonly costs: () => Costs;
}

type Make = (number: number) => string;

const endings: (() => unknown)[] = [];

const chromeTime = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + processorTime(pid) - ownProcessorTime(pid), 0);

async function startEmbedded(directory: string): Promise<Contender> {
  const service = await startService(directory, { RENDER_CONCURRENCY: String(SLOTS) });
  endings.push(() => service.stop());
  const costs = () =>
    new Map([
      ['service', ownProcessorTime(service.pid)],
      ['Chrome', chromeTime([service.pid])],
    ]);
  return { name: 'embedded queue', service, costs };
}

/** An API node and renderer nodes with `slots` each. */
async function startApart(
  name: string,
  directory: string,
  settings: Readonly<Record<string, string>>,
  nodes: number,
  slots: number,
): Promise<Contender> {
  const nats = await startNatsServer({ teardown: (ending) => void endings.push(ending) });
  const shared = { BLOB_STORE_URL: `file:${join(directory, 'shared')}`, MASTER_KEY };
  const all = { ...shared, ...settings, NATS_URL: nats.url };
  const service = await startService(join(directory, 'api'), all, 'api');
  endings.push(() => service.stop());
  const renderers: number[] = [];
  for (let node = 0; node < nodes; node += 1) {
    const own = { ...all, RENDER_CONCURRENCY: String(slots) };
    const renderer = await startRenderer(join(directory, `node-${node}`), own);
    renderers.push(renderer.pid);
    endings.push(() => renderer.stop());
  }
  const costs = () =>
    new Map([
      ['API', ownProcessorTime(service.pid)],
      ['renderers', renderers.reduce((sum, pid) => sum + ownProcessorTime(pid), 0)],
      ['NATS', ownProcessorTime(nats.pid())],
      ['Chrome', chromeTime(renderers)],
    ]);
  return { name, service, costs };
}

interface Round {
  readonly speed: number;
  readonly costs: Costs;
}

async function runRound(
  { service, costs }: Contender,
  documents: readonly string[],
): Promise<Round> {
  const before = costs();
  const speed = await perSecond(BATCH, () => convertAll([service.client], documents, AT_ONCE));
  const spent = [...costs()].map(
    ([name, ms]) => [name, (ms - (before.get(name) ?? 0)) / BATCH] as const,
  );
  return { speed, costs: new Map(spent) };
}

async function compare(name: string, make: Make, contenders: readonly Contender[]): Promise<void> {
  const rounds = contenders.map((): Round[] => []);
  let number = 0;
  for (let round = -1; round < ROUNDS; round += 1) {
    const documents = Array.from({ length: BATCH }, () => make((number += 1)));
    const order = [...contenders.entries()];
    for (const [index, contender] of round % 2 === 0 ? order : order.toReversed()) {
      const done = await runRound(contender, documents);
      // The first round only warms up.
      if (round >= 0) rounds[index]?.push(done);
    }
  }
  for (const [index, { name: contender }] of contenders.entries()) {
    const own = rounds[index] ?? [];
    const against = rounds[0] ?? [];
    const ratio = median(own.map(({ speed }, at) => speed / (against[at]?.speed ?? Number.NaN)));
    const speed = median(own.map((each) => each.speed))
      .toFixed(1)
      .padStart(6);
    const costs = [...(own[0]?.costs.keys() ?? [])].map(
      (part) => `${part} ${median(own.map((each) => each.costs.get(part) ?? 0)).toFixed(1)}`,
    );
    print(
      `${name.padEnd(9)} ${contender.padEnd(36)} ${speed}/s  ${ratio.toFixed(2)} x  ms: ${costs.join(', ')}`,
    );
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
    const contenders = [
      await startEmbedded(join(directory, 'embedded')),
      await startApart('NATS', join(directory, 'apart'), {}, 1, SLOTS),
    ];
    const { EVENTSTORE_TEST_URL: server } = process.env;
    if (server !== undefined) {
      const url = `${server}${server.includes('?') ? '&' : '?'}namespace=bench${randomUUID().slice(0, 8)}`;
      const settings = { EVENT_STORE_URL: url, BLOB_STORE_URL: 'nats:' };
      const name = 'NATS, event-store server, NATS blobs';
      contenders.push(await startApart(name, join(directory, 'beyond'), settings, 1, SLOTS));
    }
    await measure(contenders);
    await end();
    if (ONLY_QUEUES) return;

    const scaled: Contender[] = [];
    for (const nodes of NODES) {
      const at = join(directory, `scaled-${nodes}`);
      scaled.push(await startApart(`${nodes} renderer node(s) of one slot`, at, {}, nodes, 1));
    }
    await measure(scaled);
  } finally {
    await end();
  }
});
