/** The metrics of a process, held against what its clients see. */
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { test } from 'tap';
import { PressledgerClient } from '../../client/src/client.ts';
import { runCli } from '../support/cli.ts';
import { eventually } from '../support/deadline.ts';
import { metricsUrl, type Scrape, scrape } from '../support/metrics.ts';
import { KINDS, Nodes } from '../support/nodes.ts';
import { createPlace } from '../support/place.ts';
import { Service, startService } from '../support/service.ts';

const ON = { METRICS_PORT: '0' };

const readyzOf = async (origin: string): Promise<number> => {
  const answer = await fetch(`${origin}/readyz`);
  await answer.body?.cancel();
  return answer.status;
};

void test('a service tells what its clients did, and nothing about who they are', async (t) => {
  const service = await startService(t, ON);
  const client = service.client();
  const done = await client.wait((await client.create({ html: '<h1>Counted</h1>' })).id);
  t.equal(done.status, 'completed');
  const { id } = await client.create({ html: '<p>one page</p>', page_ranges: '7' });
  t.equal((await client.wait(id)).status, 'failed');
  const stranger = new PressledgerClient({ server: service.url, apiKey: 'pk_live_0' });
  await t.rejects(stranger.account());
  await (await fetch(`${service.url}/nothing/${id}`)).body?.cancel();
  await runCli(service.place, ['credits', 'grant', service.firstStart.email, '7']);

  const seen = await eventually('what the log says', async () => {
    const each = await scrape(service);
    const awaited = Object.entries({
      credits_refunded_total: 1,
      credits_granted_total: 107,
      projection_lag_events: 0,
      // A slot is free once its tab is empty.
      render_slots_in_use: 0,
    });
    const isSo = awaited.every(([name, value]) => each.value(`pressledger_${name}`) === value);
    return isSo ? each : undefined;
  });
  const expected: readonly (readonly [string, Readonly<Record<string, string>>, number])[] = [
    ['ready', {}, 1],
    ['leader', {}, 1],
    ['conversions_accepted_total', {}, 2],
    ['conversions_completed_total', {}, 1],
    ['conversions_failed_total', { reason: 'page_range' }, 1],
    ['conversion_duration_seconds_count', {}, 2],
    ['credits_debited_total', {}, 2],
    ['queue_conversions', {}, 0],
    ['queue_oldest_age_seconds', {}, 0],
    ['render_slots', {}, 1],
    ['render_duration_seconds_count', { outcome: 'completed' }, 1],
    ['render_duration_seconds_count', { outcome: 'failed' }, 1],
    ['browsers', {}, 1],
    ['refusals_total', { bound: 'max_connections' }, 0],
    ['bound_limit', { bound: 'max_connections' }, 4096],
  ];
  for (const [name, labels, value] of expected) {
    t.equal(seen.value(`pressledger_${name}`, labels), value, `${name} ${JSON.stringify(labels)}`);
  }
  for (const phase of ['queued', 'load', 'ready', 'print', 'store']) {
    t.equal(seen.value('pressledger_render_phase_duration_seconds_count', { phase }), 1, phase);
  }
  const requests = (labels: Readonly<Record<string, string>>): number | undefined =>
    seen.value('pressledger_http_request_duration_seconds_count', labels);
  t.equal(requests({ method: 'POST', route: '/api/v1/pdf/', status: '202' }), 2);
  t.equal(requests({ route: '/api/v1/account/', status: '401' }), 1);
  t.equal(requests({ route: 'other', status: '404' }), 1);
  for (const call of ['append', 'read_stream', 'head']) {
    const calls = seen.value('pressledger_event_store_call_duration_seconds_count', { call });
    t.ok((calls ?? 0) > 0, call);
  }
  t.ok((seen.value('pressledger_blob_store_call_duration_seconds_count') ?? 0) > 0);
  t.ok((seen.value('pressledger_browser_memory_bytes') ?? 0) > 1e6);
  t.ok((seen.value('pressledger_event_loop_delay_seconds_count') ?? 0) > 0);
  t.ok((seen.value('pressledger_projection_delay_seconds_count') ?? 0) > 0);
  t.equal(seen.value('pressledger_nats_up'), undefined, 'there is no NATS to be up');
  for (const personal of [
    id,
    done.id,
    'acct_',
    'person_',
    'key_',
    'pk_live',
    service.firstStart.email,
  ]) {
    t.notMatch(seen.text, personal);
  }

  const other = await fetch((await metricsUrl(service)).replace('/metrics', '/'));
  t.equal(other.status, 404);
  t.equal((await fetch(`${service.url}/metrics`)).status, 404, 'clients of the API see none');
});

