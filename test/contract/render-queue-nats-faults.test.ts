/** What the render queue on NATS owes when parts of it die, come back, or say things twice. */
import { setTimeout as pause } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type Logger, pino } from 'pino';
import tap, { type Test, test } from 'tap';
import { MAX_MANIFEST_BYTES } from '../../src/domain/render-manifest.ts';
import { connectToNats, type NatsLink } from '../../src/nats/connection.ts';
import type { Recorded } from '../../src/render-queue/messages.ts';
import { type NatsQueueSide, NatsRenderQueue } from '../../src/render-queue/nats/queue.ts';
import { REFUSED } from '../../src/render-queue/nats/reports.ts';
import {
  jobSubject,
  jobsStream,
  listJobs,
  progressSubject,
  RENDERERS,
  removeJob,
  reportSubject,
} from '../../src/render-queue/nats/streams.ts';
import { cable } from '../support/cable.ts';
import { eventually } from '../support/deadline.ts';
import { startNatsServer } from '../support/nats-server.ts';
import {
  completedReport,
  failedReport,
  hold,
  idsOf,
  recordReports,
  renderJob,
  startedReport,
  startRenderer,
} from '../support/render-queue.ts';
import { conversionId } from '../support/samples.ts';

// Each has a server of its own, and waits more than it works.
tap.jobs = 4;

const silent = pino({ level: 'silent' });
const RECORDED: Recorded = { ended: true, attempt: 1 };
const ACK_WAIT_MS = 1000;
/** Longer than a server needs to come back. */
const PATIENT_MS = 10_000;

interface Node {
  readonly link: NatsLink;
  readonly queue: NatsRenderQueue;
}

async function node(
  t: Test,
  url: string,
  side: NatsQueueSide,
  ackWaitMs = ACK_WAIT_MS,
  logger: Logger = silent,
): Promise<Node> {
  const link = await connectToNats(url, { name: side, logger: silent });
  const queue = await NatsRenderQueue.open({ link, logger, side, ackWaitMs });
  t.teardown(async () => {
    await queue.close();
    await link.close();
  });
  return { link, queue };
}

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, n) => from + n);

const numberOf = (id: string): number => Number(id.slice(-10));

const soon = (what: string, look: () => boolean): Promise<true> =>
  eventually(what, () => look() || undefined);

const pass = (ms: number): Promise<true> => {
  const end = performance.now() + ms;
  return soon('time', () => performance.now() > end);
};

void test('a job in flight stays there however long it takes, and goes on when its renderer dies', async (t) => {
  const { url } = await startNatsServer(t);
  const api = await node(t, url, 'api');
  recordReports(api.queue);
  const [dying, other] = [await node(t, url, 'renderer'), await node(t, url, 'renderer')];
  const holder = hold(dying.queue, 1);
  await api.queue.offer(renderJob(1));
  await holder.delivery(0);
  const heir = hold(other.queue, 1);
  await pass(2.5 * ACK_WAIT_MS);
  t.strictSame(heir.jobs, []);
  await dying.link.connection.close();
  const inherited = await heir.delivery(0);
  t.strictSame(inherited.job, { ...renderJob(1), retry: true });
  await inherited.ack();
  await soon('nothing to wait', () => api.queue.waiting() === 0);
});

void test('what a stopping renderer requeues goes to another at once', async (t) => {
  const { url } = await startNatsServer(t);
  const api = await node(t, url, 'api');
  recordReports(api.queue);
  const [stopping, other] = [await node(t, url, 'renderer'), await node(t, url, 'renderer')];
  const holder = hold(stopping.queue, 2);
  for (const n of [1, 2]) await api.queue.offer(renderJob(n));
  const untried = [await holder.delivery(0), await holder.delivery(1)];
  const heir = hold(other.queue, 2);
  const begun = performance.now();
  await holder.stop();
  await Promise.all(untried.map((each) => each.requeue()));
  await stopping.queue.close();
  const inherited = [await heir.delivery(0), await heir.delivery(1)];
  t.ok(performance.now() - begun < ACK_WAIT_MS, 'nobody waited for its silence');
  t.strictSame(idsOf(inherited.map(({ job }) => job)).toSorted(), [1, 2].map(conversionId));
  await Promise.all(inherited.map((each) => each.ack()));
  await soon('nothing to wait', () => api.queue.waiting() === 0);
  await pass(2.5 * ACK_WAIT_MS);
  t.equal(heir.jobs.length, 2, 'and once');
});

