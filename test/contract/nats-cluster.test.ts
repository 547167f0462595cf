/** A cluster of three nats-servers: conversions go on without any one of them. */
import { pino } from 'pino';
import { type Test, test } from 'tap';
import { connectToNats, type NatsLink } from '../../src/nats/connection.ts';
import { NatsRenderQueue } from '../../src/render-queue/nats/queue.ts';
import { jobsStream } from '../../src/render-queue/nats/streams.ts';
import { openNatsQueues } from '../../src/service/nats.ts';
import { eventually } from '../support/deadline.ts';
import { type NatsCluster, startNatsCluster } from '../support/nats-cluster.ts';
import type { NatsServer } from '../support/nats-server.ts';
import { recordReports, renderJob, startRenderer } from '../support/render-queue.ts';

const silent = pino({ level: 'silent' });
/** Time for the queue to redeliver a job twice (15 s each) and for elections, on a busy machine. */
const PATIENT_MS = 150_000;

async function link(t: Test, url: string, name: string): Promise<NatsLink> {
  const opened = await connectToNats(url, { name, logger: silent });
  t.teardown(() => opened.close());
  return opened;
}

interface Deployment {
  readonly queue: NatsRenderQueue;
  readonly ended: Set<string>;
}

async function deploy(t: Test, url: string): Promise<Deployment> {
  const api = await link(t, url, 'api');
  const queue = await NatsRenderQueue.open({ link: api, logger: silent, side: 'api' });
  const ended = new Set<string>();
  recordReports(queue, ended);
  const own = await link(t, url, 'renderer');
  const renderer = await NatsRenderQueue.open({ link: own, logger: silent, side: 'renderer' });
  startRenderer(renderer, 4, (delivery) => delivery.ack());
  t.teardown(async () => {
    await Promise.all([queue.close(), renderer.close()]);
  });
  return { queue, ended };
}

const FAULTS: Readonly<
  Record<string, (cluster: NatsCluster, server: NatsServer) => Promise<void> | void>
> = {
  killed: (_, server) => server.kill(),
  frozen: (_, server) => server.freeze(),
  'cut off from the others': (cluster, server) => cluster.cutOff(server),
};

for (const [name, fault] of Object.entries(FAULTS)) {
  void test(`conversions end although the server that leads their jobs is ${name}`, async (t) => {
    const cluster = await startNatsCluster(t);
    const { queue, ended } = await deploy(t, `${cluster.url}?replicas=3`);
    const offer = async (from: number): Promise<true> => {
      for (let n = from; n < from + 20; n += 1) await queue.offer(renderJob(n));
      return await eventually(
        `the end of ${from} and later`,
        () => ended.size >= from + 19 || undefined,
        PATIENT_MS,
      );
    };
    t.ok(await offer(1));
    await fault(cluster, await cluster.leaderOf(jobsStream('pressledger')));
    t.ok(await offer(21), 'while it is away');
  });
}

void test('streams with one replica are named, and one without its server is not blamed on others', async (t) => {
  const cluster = await startNatsCluster(t);
  const own = await link(t, cluster.url, 'api');
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const queues = await openNatsQueues(own, { head: () => Promise.resolve(0n) }, logger);
  await (await queues.open('api')).close();
  const stream = jobsStream('pressledger');
  t.match(
    lines.join(''),
    new RegExp(`"streams":\\[.*"${stream}".*nats stream edit NAME --replicas 3`),
  );
  const leader = await cluster.leaderOf(stream);
  const others = cluster.servers.filter((server) => server !== leader);
  await leader.kill();
  const leftUrl = others.map(({ url }) => url).join(',');
  const left = await eventually(
    'the rest',
    () => link(t, leftUrl, 'api').catch(() => undefined),
    PATIENT_MS,
  );
  const opening = async (): Promise<Error | undefined> => {
    try {
      const opened = await NatsRenderQueue.open({ link: left, logger: silent, side: 'api' });
      await opened.close();
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  };
  const refusal = await eventually('a refusal', opening, PATIENT_MS);
  t.notMatch(refusal.message, /already in use/);
  await leader.restart();
  await eventually('the stream', async () => !(await opening()) || undefined, PATIENT_MS);
});