void test('downloads print nothing but lines of the log', async (t) => {
  const service = await startService(t, ON);
  const client = service.client();
  const { id, file_url: link = '' } = await client.wait(
    (await client.create({ html: '<h1>Downloaded</h1>' })).id,
  );
  const file = `${service.url}/api/v1/conversions/${id}/file/`;
  const headers = { 'X-API-Key': service.firstStart.apiKey };
  for (const answer of [await fetch(file, { headers }), await fetch(link)]) {
    t.equal(answer.status, 200);
    t.ok((await answer.arrayBuffer()).byteLength > 0);
  }
  await service.stop();
  // The launcher's own lines are for people.
  const lines = service.output.stderr
    .split('\n')
    .filter((line) => !/^(pressledger: .*)?$/.test(line));
  t.ok(lines.length > 0);
  for (const line of lines) t.doesNotThrow(() => JSON.parse(line) as unknown, line);
});

void test('nothing is served unless it is asked for, and a taken port stops the start', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.teardown(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  const place = createPlace(t, { METRICS_PORT: String(port) });
  const service = new Service(place);
  t.teardown(() => service.kill());
  t.equal((await service.startInVain()).code, 1);
  t.match(
    service.output.stderr,
    new RegExp(
      `Cannot serve metrics on 127\\.0\\.0\\.1: port ${port} is in use\\. Set METRICS_PORT`,
    ),
  );
  t.throws(() => readdirSync(place.dataDir), { code: 'ENOENT' }, 'nothing was made');
  const same = new Service(createPlace(t, { METRICS_PORT: '8123', PORT: '8123' }));
  t.teardown(() => same.kill());
  t.equal((await same.startInVain()).code, 1);
  t.match(same.output.stderr, /METRICS_PORT is 8123, as PORT is: set it to another/);
  t.throws(() => readdirSync(same.place.dataDir), { code: 'ENOENT' });
  const plain = await startService(t);
  t.notMatch(plain.output.stderr, /metrics are at/);
});

for (const kind of KINDS) {
  const title = `${kind.name}: each node tells its own part, and is ready by the same answer as /readyz`;
  void test(title, { ...kind.options, timeout: 240_000 }, async (t) => {
    const nodes = await Nodes.start(t, kind, ON);
    const [api, renderer] = [await nodes.api(), await nodes.renderer()];
    const client = api.client();
    const { status } = await client.wait((await client.create({ html: '<h1>Apart</h1>' })).id);
    t.equal(status, 'completed');

    const [fromApi, fromRenderer] = [await scrape(api), await scrape(renderer)];
    t.equal(fromApi.value('pressledger_build_info', { role: 'api' }), 1);
    t.equal(fromRenderer.value('pressledger_build_info', { role: 'renderer' }), 1);
    t.equal(fromApi.value('pressledger_conversions_completed_total'), 1);
    t.equal(fromApi.value('pressledger_render_slots'), undefined);
    t.equal(fromRenderer.value('pressledger_render_slots'), 1);
    t.equal(fromRenderer.value('pressledger_conversions_completed_total'), undefined);
    const calls = 'pressledger_nats_call_duration_seconds_count';
    t.ok((fromApi.value(calls, { call: 'publish_job' }) ?? 0) > 0, 'the job');
    // The client may know of the end before the renderer knows that its report has arrived.
    await eventually('its reports', async () => {
      const reports = (await scrape(renderer)).value(calls, { call: 'report' }) ?? 0;
      return reports > 1 ? true : undefined;
    });

    const told = async (expected: 0 | 1): Promise<void> => {
      for (const [node, origin] of [
        [api, api.url],
        [renderer, renderer.healthUrl],
      ] as const) {
        await eventually(`ready ${expected}`, async () => {
          const isReady = (await readyzOf(origin)) === 200;
          const seen: Scrape = await scrape(node);
          const agrees =
            seen.value('pressledger_ready') === expected &&
            seen.value('pressledger_nats_up') === expected;
          return agrees && isReady === (expected === 1) ? true : undefined;
        });
      }
    };
    await told(1);
    await nodes.nats.stop();
    await told(0);
    await nodes.nats.restart();
    await told(1);
  });
}
