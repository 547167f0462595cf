/** What every render queue must do. Each adapter has a test file that runs it. */
import { type Test, test } from 'tap';
import type {
  Recorded,
  RenderReport,
  SigningAnswer,
  SigningRequest,
} from '../../src/render-queue/messages.ts';
import type { RenderQueue } from '../../src/render-queue/port.ts';
import { eventually } from '../support/deadline.ts';
import {
  completedReport,
  drain,
  hold,
  idsOf,
  renderJob,
  startedReport,
  startRenderer,
} from '../support/render-queue.ts';
import { accountId, conversionId, sha256 } from '../support/samples.ts';

export interface RenderQueueAdapter {
  readonly name: string;
  /** An empty queue. */
  readonly open: (t: Test) => Promise<RenderQueue>;
}

/** Jobs of the account that would have the queue to itself. */
const MANY = 1000;
/** How many of them may pass while a queue that looks ahead turns to a newcomer. */
const SOON = 50;

const soon = (what: string, look: () => boolean): Promise<true> =>
  eventually(what, () => look() || undefined);

const RECORDED: Recorded = { ended: true, attempt: 1 };

async function offer(queue: RenderQueue, from: number, to: number, account = 1): Promise<void> {
  for (let n = from; n <= to; n += 1) await queue.offer(renderJob(n, account));
}