void test('a renderer that was cut off finishes late: the job is another’s by then', async (t) => {
  const server = await startNatsServer(t);
  const { url, cut } = await cable(t, server.port);
  const api = await node(t, server.url, 'api');
  recordReports(api.queue);
  const [lone, other] = [await node(t, url, 'renderer'), await node(t, server.url, 'renderer')];
  const late = hold(lone.queue, 1);
  await api.queue.offer(renderJob(1));
  const first = await late.delivery(0);
  cut();
  const heir = hold(other.queue, 1);
  const second = await heir.delivery(0);
  t.equal(second.job.retry, true, 'delivered twice');
  first.ack().catch(() => {});
  await second.ack();
  await api.queue.offer(renderJob(2));
  t.equal((await heir.delivery(1)).job.conversionId, conversionId(2));
});

void test('a server that is killed and restarted forgets nothing', async (t) => {
  const server = await startNatsServer(t);
  const api = await node(t, server.url, 'api', PATIENT_MS);
  const reports = recordReports(api.queue);
  const renderer = await node(t, server.url, 'renderer', PATIENT_MS);
  for (const n of numbers(1, 30)) await api.queue.offer(renderJob(n));
  const holder = hold(renderer.queue, 2);
  const first = await holder.delivery(0);
  const second = await holder.delivery(1);
  await server.kill();
  const ended = first.ack();
  await api.queue.offer(renderJob(31));
  await server.restart();
  await ended;
  t.match(reports.at(-1), { kind: 'completed', conversionId: first.job.conversionId });
  await second.ack();
  const delivered = (): ReadonlySet<string> => new Set(idsOf(holder.jobs));
  for (let n = 2; n < holder.jobs.length || delivered().size < 31; n += 1)
    await (await holder.delivery(n)).ack();
  t.strictSame(
    [...delivered()].toSorted(),
    numbers(1, 31).map((n) => conversionId(n)),
  );
  // What was in flight may come once more: the log ignores its second outcome.
  const inFlight = [first, second].map(({ job }) => job.conversionId);
  const rest = idsOf(holder.jobs).filter((id) => !inFlight.includes(id));
  t.equal(new Set(rest).size, rest.length, 'no other job comes twice');
  await soon('nothing to wait', () => api.queue.waiting() === 0);
});

void test('a started job whose end another node recorded is forgotten', async (t) => {
  const { url } = await startNatsServer(t);
  const api = await node(t, url, 'api', PATIENT_MS);
  recordReports(api.queue);
  const renderer = await node(t, url, 'renderer', PATIENT_MS);
  const holder = hold(renderer.queue, 2);
  await api.queue.offer(renderJob(1));
  await holder.delivery(0);
  const { connection, namespace } = renderer.link;
  const manager = await jetstreamManager(connection);
  t.ok(await removeJob(manager, namespace, conversionId(1)));
  await api.queue.offer(renderJob(1));
  await api.queue.retain(() => false);
  await api.queue.offer(renderJob(1));
  t.strictSame((await holder.delivery(1)).job.conversionId, conversionId(1), 'it is a new job');
});

void test('work goes on soon after each time that a server is killed under load', {
  timeout: 300_000,
}, async (t) => {
  const server = await startNatsServer(t);
  const api = await node(t, server.url, 'api', PATIENT_MS);
  const renderer = await node(t, server.url, 'renderer', PATIENT_MS);
  const unfinished = new Set<number>();
  let ended = 0;
  // The log's part: what has ended is known, and what has not is offered again.
  const sweep = async (): Promise<void> => {
    const ids = new Set([...unfinished].map((n) => conversionId(n)));
    await api.queue.retain((id) => ids.has(id)).catch(() => {});
    for (const n of unfinished) await api.queue.offer(renderJob(n));
  };
  const forget = api.link.onReconnect(() => void sweep());
  t.teardown(forget);
  api.queue.onReport(async ({ kind, conversionId: id }) => {
    if (kind === 'completed' && unfinished.delete(numberOf(id))) ended += 1;
    return { ended: !unfinished.has(numberOf(id)), attempt: 1 };
  });
  startRenderer(renderer.queue, 4, (delivery) => delivery.ack());
  let next = 0;
  const loading = new AbortController();
  const load = async (): Promise<void> => {
    while (!loading.signal.aborted) {
      if (unfinished.size >= 32) await pause(1);
      else {
        next += 1;
        unfinished.add(next);
        await api.queue.offer(renderJob(next));
      }
    }
  };
  const loaded = load();
  t.teardown(() => loading.abort());
  for (let kill = 0; kill < 5; kill += 1) {
    const before = ended;
    await soon('work under way', () => ended > before + 100);
    await server.kill();
    const atKill = ended;
    await server.restart();
    await soon('work to go on', () => ended > atKill + 100);
  }
  loading.abort();
  await loaded;
  const sweeps = setInterval(() => void sweep(), 1000);
  t.teardown(() => clearInterval(sweeps));
  await soon('an end of all', () => unfinished.size === 0);
});

