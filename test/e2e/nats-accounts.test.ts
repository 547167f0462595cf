/** deploy/nats-accounts.conf on a real server: what renderers can do there, and what they cannot. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { pino } from 'pino';
import { type Test, test } from 'tap';
import { NatsObjects } from '../../src/documents/nats-objects.ts';
import type { ObjectContent } from '../../src/documents/objects.ts';
import { inboxOf } from '../../src/nats/address.ts';
import { connectToNats } from '../../src/nats/connection.ts';
import { NatsRenderQueue } from '../../src/render-queue/nats/queue.ts';
import { jobsStream, reportSubject } from '../../src/render-queue/nats/streams.ts';
import { eventually } from '../support/deadline.ts';
import { startNatsServer } from '../support/nats-server.ts';
import { createPlace, LAUNCHER } from '../support/place.ts';
import { hold, recordReports, renderJob } from '../support/render-queue.ts';
import { RendererProcess, Service } from '../support/service.ts';

const ACCOUNTS = readFileSync(new URL('../../deploy/nats-accounts.conf', import.meta.url), 'utf8');
/** As docker-compose.yml passes them; without the quotes of its own the second would be a number. */
const PASSWORDS = { NATS_API_PASSWORD: '"a1b2"', NATS_RENDERER_PASSWORD: '"0123456789"' };

/** The names in that file. */
const NAMESPACE = 'pressledger';
const JOBS = jobsStream(NAMESPACE);

const logger = pino({ level: 'silent' });

async function startServer(t: Test) {
  Object.assign(process.env, PASSWORDS);
  const { url } = await startNatsServer(t, { config: ACCOUNTS });
  return {
    api: url.replace('//', '//api:a1b2@'),
    renderer: url.replace('//', '//renderer:0123456789@'),
  };
}

async function connectAs(t: Test, side: 'api' | 'renderer', url: string) {
  const inboxPrefix = inboxOf(NAMESPACE, side);
  const link = await connectToNats(url, { name: side, logger, inboxPrefix });
  t.teardown(() => link.close());
  return link;
}

async function connectBoth(t: Test) {
  const urls = await startServer(t);
  return {
    api: await connectAs(t, 'api', urls.api),
    renderer: await connectAs(t, 'renderer', urls.renderer),
  };
}

function content(bytes: Buffer): ObjectContent {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return {
    bytes: bytes.length,
    sha256,
    open: () => Readable.from([bytes], { objectMode: false }),
  };
}

void test('a renderer takes jobs, reports, reads requests and stores documents', async (t) => {
  const { api, renderer } = await connectBoth(t);
  const offering = await NatsRenderQueue.open({ link: api, logger, side: 'api' });
  const rendering = await NatsRenderQueue.open({ link: renderer, logger, side: 'renderer' });
  t.teardown(async () => {
    await rendering.close();
    await offering.close();
  });
  const reports = recordReports(offering);
  const holder = hold(rendering, 2);
  await offering.offer(renderJob(1));
  await (await holder.delivery(0)).nack();
  await (await holder.delivery(1)).ack();
  t.strictSame(
    reports.map(({ kind }) => kind),
    ['started', 'failed', 'started', 'completed'],
  );

  const [ofApi, ofRenderer] = [
    new NatsObjects(api.connection),
    new NatsObjects(renderer.connection),
  ];
  await t.rejects(ofRenderer.checkUsable(), {
    message:
      'BLOB_STORE_URL: the NATS object store pressledger-blobs cannot be used: ' +
      'it is not there yet, and this node may not make it; start an api node first.',
  });
  await ofApi.checkUsable();
  await ofRenderer.checkUsable();
  const request = Buffer.from('<p>'.repeat(200_000));
  await ofApi.put('conv_1/request-a', content(request));
  const read = await ofRenderer.get('conv_1/request-a');
  t.equal(read && Buffer.compare(await buffer(read.content), request), 0);
  const document = Buffer.alloc(300_000, 7);
  await ofRenderer.put('conv_1/document-b', content(document));
  const stored = await ofApi.get('conv_1/document-b');
  t.equal(stored && Buffer.compare(await buffer(stored.content), document), 0);
});

