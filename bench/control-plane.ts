/**
 * What conversions cost beside Chrome: two API nodes and renderer nodes over NATS, whose Chrome is a pause. Letters of
 * one account come through the API node that does not lead. On SQLite and, where EVENTSTORE_TEST_URL names an event store
 * server, on that server; each round starts both anew, and printed are medians: conversions a second, processor
 * milliseconds that a conversion costs each process, the most memory of the leader, and the connections that the API nodes
 * lost. A server must cost the leader at most twice as much, reach 0.8 of the speed, and lose no connection.
 * `node bench/control-plane.ts [--slots 50] [--letters 1000] [--pause 500] [--busy 0] [--rounds 1]`,
 * where `busy` is the number of endless loops beside it.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { emptyLogUrl } from '../test/support/event-store-server.ts';
import { startNatsServer } from '../test/support/nats-server.ts';
import { letter } from './documents.ts';
import { counted, inTemporaryDirectory, median, perSecond, print } from './measure.ts';
import { ownProcessorTime } from './processor-time.ts';
import { benchPlace, convertAll, type RunningService, startService } from './running-service.ts';

const { values } = parseArgs({
  options: {
    slots: { type: 'string', default: '50' },
    letters: { type: 'string', default: '1000' },
    pause: { type: 'string', default: '500' },
    busy: { type: 'string', default: '0' },
    rounds: { type: 'string', default: '1' },
  },
});
const SLOTS = Number(values.slots);
const LETTERS = Number(values.letters);
const ROUNDS = Number(values.rounds);
/** Slots of one renderer node. */
const NODE_SLOTS = 50;
/** Letters that the client has under way at once: as many wait as are rendered. */
const AT_ONCE = 2 * SLOTS;
const MASTER_KEY = '0123456789abcdef'.repeat(4);

const [MOST_COST, LEAST_SPEED] = [2, 0.8];
/** The lines of an API node about a connection to the event store or NATS that it replaces. */
const LOST = /reconnecting|connecting again|will be resumed/;

type Settings = Readonly<Record<string, string>>;

const stores = new Map<string, (directory: string) => Settings>([
  ['SQLite', (directory) => ({ DATA_DIR: join(directory, 'shared-data') })],
]);
if (process.env['EVENTSTORE_TEST_URL'] !== undefined) {
  stores.set('server', () => ({
    EVENT_STORE_URL: emptyLogUrl(`bench${randomUUID().slice(0, 8)}`),
  }));
}

interface Round {
  readonly speed: number;
  /** Processor milliseconds a conversion, by the name of the process. */
  readonly costs: ReadonlyMap<string, number>;
  readonly peakMiB: number;
  readonly warnings: readonly string[];
}

const endings: (() => unknown)[] = [];

async function end(): Promise<void> {
  for (const each of endings.splice(0).toReversed()) await each();
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  if (child.connected) child.disconnect();
  else child.kill('SIGKILL');
  await ended;
}

async function startRenderer(directory: string, settings: Settings): Promise<ChildProcess> {
  const { env } = benchPlace(directory, settings);
  const file = join(import.meta.dirname, 'control-plane/renderer.ts');
  const child = fork(file, [values.pause], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  endings.push(() => endChild(child));
  await once(child, 'message');
  return child;
}

async function leads({ server }: RunningService): Promise<boolean> {
  const answer = await fetch(`${server}/readyz`);
  return ((await answer.json()) as { readonly leads: boolean }).leads;
}

const peakMiB = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

const warningsOf = ({ log }: RunningService): readonly string[] =>
  log()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => (JSON.parse(line) as { readonly msg: string }).msg);

