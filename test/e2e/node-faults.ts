/** What must survive when any part of a deployment stops or is cut off while documents come in. */
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { type Test, test } from 'tap';
import type { ConversionOptions } from '../../client/src/conversion-options.ts';
import type { EventOf, EventType } from '../../src/domain/events.ts';
import { mayComeAgain } from '../support/come-again.ts';
import { eventually } from '../support/deadline.ts';
import { type LogEvent, violations } from '../support/invariants.ts';
import { reportLate } from '../support/late-outcome.ts';
import { type Kind, Nodes } from '../support/nodes.ts';
import type { RendererProcess, Service } from '../support/service.ts';

const DOCUMENTS = 24;
/** A fault comes when about this much of the work is under way. */
const INTO_THE_WORK_MS = 400;
/** Long enough for everything to notice. */
const AWAY_MS = 2500;
const SETTLED_MS = 90_000;

interface Wanted {
  readonly key: string;
  readonly options: ConversionOptions;
  /** Once a 202 has come. */
  id?: string;
}

interface Site {
  readonly deployment: Nodes;
  readonly apis: [Service, Service];
  readonly renderers: [RendererProcess, RendererProcess];
  readonly apiKey: string;
}

type Fault = (site: Site, t: Test) => Promise<void>;

/** Every sixth one fails, so that refunds are met too. */
function wanted(round: string): Wanted[] {
  return Array.from({ length: DOCUMENTS }, (_, n) => ({
    key: `${round}, ${n}`,
    options: {
      html: `<h1>${round}</h1><p>Document ${n}</p>`,
      ...(n % 6 === 5 ? { page_ranges: '9' } : {}),
    },
  }));
}

/** Asks until each has its 202, at whichever API node answers. */
async function submit({ apis, apiKey }: Site, all: readonly Wanted[]): Promise<void> {
  const until = performance.now() + SETTLED_MS;
  await Promise.all(
    all.map(async (each, n) => {
      for (let tries = n; each.id === undefined; tries += 1) {
        try {
          const client = apis[tries % 2 === 0 ? 0 : 1].client(apiKey);
          each.id = (await client.create(each.options, { idempotencyKey: each.key })).id;
        } catch (error) {
          if (!mayComeAgain(error) || performance.now() > until) throw error;
          await pause(100);
        }
      }
    }),
  );
}

const dataOf = <T extends EventType>({ data }: LogEvent) => JSON.parse(data) as EventOf<T>['data'];

async function settled({ deployment }: Site): Promise<readonly LogEvent[]> {
  return await eventually(
    'the end of all work',
    async () => {
      const log = await deployment.log();
      return violations(log, { settled: true }).length === 0 ? log : undefined;
    },
    SETTLED_MS,
  ).catch(async () => await deployment.log());
}

/** Submits while the fault happens, and holds what came of it against every invariant. */
async function under(t: Test, name: string, site: Site, fault: Fault): Promise<void> {
  const all = wanted(name);
  const submitted = submit(site, all);
  await pause(INTO_THE_WORK_MS);
  await fault(site, t);
  await submitted;
  const log = await settled(site);
  t.strictSame(violations(log, { settled: true }), [], `${name}: the invariants`);
  t.equal(new Set(all.map(({ id }) => id)).size, DOCUMENTS, `${name}: one conversion for each key`);
  const client = site.apis[1].client(site.apiKey);
  for (const { id = '', options, key } of all) {
    const record = await client.wait(id);
    t.equal(record.status, options.page_ranges === undefined ? 'completed' : 'failed', key);
    if (record.status !== 'completed') continue;
    const completed = log.find(
      ({ type, stream }) => type === 'ConversionCompleted' && stream === `conversion-${id}`,
    );
    const file = await buffer(await client.download(record));
    const sha256 = createHash('sha256').update(file).digest('hex');
    t.equal(sha256, completed && dataOf<'ConversionCompleted'>(completed).pdf.sha256, key);
  }
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'NATS is killed and comes back': async ({ deployment: { nats }, apis, apiKey }, t) => {
    await nats.kill();
    const accepted = await apis[0].client(apiKey).create({ html: '<p>while NATS is away</p>' });
    t.ok(accepted.id, 'what cannot be rendered yet is accepted');
    await pause(AWAY_MS);
    await nats.restart();
  },
  'NATS loses everything': async ({ deployment: { nats } }) => {
    await nats.kill();
    await pause(AWAY_MS);
    await nats.restart({ loseData: true });
  },
  'every connection to NATS is cut': async ({ deployment: { natsWire } }) => {
    for (let times = 0; times < 3; times += 1) {
      natsWire.cut();
      await pause(300);
    }
  },
  'the connections to NATS fall silent': async ({ deployment: { natsWire } }) => {
    natsWire.silence();
    await pause(AWAY_MS);
    natsWire.cut();
  },
  'a renderer is killed': async ({ renderers: [first] }, t) => {
    t.match(await first.kill(), { signal: 'SIGKILL' });
    await first.start();
  },
  'a renderer is stopped': async ({ renderers: [first] }, t) => {
    t.match(await first.stop(), { code: 0, signal: null });
    await first.start();
  },
  'the API node that leads is killed': async ({ apis: [first] }, t) => {
    t.match(await first.kill(), { signal: 'SIGKILL' });
    await pause(AWAY_MS);
    await first.start();
  },
};