/** Everything that a renderer's credentials could be used for against the rest of the service. */
function attack(connection: NatsConnection): void {
  const direct = [
    '$KV.keyring.account',
    '$KV.PRESSLEDGER_LOG.origin',
    'pressledger.jobs.forged',
    '$JS.API.STREAM.DELETE.KV_keyring',
    '$JS.API.STREAM.PURGE.KV_keyring',
    `$JS.API.STREAM.DELETE.${JOBS}`,
    `$JS.API.STREAM.UPDATE.${JOBS}`,
    '$JS.API.STREAM.DELETE.OBJ_pressledger-blobs',
    '$JS.API.STREAM.PURGE.OBJ_pressledger-blobs',
  ];
  for (const subject of direct) connection.publish(subject, '{}');
  // An answer that is sent to a stream's subject would be stored there.
  for (const reply of ['$KV.keyring.account', 'pressledger.jobs.forged']) {
    connection.publish('$JS.API.INFO', '', { reply });
    connection.publish(reportSubject(NAMESPACE), 'no report', { reply });
    connection.publish('$JS.API.STREAM.INFO.OBJ_pressledger-blobs', '', { reply });
    connection.publish('$JS.API.DIRECT.GET.OBJ_pressledger-blobs', '{"seq":1}', { reply });
  }
}

void test('a renderer reaches neither the keyring nor what others are told', async (t) => {
  const { api, renderer } = await connectBoth(t);
  const offering = await NatsRenderQueue.open({ link: api, logger, side: 'api' });
  t.teardown(() => offering.close());
  recordReports(offering);
  // Something to be given as an answer.
  await new NatsObjects(api.connection).put('conv_1/request-a', content(Buffer.from('forged')));
  const keyring = await new Kvm(jetstream(api.connection)).create('keyring');
  const log = await new Kvm(jetstream(api.connection)).create('PRESSLEDGER_LOG');
  await keyring.put('account', 'wrapped');
  const manager = await jetstreamManager(api.connection);

  attack(renderer.connection);
  const questions = [
    '$JS.API.STREAM.NAMES',
    '$JS.API.STREAM.CREATE.OBJ_pressledger-blobs',
    '$JS.API.STREAM.CREATE.mirror',
    '$JS.API.STREAM.INFO.KV_keyring',
    '$JS.API.STREAM.MSG.GET.KV_keyring',
    '$JS.API.DIRECT.GET.KV_keyring.$KV.keyring.account',
    '$JS.API.CONSUMER.CREATE.KV_keyring',
    '$JS.API.STREAM.MSG.GET.KV_PRESSLEDGER_LOG',
    // A consumer delivers to whatever subject of the account its maker names.
    '$JS.API.CONSUMER.CREATE.OBJ_pressledger-blobs',
    '$JS.API.CONSUMER.CREATE.OBJ_pressledger-blobs.x',
    '$JS.API.CONSUMER.DURABLE.CREATE.OBJ_pressledger-blobs.x',
    '$JS.API.CONSUMER.CREATE.PRESSLEDGER_JOBS.x',
    '$JS.API.CONSUMER.DELETE.PRESSLEDGER_JOBS.renderers',
  ];
  for (const subject of questions) {
    const asked = renderer.connection.request(subject, '{}', { timeout: 5000 });
    await t.rejects(asked, /no responders/, subject);
  }
  // The same server has by now seen everything that was sent before.
  await renderer.connection.flush();
  const entry = await keyring.get('account');
  t.equal(entry?.string(), 'wrapped');
  t.equal(entry?.revision, 1, 'nothing was written there');
  t.equal(await log.get('origin'), null);
  const { state } = await manager.streams.info(JOBS, { subjects_filter: '>' });
  t.strictSame(state.subjects ?? {}, {});
  t.ok(await manager.streams.info('OBJ_pressledger-blobs'));

  // Last, because a subscription to everything answers for those who are missing.
  const overheard: string[] = [];
  renderer.connection.subscribe('>', {
    callback: (_, { subject }) => {
      overheard.push(subject);
    },
  });
  await renderer.connection.flush();
  await keyring.put('account', 'wrapped again');
  await offering.offer(renderJob(1));
  await eventually('the job', async () => {
    const { state: now } = await manager.streams.info(JOBS);
    return now.messages === 1 || undefined;
  });
  await renderer.connection.flush();
  t.strictSame(overheard, []);

  const wrong = await connectToNats(
    `nats://renderer:a1b2@127.0.0.1:${renderer.connection.getServer().split(':')[1]}`,
    { name: 'x', logger },
  ).catch((error: unknown) => String(error));
  t.match(wrong, /refuses the credentials/);
});

