/** What each side of the queue may do at a server that grants it exactly what it needs. */
import { errors } from '@nats-io/transport-node';
import { pino } from 'pino';
import { type Test, test } from 'tap';
import { NatsKvRateLimiter } from '../../src/limits/rate-limiter/nats-kv.ts';
import { inboxOf, nameIn } from '../../src/nats/address.ts';
import { connectToNats, type NatsLink } from '../../src/nats/connection.ts';
import { NatsRenderQueue } from '../../src/render-queue/nats/queue.ts';
import {
  endedSubject,
  jobSubject,
  jobsStream,
  progressSubject,
  RECORDERS,
  RENDERERS,
  reportSubject,
  slotsSubject,
} from '../../src/render-queue/nats/streams.ts';
import { LOG_BUCKET, openNatsQueues } from '../../src/service/nats.ts';
import { eventually } from '../support/deadline.ts';
import { startNatsServer } from '../support/nats-server.ts';
import { hold, recordReports, renderJob } from '../support/render-queue.ts';
import { conversionId, NOW } from '../support/samples.ts';

/** Not the default: then a name without it would show. */
const NAMESPACE = 'other';
const bucketSubjects = (bucket: string): string[] => [
  `$JS.API.STREAM.INFO.KV_${bucket}`,
  `$JS.API.STREAM.CREATE.KV_${bucket}`,
  `$JS.API.STREAM.MSG.GET.KV_${bucket}`,
  `$KV.${bucket}.>`,
];

/** All that each side needs at the server, in the terms of its configuration. */
function permissionsOf(namespace: string) {
  const jobs = jobsStream(namespace);
  const reports = reportSubject(namespace);
  const slots = slotsSubject(namespace, '*');
  const progress = progressSubject(namespace);
  const inboxes = { api: inboxOf(namespace, 'api'), renderer: inboxOf(namespace, 'renderer') };
  return {
    renderer: {
      publish: [
        '$JS.API.INFO',
        `$JS.API.CONSUMER.INFO.${jobs}.${RENDERERS}`,
        `$JS.API.CONSUMER.MSG.NEXT.${jobs}.${RENDERERS}`,
        `$JS.ACK.${jobs}.${RENDERERS}.>`,
        // Servers that put the domain and account before the stream.
        `$JS.ACK.*.*.${jobs}.${RENDERERS}.>`,
        reports,
        slots,
      ],
      subscribe: [`${inboxes.renderer}.>`, endedSubject(namespace)],
    },
    api: {
      publish: [
        '$JS.API.INFO',
        `$JS.API.STREAM.INFO.${jobs}`,
        `$JS.API.STREAM.CREATE.${jobs}`,
        `$JS.API.STREAM.MSG.DELETE.${jobs}`,
        `$JS.API.STREAM.MSG.GET.${jobs}`,
        `$JS.API.CONSUMER.CREATE.${jobs}.${RENDERERS}`,
        `$JS.API.CONSUMER.INFO.${jobs}.${RENDERERS}`,
        jobSubject(namespace, '*'),
        endedSubject(namespace),
        progress,
        // The answers to reports, and to those who record them.
        `${inboxes.renderer}.>`,
        `${inboxes.api}.>`,
        // Rate limits, the lease of the leader, and the name of the log.
        ...['RATES', 'LEASE_LEAD', LOG_BUCKET].flatMap((name) =>
          bucketSubjects(nameIn(namespace, name)),
        ),
      ],
      subscribe: [`${inboxes.api}.>`, `${reports} ${RECORDERS}`, progress, slots],
    },
  };
}

const PERMISSIONS = permissionsOf(NAMESPACE);
const JOBS = jobsStream(NAMESPACE);
const allow = (subjects: readonly string[]): string => JSON.stringify({ allow: subjects });

const CONFIG = `authorization { users [
  { user: api, password: a, permissions: {
    publish: ${allow(PERMISSIONS.api.publish)},
    subscribe: ${allow(PERMISSIONS.api.subscribe)} } }
  { user: renderer, password: r, permissions: {
    publish: ${allow(PERMISSIONS.renderer.publish)},
    subscribe: ${allow(PERMISSIONS.renderer.subscribe)} } }
] }`;