async function runRound(directory: string, store: Settings): Promise<Round> {
  const nats = await startNatsServer({ teardown: (ending) => void endings.push(ending) });
  const shared = { NATS_URL: nats.url, BLOB_STORE_URL: `file:${join(directory, 'shared')}` };
  const settings = { ...shared, ...store, MASTER_KEY };
  const first = await startService(join(directory, 'first'), settings, 'api');
  endings.push(() => first.stop());
  const second = await startService(join(directory, 'second'), settings, 'api', first.apiKey);
  endings.push(() => second.stop());
  const [leader, other] = (await leads(first)) ? [first, second] : [second, first];
  const renderers: number[] = [];
  for (let left = SLOTS; left > 0; left -= NODE_SLOTS) {
    const slots = String(Math.min(left, NODE_SLOTS));
    const place = join(directory, `renderer-${renderers.length}`);
    const { pid } = await startRenderer(place, {
      ...shared,
      LOG_LEVEL: 'error',
      RENDER_CONCURRENCY: slots,
    });
    if (pid !== undefined) renderers.push(pid);
  }
  const loops = Array.from({ length: Number(values.busy) }, () =>
    spawn(process.execPath, ['--eval', 'for (;;);']),
  );
  for (const loop of loops) endings.push(() => endChild(loop));

  const processes = new Map([
    ['leader', [leader.pid]],
    ['other API node', [other.pid]],
    ['renderers', renderers],
    ['NATS', [nats.pid()]],
  ]);
  const spent = (): readonly number[] =>
    [...processes.values()].map((pids) =>
      pids.reduce((sum, pid) => sum + ownProcessorTime(pid), 0),
    );
  const letters = Array.from({ length: LETTERS }, (_, number) => letter(number));
  // The first ones only warm up.
  await convertAll([other.client], letters.slice(0, AT_ONCE), AT_ONCE);
  const before = spent();
  const speed = await perSecond(LETTERS, () => convertAll([other.client], letters, AT_ONCE));
  const after = spent();
  if (!(await leads(leader))) throw new Error('Another node leads by now: the costs are of both.');
  const costs = [...processes.keys()].map(
    (name, n) => [name, ((after[n] ?? 0) - (before[n] ?? 0)) / LETTERS] as const,
  );
  return {
    speed,
    costs: new Map(costs),
    peakMiB: peakMiB(leader.pid),
    warnings: [...warningsOf(leader), ...warningsOf(other)],
  };
}

function tell(store: string, rounds: readonly Round[]): void {
  const costs = [...(rounds[0]?.costs.keys() ?? [])].map((name) => {
    const ms = median(rounds.map((round) => round.costs.get(name) ?? 0));
    return `${name} ${ms.toFixed(2)}`;
  });
  const speed = median(rounds.map((round) => round.speed)).toFixed(1);
  const peak = Math.max(...rounds.map((round) => round.peakMiB)).toFixed(0);
  print(`${store.padEnd(6)} ${speed}/s  ms: ${costs.join(', ')}; leader at most ${peak} MiB`);
  const warnings = rounds.flatMap((round) => round.warnings);
  const lost = warnings.filter((line) => LOST.test(line)).length;
  const all = warnings.length === 0 ? '' : `; warnings: ${counted(warnings)}`;
  print(`       ${lost} connections lost${all}`);
}

print(
  `${ROUNDS} round(s) of ${LETTERS} letters, ${SLOTS} slots of ${values.pause} ms, ${values.busy} busy loop(s)`,
);
const rounds = new Map([...stores.keys()].map((name) => [name, [] as Round[]]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [name, own] of rounds) {
    await inTemporaryDirectory(async (directory) => {
      try {
        own.push(await runRound(directory, stores.get(name)?.(directory) ?? {}));
      } finally {
        await end();
      }
    });
  }
}
for (const [name, own] of rounds) tell(name, own);
const [embedded = [], beyond] = [...rounds.values()];
if (beyond !== undefined) {
  const ratio = (of: (round: Round) => number): number =>
    median(beyond.map((each, n) => of(each) / of(embedded[n] ?? each)));
  const cost = ratio((round) => round.costs.get('leader') ?? 0);
  const speed = ratio((round) => round.speed);
  print(
    `server beside SQLite: leader ${cost.toFixed(2)} x (at most ${MOST_COST}), speed ${speed.toFixed(2)} x (at least ${LEAST_SPEED})`,
  );
}