void test('a server that lost its data is told again, but not of what is in flight', async (t) => {
  const server = await startNatsServer(t);
  const api = await node(t, server.url, 'api');
  const reports = recordReports(api.queue);
  const renderer = await node(t, server.url, 'renderer');
  const ended = (): ReadonlySet<string> =>
    new Set(reports.filter(({ kind }) => kind === 'completed').map((each) => each.conversionId));
  const sweep = async (): Promise<void> => {
    const known = ended();
    for (const n of numbers(1, 30)) {
      if (!known.has(conversionId(n))) await api.queue.offer(renderJob(n));
    }
  };
  await sweep();
  const holder = hold(renderer.queue, 2);
  const before = [await holder.delivery(0), await holder.delivery(1)];
  await server.restart({ loseData: true });
  await soon('the return', () => api.link.isUp() && renderer.link.isUp());
  await sweep();
  await soon('all but what is in flight', () => api.queue.waiting() === 28);
  // Their numbers may be other jobs' by now, which then leave the stream: they come again.
  for (const each of before) await each.ack();
  const again: string[] = [];
  const other = await node(t, server.url, 'renderer');
  startRenderer(other.queue, 4, async (delivery) => {
    again.push(delivery.job.conversionId);
    await delivery.ack();
  });
  let acked = 2;
  await eventually(
    'each of the others',
    async () => {
      for (; acked < holder.jobs.length; acked += 1) await (await holder.delivery(acked)).ack();
      await sweep();
      return ended().size === 30 || undefined;
    },
    60_000,
  );
  t.notOk(again.some((id) => id === conversionId(1) || id === conversionId(2)));
});

void test('a job whose acceptance was not answered counts once', async (t) => {
  const server = await startNatsServer(t);
  const { url, holdUp } = await cable(t, server.port);
  const api = await node(t, url, 'api');
  const observer = await connectToNats(server.url, { name: 'observer', logger: silent });
  t.teardown(() => observer.close());
  const manager = await jetstreamManager(observer.connection);
  const inStream = (count: number): Promise<true> =>
    eventually(
      `${count} in the stream`,
      async () => (await listJobs(manager, api.link.namespace))?.size === count || undefined,
    );
  await api.queue.offer(renderJob(1));
  await inStream(1);
  // From an acknowledgement of a job: a comparison with the stream that waits for its answer publishes nothing.
  const letGo = holdUp('"seq":');
  await Promise.all(numbers(2, 12).map((n) => api.queue.offer(renderJob(n))));
  await inStream(8);
  // Longer than answers are waited for.
  await pass(4000);
  letGo();
  recordReports(api.queue);
  const renderer = await node(t, server.url, 'renderer');
  const holder = hold(renderer.queue, 12);
  await holder.delivery(11);
  t.equal(new Set(idsOf(holder.jobs)).size, 12);
  await soon('nothing to wait', () => api.queue.waiting() === 0);
  await inStream(12);
});

// Those in flight end while they are published again, or while they wait for that.
for (const [when, offered] of [
  ['first', numbers(1, 20)],
  ['last', numbers(1, 20).toReversed()],
] as const) {
  void test(`a second node doubles no job, though it offers those in flight ${when}`, async (t) => {
    const { url } = await startNatsServer(t);
    // A busy machine must not pass for a renderer that died: its jobs do come again.
    const renderer = await node(t, url, 'renderer', PATIENT_MS);
    const first = await node(t, url, 'api', PATIENT_MS);
    recordReports(first.queue);
    for (const n of numbers(1, 6)) await first.queue.offer(renderJob(n));
    const holder = hold(renderer.queue, 3);
    await holder.delivery(2);
    await first.queue.close();
    const second = await node(t, url, 'api', PATIENT_MS);
    recordReports(second.queue);
    for (const n of offered) await second.queue.offer(renderJob(n));
    for (let n = 0; n < 20; n += 1) await (await holder.delivery(n)).ack();
    await soon('nothing to wait', () => second.queue.waiting() === 0);
    t.strictSame(idsOf(holder.jobs).toSorted(), idsOf(numbers(1, 20).map((n) => renderJob(n))));
  });
}

