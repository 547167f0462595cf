import { test } from 'tap';
import { senderQueries, webhookQueries } from '../../../projections/webhook-queries.ts';
import { deliveryIdOf } from '../../../projections/webhooks.ts';
import type { DomainEvent, EventOf } from '../../../src/domain/events.ts';
import { MAX_REDELIVERIES } from '../../../src/domain/webhooks.ts';
import { openProjected } from '../../support/projected.ts';
import {
  accountId,
  blobRef,
  conversionId,
  DAY_MS,
  deliveryId,
  NOW,
  OPTIONS,
  PDF,
  REQUEST_HMAC,
  TIMINGS,
  webhookId,
} from '../../support/samples.ts';

type Message = EventOf<'WebhookCreated'>['data']['types'][number];

const owner = { accountId: accountId() };
const created = (n: number, types: Message[], account = 1): DomainEvent => ({
  type: 'WebhookCreated',
  data: {
    accountId: accountId(account),
    webhookId: webhookId(n),
    url: 'v1.u',
    types,
    secret: 'v1.s',
    secretPrefix: 'whsec_abcd',
    createdAt: NOW,
  },
});
const requested = (n: number, webhookUrl?: string): DomainEvent => ({
  type: 'ConversionRequested',
  data: {
    ...owner,
    conversionId: conversionId(n),
    source: 'html',
    request: blobRef('request', n),
    requestHmac: REQUEST_HMAC,
    options: OPTIONS,
    ...(webhookUrl !== undefined && { webhookUrl }),
    requestedAt: NOW,
  },
});
const completed = (n: number): DomainEvent => ({
  type: 'ConversionCompleted',
  data: {
    ...owner,
    conversionId: conversionId(n),
    renderer: 'r',
    attempt: 1,
    document: blobRef('document', n),
    pdf: PDF,
    pages: 1,
    timings: TIMINGS,
    chrome: 'c',
    manifest: blobRef('manifest', n),
    completedAt: NOW,
  },
});
const failedEnd = (n: number): DomainEvent => ({
  type: 'ConversionFailed',
  data: {
    ...owner,
    conversionId: conversionId(n),
    code: 'timeout',
    message: 'v1.m',
    renderer: 'r',
    attempt: 1,
    failedAt: NOW,
  },
});

function open(t: Parameters<typeof openProjected>[0]) {
  const { log, readModel, runner } = openProjected(t);
  const append = async (...events: readonly DomainEvent[]) => {
    let last = 0n;
    for (const event of events) last = await log.append(`s-${Math.random()}`, event);
    await runner.waitFor(last);
  };
  const due = (now = NOW, ofEach = 100) => {
    const sender = readModel.query(senderQueries);
    return sender.receiversDue(now).flatMap((receiver) => sender.dueTo(receiver, now, ofEach));
  };
  const deliveries = (status?: 'waiting' | 'delivered' | 'failed') =>
    readModel
      .query(webhookQueries)
      .deliveries(accountId(), { since: 0, offset: 0, limit: 100, ...(status && { status }) }).rows;
  const query = () => readModel.query(webhookQueries);
  return { append, due, deliveries, query, sender: () => readModel.query(senderQueries) };
}

const tried = (id: string, more: Partial<EventOf<'DeliveryAttempted'>['data']>): DomainEvent => ({
  type: 'DeliveryAttempted',
  data: {
    ...owner,
    deliveryId: id,
    round: 0,
    message: 'conversion.completed',
    attempt: 1,
    outcome: 'retry',
    status: 500,
    durationMs: 1,
    attemptedAt: NOW,
    ...more,
  },
});

void test('an end makes a delivery for each endpoint that asks for it, and for the URL of its request', async (t) => {
  const { append, due, deliveries, query } = open(t);
  await append(
    created(1, ['conversion.completed', 'conversion.failed']),
    created(2, ['conversion.failed']),
    created(3, ['conversion.completed'], 2),
    requested(1, 'v1.w'),
    requested(2),
    completed(1),
    failedEnd(2),
  );
  const seen = due()
    .map(({ message, webhookId: to, url, subject }) => ({ message, to, url, subject }))
    .toSorted((a, b) => `${a.subject}${a.to}`.localeCompare(`${b.subject}${b.to}`));
  t.strictSame(seen, [
    { message: 'conversion.completed', to: undefined, url: 'v1.w', subject: conversionId(1) },
    { message: 'conversion.completed', to: webhookId(1), url: undefined, subject: conversionId(1) },
    { message: 'conversion.failed', to: webhookId(1), url: undefined, subject: conversionId(2) },
    { message: 'conversion.failed', to: webhookId(2), url: undefined, subject: conversionId(2) },
  ]);
  for (const { id, eventId, receiver } of due()) t.equal(id, deliveryIdOf(eventId, receiver));
  t.equal(new Set(due().map(({ id }) => id)).size, 4);
  const at = { since: 0, offset: 0, limit: 1 };
  const ofFirst = query().deliveries(accountId(), { ...at, webhookId: webhookId(1) });
  t.match(ofFirst, { rows: [{ message: 'conversion.failed' }], total: 2 }, 'newest first');
  const ofConversion = query().deliveries(accountId(), { ...at, subject: conversionId(1) });
  t.match(ofConversion, { total: 2 });
  t.equal(query().deliveries(accountId(), { ...at, since: Date.now() + DAY_MS }).total, 0);
  await append({ type: 'AccountErased', data: owner }, failedEnd(3), created(9, ['credits.low']));
  t.strictSame(deliveries(), [], 'nothing of an erased account is left');
  t.equal(query().page(accountId(), { offset: 0, limit: 9 }).total, 0);
  t.equal(query().page(accountId(2), { offset: 0, limit: 9 }).total, 1);
});