interface Sides {
  readonly api: NatsLink;
  readonly renderer: NatsLink;
  /** What the log of either says is wrong. */
  readonly complaints: readonly string[];
}

async function connectBoth(t: Test): Promise<Sides> {
  const { url } = await startNatsServer(t, { config: CONFIG });
  const complaints: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => void complaints.push(line) });
  const connect = async (side: 'api' | 'renderer'): Promise<NatsLink> => {
    const inboxPrefix = inboxOf(NAMESPACE, side);
    const at = url.replace('//', `//${side}:${side.slice(0, 1)}@`);
    const link = await connectToNats(`${at}?namespace=${NAMESPACE}`, {
      name: side,
      logger,
      inboxPrefix,
    });
    t.teardown(() => link.close());
    return link;
  };
  return { api: await connect('api'), renderer: await connect('renderer'), complaints };
}

void test('both sides of the queue need no more than their permissions', async (t) => {
  const { api, renderer, complaints } = await connectBoth(t);
  const logger = pino({ level: 'silent' });
  // The renderer first: it waits for the API to make the streams.
  const rendering = await NatsRenderQueue.open({ link: renderer, logger, side: 'renderer' });
  const holder = hold(rendering, 2);
  const offering = await NatsRenderQueue.open({ link: api, logger, side: 'api' });
  t.teardown(() => Promise.all([rendering.close(), offering.close()]));
  for (const n of [1, 2, 3]) await offering.offer(renderJob(n));
  const reports = recordReports(offering);
  const first = await holder.delivery(0);
  await first.nack();
  await offering.discard(new Set([conversionId(2)]));
  const unneeded = await holder.delivery(1);
  await eventually('the renderer to hear of it', () => unneeded.unneeded.aborted || undefined);
  for (const n of [1, 2, 3]) await (await holder.delivery(n)).ack();
  t.equal(reports.filter(({ kind }) => kind === 'completed').length, 3);
  await eventually('nothing to wait', () => offering.waiting() === 0 || undefined);
  await holder.stop();

  const limiter = await NatsKvRateLimiter.open({ link: api, clock: { now: () => NOW }, logger });
  t.match(await limiter.consume('a', { limit: 3, windowMs: 60_000 }), { remaining: 2 });
  const queues = await openNatsQueues(api, { head: async () => 0n }, logger);
  const lease = await queues.lease('log').acquire();
  t.ok(lease);
  await lease?.release();
  t.strictSame(complaints, []);
});

void test('a renderer can neither make jobs nor read what is others’', async (t) => {
  const { api, renderer, complaints } = await connectBoth(t);
  const logger = pino({ level: 'silent' });
  const offering = await NatsRenderQueue.open({ link: api, logger, side: 'api' });
  t.teardown(() => offering.close());
  await NatsKvRateLimiter.open({ link: api, clock: { now: () => NOW }, logger });
  const { connection } = renderer;
  for (const subject of [
    jobSubject(NAMESPACE, 'conv_x'),
    '$JS.API.STREAM.MSG.GET.KV_OTHER_RATES',
    '$JS.API.STREAM.LIST',
    `$JS.API.STREAM.DELETE.${JOBS}`,
    `$JS.API.CONSUMER.CREATE.${JOBS}.mine`,
    '$KV.OTHER_RATES.x',
  ]) {
    await t.rejects(
      connection.request(subject, '{}', { timeout: 500 }),
      errors.RequestError,
      subject,
    );
  }
  for (const subject of ['_INBOX_OTHER_API.>', '>', '$KV.>', reportSubject(NAMESPACE)]) {
    const refused = new Promise((resolve) => {
      connection.subscribe(subject, { callback: resolve });
    });
    t.match(await refused, errors.PermissionViolationError, subject);
  }
  t.ok(complaints.length > 0, 'a violation is logged');
});
