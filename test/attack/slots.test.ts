/**
 * One account takes all render slots: with endless pages, which cost it nothing, and with slow ones. What
 * others wait is counted in ends of the attacker's pages, by the order of the log.
 */
import { type Test, test } from 'tap';
import { PressledgerClient } from '../../client/src/client.ts';
import { cliJson } from '../support/cli.ts';
import { eventually } from '../support/deadline.ts';
import { type LogEvent, readLog } from '../support/invariants.ts';
import { countingListener } from '../support/listener.ts';
import { KINDS, Nodes } from '../support/nodes.ts';
import type { Place } from '../support/place.ts';
import { type Service, startService } from '../support/service.ts';

const LIMIT_MS = 6000;
/** The attacker's pages: more than both slots can render while the letters come. */
const PAGES = 9;
const LETTERS = 7;
const MANY = '1000000';
const SETTINGS = {
  RENDER_TIMEOUT_MS: String(LIMIT_MS),
  RATE_LIMIT_PRO: MANY,
  RATE_LIMIT_ANONYMOUS: MANY,
  ALLOW_PRIVATE_NETWORK: 'true',
};

type Request = Parameters<PressledgerClient['create']>[0];

const LETTER: Request = { html: '<h1>v</h1>' };
const LOOP: Request = { html: '<h1>x</h1><script>while(1);</script>' };

interface Deployment {
  /** Its first account is the victim. */
  readonly service: Service;
  readonly place: Place;
  readonly log: () => Promise<LogEvent[]>;
}

async function attackerOf({ service, place }: Deployment): Promise<PressledgerClient> {
  const email = 'attacker@example.com';
  await cliJson(place, ['account', 'create', '--email', email, '--plan', 'pro']);
  const created = await cliJson(place, ['key', 'create', email, '--name', 'test']);
  const { key: apiKey } = created as { key: string };
  return new PressledgerClient({ server: service.url, apiKey });
}

const createAll = (client: PressledgerClient, requests: readonly Request[]): Promise<string[]> =>
  Promise.all(requests.map(async (request) => (await client.create(request)).id));

/** Resolves when that many of these are being rendered. */
const rendering = (
  client: PressledgerClient,
  ids: readonly string[],
  count: number,
): Promise<true> =>
  eventually(
    `${count} renderings`,
    async () => {
      const records = await Promise.all(ids.map((id) => client.get(id)));
      const begun = records.filter(({ status }) => status === 'processing').length;
      return begun === count || undefined;
    },
    60_000,
  );

const ENDS: ReadonlySet<string> = new Set(['ConversionCompleted', 'ConversionFailed']);

const endOf = (log: readonly LogEvent[], id: string): number =>
  log.find(({ stream, type }) => stream === `conversion-${id}` && ENDS.has(type))?.position ??
  Infinity;

/** How many of these conversions ended while that one waited and was rendered. */
function endedMeanwhile(log: readonly LogEvent[], ids: readonly string[], letter: string): number {
  const from = log.find(
    ({ type, data }) => type === 'ConversionRequested' && data.includes(letter),
  );
  const to = endOf(log, letter);
  const ends = ids.map((id) => endOf(log, id));
  return ends.filter((end) => end > (from?.position ?? Infinity) && end < to).length;
}

/** The attack on two slots. Letters come one after the other, the first when both slots are taken. */
async function attackTwoSlots(
  t: Test,
  deployment: Deployment,
  pages: readonly Request[],
): Promise<void> {
  const attacker = await attackerOf(deployment);
  const victim = deployment.service.client();
  const ids = await createAll(attacker, pages);
  await rendering(attacker, ids, 2);
  const letters: string[] = [];
  for (let n = 0; n < LETTERS; n += 1) {
    const { id } = await victim.create(LETTER);
    letters.push(id);
    t.equal((await victim.wait(id)).status, 'completed');
  }
  const log = await deployment.log();
  const [first = 0, ...later] = letters.map((id) => endedMeanwhile(log, ids, id));
  t.ok(first <= 2, `the first waits for ${first} of the attacker's pages`);
  // A page of the attacker's one slot may end by chance while a letter is rendered in the other.
  const delayed = later.filter((count) => count > 0).length;
  t.ok(delayed <= 2, `later ones wait for ${later.join(', ')}`);
}

async function embedded(t: Test, slots: number): Promise<Deployment> {
  const settings = { ...SETTINGS, RENDER_CONCURRENCY: String(slots) };
  const service = await startService(t, settings);
  return { service, place: service.place, log: async () => readLog(service.place.dataDir) };
}

const repeat = <T>(count: number, ...values: readonly T[]): T[] =>
  Array.from({ length: count }, (_, n) => values[n % values.length] as T);

void test('endless pages delay others once', { timeout: 120_000 }, async (t) => {
  const listener = await countingListener();
  t.teardown(() => listener.close());
  const silent: Request = { html: `<img src="http://127.0.0.1:${listener.port}/never">` };
  const missing: Request = { ...LETTER, wait_for: { selector: '#never' } };
  await attackTwoSlots(t, await embedded(t, 2), repeat(PAGES, LOOP, silent, missing));
});

void test('slow pages that never time out delay others once', { timeout: 120_000 }, async (t) => {
  const slow: Request = { ...LETTER, wait_for: { delay_ms: LIMIT_MS - 1000 } };
  await attackTwoSlots(t, await embedded(t, 2), repeat(PAGES, slow));
});

void test('endless pages delay others once, with renderers apart', {
  timeout: 120_000,
}, async (t) => {
  const [kind] = KINDS;
  if (!kind) throw new Error('There is no kind of deployment.');
  const nodes = await Nodes.start(t, kind, SETTINGS);
  const service = await nodes.api();
  await nodes.renderer({ RENDER_CONCURRENCY: '2' });
  const deployment = { service, place: nodes.place, log: () => nodes.log() };
  await attackTwoSlots(t, deployment, repeat(PAGES, LOOP));
});

void test('endless pages have their turn last where there is one slot', {
  timeout: 120_000,
}, async (t) => {
  const deployment = await embedded(t, 1);
  const attacker = await attackerOf(deployment);
  const victim = deployment.service.client();
  const ids = await createAll(attacker, repeat(PAGES, LOOP));
  await rendering(attacker, ids, 1);
  const letters = await createAll(victim, repeat(LETTERS, LETTER));
  for (const id of letters) t.equal((await victim.wait(id)).status, 'completed');
  const log = await deployment.log();
  for (const id of letters) t.ok(endedMeanwhile(log, ids, id) <= 1, 'it waits for one page');
});

void test('an account alone uses all slots', { timeout: 120_000 }, async (t) => {
  const { service } = await embedded(t, 2);
  const client = service.client();
  const slow: Request = { ...LETTER, wait_for: { delay_ms: LIMIT_MS - 1000 } };
  // Again after its long pages: nobody else was there to share with.
  for (let round = 1; round <= 2; round += 1) {
    const ids = await createAll(client, repeat(2, slow));
    await rendering(client, ids, 2);
    for (const id of ids) t.equal((await client.wait(id)).status, 'completed');
  }
});