const KEY = '0123456789abcdef'.repeat(4);
/** Of tests that start whole nodes. */
const WHOLE = { timeout: 120_000 };

/** A whole deployment that keeps documents and keys in NATS. */
async function startNodes(t: Test) {
  const urls = await startServer(t);
  const shared = { BLOB_STORE_URL: 'nats:' };
  const settings = { ...shared, NATS_URL: urls.api, MASTER_KEY: KEY };
  const api = new Service(createPlace(t, settings), [LAUNCHER, 'api']);
  t.teardown(() => api.kill());
  await api.start();
  const renderer = (): RendererProcess => {
    const env = { ...shared, NATS_URL: urls.renderer };
    const node = new RendererProcess(createPlace(t, env));
    t.teardown(() => node.kill());
    return node;
  };
  return { urls, settings, api, renderer };
}

void test('nodes on documents in NATS convert without a key of their own', WHOLE, async (t) => {
  const { api, renderer } = await startNodes(t);
  await renderer().start();
  const { id } = await api.client().create({ html: '<p>encrypted</p>' });
  t.equal((await api.client().wait(id)).status, 'completed');
});

void test(
  'an API node with a log of its own does not start in the namespace of another',
  WHOLE,
  async (t) => {
    const { urls, settings, api } = await startNodes(t);
    const { connection } = await connectAs(t, 'api', urls.api);
    const log = await new Kvm(connection).open('PRESSLEDGER_LOG');
    const stranger = new Service(createPlace(t, settings), [LAUNCHER, 'api']);
    t.teardown(() => stranger.kill());
    t.match(await stranger.startInVain(), { code: 1, signal: null });
    t.match(
      stranger.output.stderr,
      /^pressledger: The event log is empty: if it should not be, restore it. The namespace pressledger of NATS_URL belongs to another event log, [^\n]+\n$/,
    );
    t.match(await api.restart(), { code: 0 });
    const namespaced = { ...settings, NATS_URL: `${urls.api}?namespace=other` };
    const neighbour = new Service(createPlace(t, namespaced), [LAUNCHER, 'api']);
    t.teardown(() => neighbour.kill());
    await neighbour.start();

    t.match(await api.stop(), { code: 0 });
    await log.delete('origin');
    t.match(await stranger.startInVain(), { code: 1, signal: null });
    t.match(
      stranger.output.stderr,
      /^pressledger: The keyring in [^\n]+ belongs to the event log /,
    );
    await (await new Kvm(connection).open('pressledger-keys')).delete('keyring.log');
    await stranger.start();
  },
);

void test(
  'readiness tells of a bucket for documents that a renderer has filled',
  WHOLE,
  async (t) => {
    const { urls, api } = await startNodes(t);
    const { connection } = await connectAs(t, 'renderer', urls.renderer);
    const manager = await jetstreamManager((await connectAs(t, 'api', urls.api)).connection);
    const { config } = await manager.streams.info('OBJ_pressledger-blobs');
    await manager.streams.update('OBJ_pressledger-blobs', { ...config, max_bytes: 500_000 });
    await new NatsObjects(connection).put('conv_1/document-b', content(Buffer.alloc(400_000)));
    const large = { html: `<p>${'x'.repeat(200_000)}</p>` };
    await t.rejects(api.client().create(large), { code: 'service_unavailable' });
    const answer = await fetch(`${api.url}/readyz`);
    t.equal(answer.status, 503);
    t.match(await answer.json(), {
      details: {
        missing: ['the blob store cannot be used: it takes no writes: maximum bytes exceeded'],
      },
    });
  },
);