void test('that the last renderer has gone is logged, though all that is open had started', async (t) => {
  const { url } = await startNatsServer(t);
  const lines: { readonly waiting?: number; readonly msg: string }[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line));
  const api = await node(t, url, 'api', ACK_WAIT_MS, pino({ level: 'warn' }, { write }));
  recordReports(api.queue);
  const renderer = await node(t, url, 'renderer');
  const holder = hold(renderer.queue, 1);
  await api.queue.offer(renderJob(1));
  await holder.delivery(0);
  await renderer.queue.report(startedReport(1));
  await soon('its start', () => api.queue.waiting() === 0);
  await renderer.link.close();
  await soon('a line', () => lines.length > 0);
  t.match(lines, [{ waiting: 1, msg: /no renderer node is there/ }]);
});

void test('that nobody renders is logged, and a job that nobody gets is published again', async (t) => {
  const { url } = await startNatsServer(t);
  const lines: { readonly waiting?: number; readonly msg: string }[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line));
  const api = await node(t, url, 'api', ACK_WAIT_MS, pino({ level: 'warn' }, { write }));
  recordReports(api.queue);
  await api.queue.offer(renderJob(1));
  // A renderer that was taken over gives it back for later than anybody waits.
  const stranger = await connectToNats(url, { name: 'stranger', logger: silent });
  t.teardown(() => stranger.close());
  const consumer = await jetstream(stranger.connection).consumers.get(
    jobsStream(stranger.namespace),
    RENDERERS,
  );
  const message = await consumer.next({ expires: PATIENT_MS });
  message?.nak(3_600_000);
  await soon('a line', () => lines.length > 0);
  t.match(lines, [{ waiting: 1, msg: /no renderer node is there/ }]);
  const renderer = await node(t, url, 'renderer');
  const holder = hold(renderer.queue, 1);
  await eventually('the job', () => holder.jobs[0], 60_000);
  await (await holder.delivery(0)).ack();
  t.match(lines.slice(1), [{ msg: /published again/ }]);
});

void test('a report waits until somebody records it, and is recorded again after a repetition', async (t) => {
  const { url } = await startNatsServer(t);
  const api = await node(t, url, 'api');
  const renderer = await node(t, url, 'renderer');
  const reports = [completedReport(1), completedReport(1, 2)].map((each) =>
    renderer.queue.report(each),
  );
  const seen: string[] = [];
  const follower = api.queue.onReport(async ({ delivery }) => {
    seen.push(delivery);
    return RECORDED;
  });
  t.strictSame(await Promise.all(reports), [RECORDED, RECORDED]);
  t.strictSame(seen.toSorted(), ['1', '2']);
  await renderer.queue.report(completedReport(1));
  t.strictSame(seen.slice(2), ['1']);
  await follower.stop();
});

void test('each report goes to one of those who record, and on to another when that one stops', async (t) => {
  const { url } = await startNatsServer(t);
  const apis = [await node(t, url, 'api'), await node(t, url, 'api')];
  const renderer = await node(t, url, 'renderer');
  const seen: string[][] = [[], []];
  const followers = apis.map(({ queue }, n) =>
    queue.onReport(async (report) => {
      seen[n]?.push(report.conversionId);
      return RECORDED;
    }),
  );
  // The server knows of both by then; otherwise the first could have all.
  for (const { link } of apis) await link.connection.flush();
  const all = numbers(1, 40).map((n) => completedReport(n));
  await Promise.all(all.map((report) => renderer.queue.report(report)));
  t.equal(seen.flat().length, 40);
  t.ok(seen.every((each) => each.length > 0));
  const under = all.map((report) => renderer.queue.report(report));
  await followers[0]?.stop();
  await Promise.all(under);
  const before = seen[0]?.length;
  await Promise.all(all.map((report) => renderer.queue.report(report)));
  t.equal(seen[0]?.length, before);
});