export function runRenderQueueContract({ name, open }: RenderQueueAdapter): void {
  const contract = (title: string, run: (t: Test, queue: RenderQueue) => Promise<void>): void => {
    void test(`${name}: ${title}`, async (t) => {
      const queue = await open(t);
      try {
        await run(t, queue);
      } finally {
        await queue.close();
      }
    });
  };

  /** With somebody who records what renderers report. */
  const withRecorder = (
    title: string,
    run: (t: Test, queue: RenderQueue) => Promise<void>,
  ): void => {
    contract(title, async (t, queue) => {
      queue.onReport(async (report) => {
        const isEnd = report.kind === 'completed' || report.kind === 'failed';
        return { ended: isEnd && !('retryable' in report && report.retryable), attempt: 1 };
      });
      await run(t, queue);
    });
  };

  withRecorder('hands over what was offered, as it was and in order', async (t, queue) => {
    await queue.offer({ ...renderJob(1), retry: true });
    await offer(queue, 2, 20);
    const handed = await drain(queue, 20);
    t.strictSame(handed[0], { ...renderJob(1), retry: true });
    t.strictSame(
      idsOf(handed),
      Array.from({ length: 20 }, (_, n) => conversionId(n + 1)),
    );
  });

  withRecorder('counts what waits', async (t, queue) => {
    t.equal(queue.waiting(), 0);
    await offer(queue, 1, 3);
    await soon('three to wait', () => queue.waiting() === 3);
    const renderer = hold(queue, 1);
    const first = await renderer.delivery(0);
    await soon('two to wait', () => queue.waiting() === 2);
    await first.nack();
    await renderer.delivery(1);
    await soon('two to wait again', () => queue.waiting() === 2);
    t.pass();
  });

  withRecorder(
    'says what it has, and how much of an account waits for its turn',
    async (t, queue) => {
      await offer(queue, 1, 20, 1);
      await offer(queue, 21, 40, 2);
      await soon('all to wait', () => queue.waiting() === 40);
      // NATS may have published 8 ahead: those have had their turn.
      const both = queue.waitingOf(accountId(1)) + queue.waitingOf(accountId(2));
      t.ok(both >= 32 && both <= 40, `${both}`);
      t.equal(queue.waitingOf(accountId(3)), 0);
      t.ok(queue.has(conversionId(1)) && queue.has(conversionId(40)));
      t.notOk(queue.has(conversionId(41)));
      const renderer = hold(queue, 1);
      const first = await renderer.delivery(0);
      t.ok(queue.has(first.job.conversionId), 'a renderer has it');
      await first.ack();
      await soon('it to be forgotten', () => !queue.has(first.job.conversionId));
      await queue.retain((id) => id === conversionId(40));
      t.equal(queue.waitingOf(accountId(1)), 0);
      t.ok(queue.waitingOf(accountId(2)) <= 1);
    },
  );

  withRecorder('does not queue twice what waits or is in flight', async (t, queue) => {
    await queue.offer(renderJob(1));
    await queue.offer({ ...renderJob(1), retry: true });
    await queue.offer(renderJob(2));
    const renderer = hold(queue, 3);
    const first = await renderer.delivery(0);
    await renderer.delivery(1);
    await queue.offer({ ...renderJob(1), retry: true });
    await queue.offer(renderJob(3));
    const third = await renderer.delivery(2);
    await first.nack();
    await queue.offer(renderJob(1));
    await third.ack();
    const again = await renderer.delivery(3);
    t.strictSame(idsOf(renderer.jobs), [1, 2, 3, 1].map(conversionId));
    await again.ack();
    await queue.offer(renderJob(4));
    await renderer.delivery(4);
    t.strictSame(idsOf(renderer.jobs), [1, 2, 3, 1, 4].map(conversionId));
  });

  withRecorder(
    'lets those of low priority wait behind the others of their account',
    async (t, queue) => {
      for (let n = 1; n <= 20; n += 1) await queue.offer({ ...renderJob(n), priority: 'low' });
      const renderer = hold(queue, 1);
      const first = await renderer.delivery(0);
      await queue.offer(renderJob(21));
      await queue.offer(renderJob(22));
      await soon('both to wait', () => queue.waiting() === 21);
      await first.ack();
      for (let n = 1; n < 22; n += 1) await (await renderer.delivery(n)).ack();
      const order = idsOf(renderer.jobs);
      // NATS may still have the 8 jobs that were published ahead: they are withdrawn one after the other.
      for (const n of [21, 22])
        t.ok(order.indexOf(conversionId(n)) <= 9, `${n} of ${order.join()}`);
      t.equal(new Set(order).size, 22, 'and all have their turn');
    },
  );

  withRecorder('forgets a job that has ended: it may come again', async (t, queue) => {
    await queue.offer(renderJob(1));
    await drain(queue, 1);
    await queue.offer({ ...renderJob(1), retry: true });
    t.strictSame(await drain(queue, 1), [{ ...renderJob(1), retry: true }]);
  });

  withRecorder('fills the slots and never more', async (t, queue) => {
    await offer(queue, 1, 20);
    const renderer = hold(queue, 3);
    for (let n = 0; n < 20; n += 1) {
      await renderer.delivery(Math.min(n + 2, 19));
      await (await renderer.delivery(n)).ack();
    }
    t.equal(renderer.most, 3);
    t.equal(new Set(idsOf(renderer.jobs)).size, 20);
    t.equal(renderer.jobs.length, 20);
  });

  withRecorder('hands each job to one of several renderers', async (t, queue) => {
    const renderers = [hold(queue, 2), hold(queue, 2)];
    await offer(queue, 1, 4);
    for (const renderer of renderers) await renderer.delivery(1);
    t.strictSame(
      renderers.flatMap(({ jobs }) => idsOf(jobs)).toSorted(),
      [1, 2, 3, 4].map(conversionId),
    );
  });

  withRecorder('hands over again what is nacked, as a retry', async (t, queue) => {
    await queue.offer(renderJob(1));
    const renderer = hold(queue, 1);
    for (let n = 0; n < 4; n += 1) {
      const delivery = await renderer.delivery(n);
      t.strictSame(delivery.job, { ...renderJob(1), retry: n > 0 });
      await delivery.nack();
    }
  });

  withRecorder('hands over again what is requeued', async (t, queue) => {
    await queue.offer(renderJob(1));
    const stopping = hold(queue, 1);
    for (let n = 0; n < 5; n += 1) await (await stopping.delivery(n)).requeue();
    const untried = await stopping.delivery(5);
    await stopping.stop();
    await untried.requeue();
    await soon('it to wait', () => queue.waiting() === 1);
    const renderer = hold(queue, 1);
    await (await renderer.delivery(0)).nack();
    await (await renderer.delivery(1)).requeue();
    await (await renderer.delivery(2)).ack();
    await soon('an empty queue', () => queue.waiting() === 0);
    await queue.offer(renderJob(2));
    t.strictSame((await renderer.delivery(3)).job, renderJob(2));
  });

  withRecorder('ends a delivery once, by whichever came first', async (t, queue) => {
    await queue.offer(renderJob(1));
    await queue.offer(renderJob(2));
    const consumer = startRenderer(queue, 1, async (delivery) => {
      await delivery.ack();
      await delivery.nack();
      await delivery.ack();
    });
    await soon('an empty queue', () => queue.waiting() === 0);
    await queue.offer(renderJob(3));
    await soon('an empty queue', () => queue.waiting() === 0);
    await consumer.stop();
    await queue.offer(renderJob(4));
    t.strictSame(await drain(queue, 1), [renderJob(4)]);
  });

  withRecorder('loses no job of a handler that rejects or forgets', async (t, queue) => {
    await offer(queue, 1, 3);
    const attempts = new Map<string, number>();
    const ended = new Set<string>();
    startRenderer(queue, 1, async (delivery) => {
      const { conversionId: id } = delivery.job;
      const attempt = (attempts.get(id) ?? 0) + 1;
      attempts.set(id, attempt);
      if (attempt === 1) return;
      if (attempt === 2) throw new Error('the handler failed');
      await delivery.ack();
      ended.add(id);
    });
    await soon('every job', () => ended.size === 3);
    t.strictSame([...attempts.values()], [3, 3, 3]);
  });

  withRecorder('lets nobody starve beside a handler that always fails', async (t, queue) => {
    await queue.offer(renderJob(1, 1));
    const seen = new Set<string>();
    startRenderer(queue, 1, async (delivery) => {
      const { conversionId: id } = delivery.job;
      if (id === conversionId(1)) throw new Error('the handler failed');
      seen.add(id);
      await delivery.ack();
    });
    await offer(queue, 2, 4, 2);
    await soon('the others', () => seen.size === 3);
    t.pass();
  });

  withRecorder('lets accounts take turns', async (t, queue) => {
    await offer(queue, 1, MANY, 1);
    await queue.offer(renderJob(MANY + 1, 2));
    await offer(queue, MANY + 2, MANY + 3, 3);
    const places = idsOf(await drain(queue, MANY + 3));
    for (const n of [1, 2, 3]) {
      const place = places.indexOf(conversionId(MANY + n));
      t.ok(place >= 0 && place < SOON, `at place ${place} of ${places.length}`);
    }
  });

  withRecorder('takes the next job when a slot is released, and no third one', async (t, queue) => {
    await offer(queue, 1, 4);
    const renderer = hold(queue, 1);
    const first = await renderer.delivery(0);
    first.releaseSlot();
    first.releaseSlot();
    const second = await renderer.delivery(1);
    await soon('two to wait', () => queue.waiting() === 2);
    second.releaseSlot();
    await first.ack();
    await renderer.delivery(2);
    await second.ack();
    t.equal(renderer.most, 2);
    t.strictSame(idsOf(renderer.jobs), [1, 2, 3].map(conversionId));
  });

  withRecorder('leaves a slot to others, once a page ran into the time limit', async (t, queue) => {
    await offer(queue, 1, 9, 1);
    const renderer = hold(queue, 2);
    const endless = [await renderer.delivery(0), await renderer.delivery(1)];
    await offer(queue, 10, 10, 2);
    await soon('all others to wait', () => queue.waiting() === 8);
    for (const delivery of endless) await delivery.timeOut();
    const letter = await renderer.delivery(2);
    t.equal(letter.job.conversionId, conversionId(10), 'the other account is next');
    const third = await renderer.delivery(3);
    await letter.ack();
    for (let n = 11; n < 20; n += 1) {
      await offer(queue, n, n, 2);
      await (await renderer.delivery(n - 7)).ack();
    }
    t.strictSame(
      idsOf(renderer.jobs),
      [1, 2, 10, 3, 11, 12, 13, 14, 15, 16, 17, 18, 19].map(conversionId),
      'beside one endless page',
    );
    await third.ack();
    await (await renderer.delivery(13)).ack();
  });

  withRecorder(
    'gives an account that is held back the only slot when nobody waits',
    async (t, queue) => {
      await offer(queue, 1, 3, 1);
      const renderer = hold(queue, 1);
      const endless = await renderer.delivery(0);
      await offer(queue, 4, 6, 2);
      await endless.timeOut();
      for (let n = 1; n < 6; n += 1) await (await renderer.delivery(n)).ack();
      t.strictSame(idsOf(renderer.jobs), [1, 4, 5, 6, 2, 3].map(conversionId));
    },
  );

  withRecorder('forgets waiting jobs of conversions that have ended', async (t, queue) => {
    await offer(queue, 1, 12);
    await soon('all to wait', () => queue.waiting() === 12);
    await queue.retain((id) => [1, 10, 12].map(conversionId).includes(id));
    await offer(queue, 13, 13);
    t.strictSame(idsOf(await drain(queue, 4)), [1, 10, 12, 13].map(conversionId));
    await offer(queue, 2, 2);
    t.strictSame(idsOf(await drain(queue, 1)), [conversionId(2)], 'it may be offered again');
  });

  withRecorder('discards what has ended, and tells the renderer that has it', async (t, queue) => {
    await offer(queue, 1, 12);
    await soon('all to wait', () => queue.waiting() === 12);
    const renderer = hold(queue, 2);
    const [first, second] = [await renderer.delivery(0), await renderer.delivery(1)];
    await queue.discard(new Set([1, 3, 12, 99].map(conversionId)));
    await soon('the renderer to hear of it', () => first.unneeded.aborted);
    t.notOk(second.unneeded.aborted, 'only who has it');
    await first.ack();
    await second.ack();
    for (let n = 2; n < 10; n += 1) await (await renderer.delivery(n)).ack();
    await soon('an empty queue', () => queue.waiting() === 0);
    t.strictSame(idsOf(renderer.jobs), [1, 2, 4, 5, 6, 7, 8, 9, 10, 11].map(conversionId));
    await queue.discard(new Set([conversionId(2)]));
    await offer(queue, 3, 3);
    await (await renderer.delivery(10)).ack();
    t.equal(renderer.jobs.at(-1)?.conversionId, conversionId(3), 'it may be offered again');
  });

  withRecorder('begins nothing after a stop, and lets end what has begun', async (t, queue) => {
    await offer(queue, 1, 3);
    const stopped = hold(queue, 1);
    const begun = await stopped.delivery(0);
    await stopped.stop();
    await begun.ack();
    const next = hold(queue, 2);
    const second = await next.delivery(0);
    await next.delivery(1);
    t.strictSame(idsOf(next.jobs), [2, 3].map(conversionId));
    await next.stop();
    await second.nack();
    t.strictSame(await drain(queue, 1), [{ ...renderJob(2), retry: true }]);
    t.equal(stopped.jobs.length, 1);
    t.equal(next.jobs.length, 2);
  });

  contract('answers a report when it is recorded', async (t, queue) => {
    const { promise: recording, resolve: record } = Promise.withResolvers<void>();
    const seen: RenderReport[] = [];
    queue.onReport(async (report) => {
      seen.push(report);
      await recording;
      return { ended: false, attempt: 2 };
    });
    let recorded = false;
    const reported = queue.report(completedReport(1)).finally(() => {
      recorded = true;
    });
    await soon('the report', () => seen.length === 1);
    t.strictSame(seen, [completedReport(1)]);
    t.notOk(recorded, 'the handler has not ended');
    record();
    t.strictSame(await reported, { ended: false, attempt: 2 });
    await queue.report(startedReport(2));
    t.equal(seen.length, 2);
  });

  contract(
    'asks those who record reports for a signature, until there is one',
    async (t, queue) => {
      const request = { ...startedReport(1), kind: 'sign', digest: sha256(5) } as const;
      const seen: SigningRequest[] = [];
      const answer: SigningAnswer = {
        kind: 'signed',
        cms: 'Y21z',
        facts: { level: 'B-B', certificate: sha256(6) },
      };
      queue.onReport(
        async () => RECORDED,
        async (asked) => {
          seen.push(asked);
          if (seen.length === 1) throw new Error('the keyring is away');
          return answer;
        },
      );
      t.strictSame(await queue.sign(request), answer);
      t.strictSame(seen, [request, request]);
    },
  );

  contract('hands a report over again when its handler rejects', async (t, queue) => {
    const seen: string[] = [];
    let faults = 2;
    queue.onReport(async (report) => {
      seen.push(report.conversionId);
      if (report.conversionId === conversionId(1) && faults > 0) {
        faults -= 1;
        throw new Error('not recorded');
      }
      return RECORDED;
    });
    await Promise.all([queue.report(completedReport(1)), queue.report(completedReport(2))]);
    t.strictSame(seen.toSorted(), [1, 1, 1, 2].map(conversionId), 'until it is recorded');
  });

  contract('keeps a report until somebody follows', async (t, queue) => {
    const waiting = queue.report(completedReport(1));
    const seen: string[] = [];
    const follow = () =>
      queue.onReport(async ({ conversionId: id }) => {
        seen.push(id);
        return RECORDED;
      });
    const first = follow();
    await waiting;
    await first.stop();
    const later = queue.report(completedReport(2));
    const second = follow();
    await first.stop();
    await later;
    await queue.report(completedReport(3));
    t.strictSame(seen, [1, 2, 3].map(conversionId), 'an earlier stop does not stop the later one');
    await second.stop();
  });

  contract('rejects a report that waits when it is closed', async (t, queue) => {
    const unheard = t.rejects(queue.report(completedReport(1)), 'nobody follows');
    await queue.close();
    await unheard;
    await t.rejects(queue.report(completedReport(2)), 'after the close');
  });

  contract('rejects a report that cannot be recorded when it is closed', async (t, queue) => {
    let tries = 0;
    queue.onReport(async () => {
      tries += 1;
      throw new Error('not recorded');
    });
    const refused = t.rejects(queue.report(completedReport(1)));
    await soon('a try', () => tries > 0);
    await queue.close();
    await refused;
  });

  withRecorder('begins nothing after the close', async (t, queue) => {
    await offer(queue, 1, 2);
    const renderer = hold(queue, 1);
    const first = await renderer.delivery(0);
    await queue.close();
    await first.ack().catch(() => {});
    t.equal(renderer.jobs.length, 1);
  });
}