void test('tries: one after the other of a conversion, and at their times', async (t) => {
  const { append, due, deliveries, sender } = open(t);
  await append(created(1, ['conversion.completed', 'conversion.failed']), requested(1));
  await append(completed(1), failedEnd(1), completed(2));
  const [first, other] = due();
  t.match([first, other], [{ subject: conversionId(1) }, { subject: conversionId(2) }]);
  t.equal(due().length, 2, 'the second of a conversion waits for the first');
  const id = first?.id ?? '';
  await append(tried(id, { webhookId: webhookId(1), nextAt: NOW + 5000 }));
  t.strictSame(
    due().map((each) => each.subject),
    [conversionId(2)],
  );
  t.equal(sender().nextAt(NOW), NOW + 5000);
  t.strictSame(sender().receiversDue(NOW), [webhookId(1)]);
  t.strictSame(
    due(NOW + 5000).map((each) => each.id),
    [other?.id, id],
  );
  await append(tried(id, { attempt: 2, outcome: 'delivered', status: 200 }));
  t.match(
    due(),
    [{ message: 'conversion.failed', subject: conversionId(1) }, {}],
    'then its turn comes',
  );
  t.match(deliveries('delivered'), [{ id, tries: 2, answerStatus: 200 }]);
  t.equal(sender().waiting(), 2);
  t.equal(due(NOW, 1).length, 1, 'at most so many of each receiver');

  const last = due().at(-1)?.id ?? '';
  await append(tried(last, { webhookId: webhookId(1), outcome: 'failed', attempt: 10 }));
  t.match(deliveries('failed'), [{ id: last }]);
  const data = { ...owner, deliveryId: last, round: 1, requestedAt: NOW };
  await append({ type: 'RedeliveryRequested', data });
  t.match(
    due().find((each) => each.id === last),
    { round: 1, attempt: 0, tries: 1 },
  );
  await append(tried(last, { round: 1, outcome: 'failed' }));
  const again = { ...owner, webhookId: webhookId(1), requestedAt: NOW };
  await append({ type: 'RedeliveriesRequested', data: { ...again, since: Date.now() + DAY_MS } });
  t.equal(deliveries('failed').length, 1, 'none since then');
  await append({ type: 'RedeliveriesRequested', data: { ...again, since: 0 } });
  t.match(
    due().find((each) => each.id === last),
    { round: 2, tries: 2 },
  );
});

const days = (n: number): number => NOW + n * DAY_MS;