void test('reports are recorded while no node publishes jobs, and while the one that does is silent', async (t) => {
  const { url } = await startNatsServer(t);
  const recorder = await node(t, url, 'recorder');
  const renderer = await node(t, url, 'renderer');
  const reports = recordReports(recorder.queue);
  const each = [startedReport(1), { ...failedReport(1), retryable: true }, completedReport(2)];
  for (const report of each) await renderer.queue.report(report);
  const { connection, namespace } = recorder.link;
  connection.subscribe(progressSubject(namespace));
  await renderer.queue.report(failedReport(1));
  t.strictSame(reports, [...each, failedReport(1)], 'each once');
});

void test('what is not the progress of a job is dropped, and logged once', async (t) => {
  const { url } = await startNatsServer(t);
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const api = await node(t, url, 'api', ACK_WAIT_MS, pino({ level: 'error' }, { write }));
  const stranger = await node(t, url, 'renderer');
  const { connection, namespace } = stranger.link;
  for (const said of ['', '{"kind":"ended"}']) connection.publish(progressSubject(namespace), said);
  recordReports(api.queue);
  await api.queue.offer(renderJob(1));
  await (await hold(stranger.queue, 1).delivery(0)).ack();
  await soon('nothing to wait', () => api.queue.waiting() === 0);
  t.match(lines, [/progress of a job is unreadable/]);
  t.equal(lines.length, 1);
});

void test('more reports than are recorded at a time are told to come again', async (t) => {
  const { url } = await startNatsServer(t);
  const api = await node(t, url, 'api');
  const renderer = await node(t, url, 'renderer');
  const gate = Promise.withResolvers<void>();
  let under = 0;
  let most = 0;
  api.queue.onReport(async () => {
    under += 1;
    most = Math.max(most, under);
    await gate.promise;
    under -= 1;
    return RECORDED;
  });
  const reports = numbers(1, 600).map((n) => renderer.queue.report(completedReport(n)));
  await soon('as many as may be', () => most >= 512);
  // By then the server has handed over all of them.
  await Promise.all([renderer.link.connection.flush(), api.link.connection.flush()]);
  gate.resolve();
  await Promise.all(reports);
  t.equal(most, 512);
});

void test('a report without an answer is sent again', async (t) => {
  const { url } = await startNatsServer(t);
  const api = await node(t, url, 'api');
  const renderer = await node(t, url, 'renderer');
  let seen = 0;
  api.queue.onReport(async () => {
    seen += 1;
    return seen === 1 ? await new Promise(() => {}) : RECORDED;
  });
  await renderer.queue.report(completedReport(1));
  t.equal(seen, 2);
});

void test('a report of the largest manifest arrives', async (t) => {
  const { url } = await startNatsServer(t);
  const api = await node(t, url, 'api');
  const renderer = await node(t, url, 'renderer');
  // Nearly all of it quotes, which the report's own JSON escapes.
  const manifest = `{${'"":"",'.repeat(43_689)}"x":0}`.padEnd(MAX_MANIFEST_BYTES);
  let bytes = 0;
  api.queue.onReport(async (report) => {
    if (report.kind === 'completed') bytes = report.manifest.length;
    return RECORDED;
  });
  await renderer.queue.report({ ...completedReport(1), manifest });
  t.equal(bytes, MAX_MANIFEST_BYTES);
});

void test('what is unreadable is dropped, and holds up nothing', async (t) => {
  const { url } = await startNatsServer(t);
  const api = await node(t, url, 'api');
  const renderer = await node(t, url, 'renderer');
  api.link.connection.publish(jobSubject(api.link.namespace, 'conv_x'), 'no job');
  const endless = JSON.stringify({ ...startedReport(1), at: 1e300 });
  const reports = recordReports(api.queue);
  await api.link.connection.flush();
  for (const said of ['no report', '{"kind":"completed"}', endless]) {
    const { connection, namespace } = renderer.link;
    const answer = await connection.request(reportSubject(namespace), said, {
      timeout: PATIENT_MS,
    });
    t.equal(answer.string(), REFUSED, said);
  }
  await api.queue.offer(renderJob(1));
  const holder = hold(renderer.queue, 1);
  await (await holder.delivery(0)).ack();
  t.match(reports, [{ kind: 'started' }, { kind: 'completed', conversionId: conversionId(1) }]);
  await soon('nothing to wait', () => api.queue.waiting() === 0);
});