/** Those of the parts that a deployment has. */
const faultsOf = ({ s3, storeWire }: Nodes): Readonly<Record<string, Fault>> => ({
  ...FAULTS,
  ...(s3 && {
    'the blob store is away': async () => {
      await s3.stop();
      // Longer than three tries of a job would take.
      await pause(2 * AWAY_MS);
      await s3.start();
    },
  }),
  ...(storeWire && {
    'the event store is out of reach': async ({ apis, apiKey }, t) => {
      await storeWire.close();
      const refused = await fetch(`${apis[0].url}/api/v1/account/`, {
        headers: { 'X-API-Key': apiKey },
      });
      t.equal(refused.status, 503);
      t.ok(Number(refused.headers.get('retry-after')) > 0);
      const notReady = await fetch(`${apis[0].url}/readyz`);
      t.match(await notReady.json(), { details: { missing: [/event store does not answer/] } });
      await pause(AWAY_MS);
      await storeWire.open();
    },
    'the answers of the event store are lost': async () => {
      storeWire.answersAreLost = true;
      await pause(AWAY_MS);
      storeWire.answersAreLost = false;
      storeWire.cut();
    },
  }),
});

/** The outcome of an ended conversion comes twice more, once with another verdict. */
async function endedTwice(t: Test, { deployment, apis, apiKey }: Site): Promise<void> {
  const client = apis[0].client(apiKey);
  const { id } = await client.create({ html: '<p>once</p>' });
  t.equal((await client.wait(id)).status, 'completed');
  const stream = `conversion-${id}`;
  const life = (await deployment.log()).filter((event) => event.stream === stream);
  const end = life.find(({ type }) => type === 'ConversionCompleted');
  if (!end) throw new Error(`${id} has no end.`);
  const { accountId } = dataOf<'ConversionCompleted'>(end);
  const late = await reportLate(deployment.nats.url, { conversionId: id, accountId });
  t.match(late, [{ ended: true }, { ended: true }]);
  t.equal((await client.get(id)).status, 'completed');
  const log = await deployment.log();
  const after = log.filter((event) => event.stream === stream && event.position > end.position);
  t.ok(after.length > 0, 'it is recorded');
  t.strictSame([...new Set(after.map(({ type }) => type))], ['ConversionOutcomeIgnored']);
  t.strictSame(violations(log, { settled: true }), []);
}

export function runNodeFaults(kind: Kind): void {
  void test(`${kind.name}: whatever stops, nothing is lost`, kind.options, async (t) => {
    // How long a stop waits for an answer follows from the time that a document may take.
    const deployment = await Nodes.start(t, kind, { RENDER_TIMEOUT_MS: '10000' });
    const first = await deployment.api();
    const site: Site = {
      deployment,
      apis: [first, await deployment.api()],
      renderers: [await deployment.renderer(), await deployment.renderer()],
      apiKey: first.firstStart.apiKey,
    };
    const faults = Object.entries(faultsOf(deployment));
    for (const [name, fault] of faults) await under(t, name, site, fault);
    await endedTwice(t, site);

    // A node that is stopped while the others are away ends all the same, and leaves nothing behind.
    const slow = { html: '<p>slow</p>', wait_for: { delay_ms: 3000 } };
    const { id } = await first.client().create(slow);
    await eventually('its start', async () =>
      (await first.client().get(id)).status === 'processing' ? true : undefined,
    );
    await deployment.nats.kill();
    const nodes = [...site.renderers, ...site.apis];
    for (const node of nodes) t.match(await node.stop(), { code: 0, signal: null });
    for (const node of nodes) t.strictSame(await node.leftovers(), []);
  });
}