void test('endpoints that fail are to be switched off; what waits for one that is off has failed', async (t) => {
  const { append, deliveries, query, sender } = open(t);
  await append(created(1, ['conversion.completed']), created(2, ['conversion.completed']));
  await append(completed(1));
  const [one, two] = [1, 2].map(
    (n) => deliveries().find((each) => each.webhookId === webhookId(n))?.id ?? '',
  );
  const failing = (id: string, n: number, at: number, more = {}): DomainEvent =>
    tried(id, { webhookId: webhookId(n), nextAt: at + 1, attemptedAt: at, ...more });
  for (const at of [0, 1, 2, 3, 4]) await append(failing(one ?? '', 1, days(at)));
  t.strictSame(sender().disablingDue(5 * DAY_MS), []);
  await append(failing(one ?? '', 1, days(5)));
  const due = { webhookId: webhookId(1), ...owner, reason: 'failing', since: NOW } as const;
  t.strictSame(sender().disablingDue(5 * DAY_MS), [due]);
  await append(failing(one ?? '', 1, days(9)));
  t.strictSame(sender().disablingDue(5 * DAY_MS), [], 'a pause in between begins anew');
  t.equal(query().byId(webhookId(1))?.failingSince, days(9));
  await append(tried(one ?? '', { webhookId: webhookId(1), outcome: 'delivered', status: 204 }));
  t.equal(query().byId(webhookId(1))?.failingSince, undefined);
  await append(failing(two ?? '', 2, NOW, { status: 410, outcome: 'failed' }));
  const gone = { webhookId: webhookId(2), ...owner, reason: 'gone', since: NOW } as const;
  t.strictSame(sender().disablingDue(5 * DAY_MS), [gone]);
  await append(completed(2), { type: 'WebhookDisabled', data: { ...gone, disabledAt: NOW } });
  t.match(query().byId(webhookId(2)), { enabled: false, disabledReason: 'gone', disabledAt: NOW });
  t.match(
    deliveries('failed').filter(({ webhookId: to }) => to === webhookId(2)),
    [{ dropped: 'disabled' }, { answerStatus: 410 }],
  );
  await append(completed(3));
  t.equal(deliveries().filter((each) => each.subject === conversionId(3)).length, 1);
  const ids = { ...owner, webhookId: webhookId(2) };
  await append({ type: 'WebhookChanged', data: { ...ids, enabled: true, changedAt: NOW } });
  t.match(query().byId(webhookId(2)), { enabled: true, url: 'v1.u' });
  t.notOk(query().byId(webhookId(2))?.disabledReason);
  // By a node whose clock is behind.
  const early = deliveries().find((each) => each.subject === conversionId(3))?.id ?? '';
  await append(failing(early, 2, NOW - 5000, { status: 410, outcome: 'failed' }));
  t.strictSame(sender().disablingDue(5 * DAY_MS), [gone], 'since the change, not before it');
  await append({
    type: 'WebhookTested',
    data: { ...ids, deliveryId: deliveryId(), testedAt: NOW },
  });
  t.match(query().delivery(deliveryId()), { message: 'webhook.test', status: 'waiting' });
  await append({ type: 'WebhookDeleted', data: { ...ids, deletedAt: NOW } });
  t.match(query().delivery(deliveryId()), { status: 'failed', dropped: 'deleted' });
  t.equal(query().byId(webhookId(2)), undefined);
});

void test('nothing is sent again to an endpoint that is off; of one that is on, a thousand', async (t) => {
  const { append, deliveries, due, query } = open(t);
  const ids = { ...owner, webhookId: webhookId(1) };
  await append(created(1, ['conversion.completed']), completed(1), completed(2));
  await append({ type: 'WebhookChanged', data: { ...ids, enabled: false, changedAt: NOW } });
  const [newer, older] = deliveries().map(({ id }) => id);
  const again = (deliveryIdOfOne = '', round = 1): DomainEvent => ({
    type: 'RedeliveryRequested',
    data: { ...ids, deliveryId: deliveryIdOfOne, round, requestedAt: NOW },
  });
  const all: DomainEvent = {
    type: 'RedeliveriesRequested',
    data: { ...ids, since: 0, requestedAt: NOW },
  };
  await append(again(newer), all);
  t.strictSame(due(), [], 'as the log may have it from a moment in which it was switched off');
  t.match(deliveries('failed'), [
    { id: newer, dropped: 'disabled', round: 2 },
    { id: older, dropped: 'disabled', round: 1 },
  ]);
  await append({ type: 'WebhookChanged', data: { ...ids, enabled: true, changedAt: NOW } });
  await append(again(newer, 3));
  t.match(due(), [{ id: newer, round: 3 }]);
  const tests = Array.from(
    { length: MAX_REDELIVERIES + 1 },
    (_, n): DomainEvent => ({
      type: 'WebhookTested',
      data: { ...ids, deliveryId: deliveryId(n), testedAt: NOW },
    }),
  );
  const off = { type: 'WebhookChanged', data: { ...ids, enabled: false, changedAt: NOW } } as const;
  const on = { ...off, data: { ...off.data, enabled: true } };
  await append(...tests, off, on, all);
  const [left, ...more] = deliveries('failed');
  t.strictSame([left?.id, more.length], [deliveryId(MAX_REDELIVERIES), 2], 'the oldest first');
  await append({ type: 'WebhookDeleted', data: { ...ids, deletedAt: NOW } }, again(newer, 9));
  t.match(query().delivery(newer ?? ''), { status: 'failed', dropped: 'deleted' });
});

void test('credits are low once for each grant', async (t) => {
  const { append, deliveries } = open(t);
  const grant = (amount: number): DomainEvent => ({
    type: 'CreditGranted',
    data: { ...owner, amount },
  });
  const debit = (amount: number): DomainEvent => ({
    type: 'CreditDebited',
    data: { ...owner, conversionId: conversionId(), amount },
  });
  const refund: DomainEvent = {
    type: 'CreditRefunded',
    data: { ...owner, conversionId: conversionId(), amount: 1, failedAt: '1' },
  };
  await append(created(1, ['credits.low']), grant(20), debit(18));
  t.equal(deliveries().length, 0, 'a tenth is left');
  await append(debit(1));
  t.match(deliveries(), [{ message: 'credits.low', webhookId: webhookId(1) }]);
  await append(refund, debit(1), debit(1));
  t.equal(deliveries().length, 1, 'once');
  await append(grant(1));
  await append(debit(1));
  t.equal(deliveries().length, 2, 'once more after the next grant');
});
