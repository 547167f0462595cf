import { test } from 'tap';
import {
  type DeliveryCommand,
  type DeliveryEvent,
  delivery,
  RETRY_PAUSES_MS,
} from '../../../src/domain/webhook-delivery.ts';
import {
  endpointOf,
  MAX_REDELIVERIES,
  MAX_WEBHOOKS,
  redeliveryRefused,
  SECRET_OVERLAP_MS,
  secretsInForce,
  type WebhooksCommand,
  type WebhooksEvent,
  webhooks,
} from '../../../src/domain/webhooks.ts';
import { fold, given } from '../../support/given.ts';
import {
  accountId,
  conversionId,
  DAY_MS,
  deliveryId,
  HOUR_MS,
  NOW,
  webhookId,
} from '../../support/samples.ts';

const owner = { accountId: accountId() };
const secret = (n = 1) => ({ secret: `v1.s${n}`, secretPrefix: 'whsec_abcd' });
const endpoint = (n = 1) => ({ ...owner, webhookId: webhookId(n) });
const types = ['conversion.completed' as const];
const created = (n = 1): WebhooksEvent => ({
  type: 'WebhookCreated',
  data: { ...endpoint(n), url: 'v1.u', types, ...secret(), createdAt: NOW },
});
const rotated = (n: number, at: number): WebhooksEvent => ({
  type: 'WebhookSecretRotated',
  data: { ...endpoint(), ...secret(n), rotatedAt: at },
});

void test('endpoints are made, changed, switched off and deleted', (t) => {
  const now = NOW + 1;
  const create: WebhooksCommand = {
    type: 'CreateWebhook',
    ...endpoint(),
    url: 'v1.u',
    types,
    ...secret(),
    now: NOW,
  };
  given(t, webhooks).when(create).thenEvents(created());
  given(t, webhooks, created()).when(create).thenNothing();
  const full = Array.from({ length: MAX_WEBHOOKS }, (_, n) => created(n + 1));
  const more = { ...create, ...endpoint(99) };
  given(t, webhooks, ...full)
    .when(more)
    .thenRejected('validation_error', /at most 20 webhook endpoints/);
  const deleted: WebhooksEvent = {
    type: 'WebhookDeleted',
    data: { ...endpoint(), deletedAt: now },
  };
  const described = { ...more, description: 'v1.d' };
  given(t, webhooks, ...full, deleted)
    .when(described)
    .thenEvents({
      type: 'WebhookCreated',
      data: {
        ...endpoint(99),
        url: 'v1.u',
        description: 'v1.d',
        types,
        ...secret(),
        createdAt: NOW,
      },
    });
  given(t, webhooks, created())
    .when({ type: 'ChangeWebhook', ...endpoint(), change: { enabled: false, types }, now })
    .thenEvents({
      type: 'WebhookChanged',
      data: { ...endpoint(), enabled: false, types, changedAt: now },
    });
  given(t, webhooks, created())
    .when({ type: 'ChangeWebhook', ...endpoint(), change: {}, now })
    .thenNothing();
  given(t, webhooks, created())
    .when({ type: 'DeleteWebhook', ...endpoint(), now })
    .thenEvents(deleted);
  given(t, webhooks, created())
    .when({ type: 'TestWebhook', ...endpoint(), deliveryId: deliveryId(), now })
    .thenEvents({
      type: 'WebhookTested',
      data: { ...endpoint(), deliveryId: deliveryId(), testedAt: now },
    });
  given(t, webhooks, created())
    .when({ type: 'RequestRedeliveries', ...endpoint(), since: 5, now })
    .thenEvents({
      type: 'RedeliveriesRequested',
      data: { ...endpoint(), since: 5, requestedAt: now },
    });
  const commands: WebhooksCommand[] = [
    { type: 'ChangeWebhook', ...endpoint(), change: {}, now },
    { type: 'RotateSecret', ...endpoint(), ...secret(), now },
    { type: 'DisableWebhook', ...endpoint(), reason: 'gone', since: now, now },
    { type: 'DeleteWebhook', ...endpoint(), now },
    { type: 'TestWebhook', ...endpoint(), deliveryId: deliveryId(), now },
    { type: 'RequestRedeliveries', ...endpoint(), since: 5, now },
  ];
  for (const command of commands) {
    given(t, webhooks, created(), deleted).when(command).thenRejected('not_found');
    given(t, webhooks, created(2)).when(command).thenRejected('not_found');
  }
  t.end();
});

void test('the service switches off what fails, unless its owner changed it since', (t) => {
  const disable = (since: number): WebhooksCommand => ({
    type: 'DisableWebhook',
    ...endpoint(),
    reason: 'failing',
    since,
    now: NOW + 9,
  });
  const disabled: WebhooksEvent = {
    type: 'WebhookDisabled',
    data: { ...endpoint(), reason: 'failing', since: NOW + 1, disabledAt: NOW + 9 },
  };
  given(t, webhooks, created())
    .when(disable(NOW + 1))
    .thenEvents(disabled);
  given(t, webhooks, created(), disabled)
    .when(disable(NOW + 1))
    .thenNothing();
  const on: WebhooksEvent = {
    type: 'WebhookChanged',
    data: { ...endpoint(), enabled: true, changedAt: NOW + 10 },
  };
  given(t, webhooks, created(), disabled, on)
    .when(disable(NOW + 1))
    .thenNothing();
  t.equal(endpointOf(fold(webhooks, [created(), disabled]), webhookId())?.enabled, false);
  t.equal(endpointOf(fold(webhooks, [created(), disabled, on]), webhookId())?.enabled, true);
  t.end();
});

const inForce = (events: readonly WebhooksEvent[], now: number) =>
  secretsInForce(endpointOf(fold(webhooks, events), webhookId())?.secrets ?? [], now).map(
    (each) => each.secret,
  );

void test('a former secret signs for a day', (t) => {
  const at = NOW + HOUR_MS;
  given(t, webhooks, created())
    .when({ type: 'RotateSecret', ...endpoint(), ...secret(2), now: at })
    .thenEvents(rotated(2, at));
  const twice = [created(), rotated(2, at), rotated(3, at + HOUR_MS)];
  t.strictSame(inForce([created()], NOW + 100 * DAY_MS), ['v1.s1']);
  t.strictSame(inForce(twice, at + HOUR_MS), ['v1.s3', 'v1.s2', 'v1.s1']);
  t.strictSame(inForce(twice, at + SECRET_OVERLAP_MS - 1), ['v1.s3', 'v1.s2', 'v1.s1']);
  t.strictSame(inForce(twice, at + SECRET_OVERLAP_MS), ['v1.s3', 'v1.s2']);
  t.strictSame(inForce(twice, at + HOUR_MS + SECRET_OVERLAP_MS), ['v1.s3']);
  const many = Array.from({ length: 9 }, (_, n) => rotated(n + 1, at));
  t.equal(inForce([created(), ...many], at).length, 5, 'at most five sign at a time');

  const ofRequests = (onlyFirst: boolean): WebhooksCommand => ({
    type: 'RotateDefaultSecret',
    ...owner,
    ...secret(),
    onlyFirst,
    now: at,
  });
  const made: WebhooksEvent = {
    type: 'WebhookSecretRotated',
    data: { ...owner, ...secret(), rotatedAt: at },
  };
  given(t, webhooks).when(ofRequests(true)).thenEvents(made);
  given(t, webhooks, made).when(ofRequests(true)).thenNothing();
  given(t, webhooks, made).when(ofRequests(false)).thenEvents(made);
  t.end();
});

const about = {
  ...owner,
  deliveryId: deliveryId(),
  webhookId: webhookId(),
  conversionId: conversionId(),
};

void test('a delivery is tried ten times, over three days', (t) => {
  const attempt = (n: number, status?: number, round = 0): DeliveryCommand => ({
    type: 'RecordAttempt',
    ...about,
    message: 'conversion.completed',
    round,
    attempt: n,
    ...(status === undefined ? { failure: 'timeout' as const } : { status }),
    durationMs: 7,
    jitter: 0.5,
    at: NOW,
  });
  const tried = (n: number, more: object) =>
    ({
      type: 'DeliveryAttempted',
      data: {
        ...about,
        message: 'conversion.completed',
        round: 0,
        attempt: n,
        durationMs: 7,
        attemptedAt: NOW,
        ...more,
      },
    }) as DeliveryEvent;
  const failing = (n: number) => {
    const pause = RETRY_PAUSES_MS[n - 1];
    return pause === undefined
      ? tried(n, { failure: 'timeout', outcome: 'failed' })
      : tried(n, { failure: 'timeout', outcome: 'retry', nextAt: NOW + pause });
  };
  const before: DeliveryEvent[] = [];
  for (let n = 1; n <= 10; n += 1) {
    given(t, delivery, ...before)
      .when(attempt(n))
      .thenEvents(failing(n));
    given(t, delivery, ...before)
      .when(attempt(n + 1))
      .thenNothing();
    before.push(failing(n));
    given(t, delivery, ...before)
      .when(attempt(n))
      .thenNothing();
  }
  const days = RETRY_PAUSES_MS.reduce((sum, pause) => sum + pause, 0) / DAY_MS;
  t.ok(days > 3 && days < 3.5, `${days} days`);
  for (const [jitter, nextAt] of [
    [0, NOW + 4500],
    [1, NOW + 5500],
  ] as const) {
    given(t, delivery)
      .when({ ...attempt(1, 500), jitter } as DeliveryCommand)
      .thenEvents(tried(1, { status: 500, outcome: 'retry', nextAt }));
  }
  for (const status of [200, 204, 299]) {
    given(t, delivery)
      .when(attempt(1, status))
      .thenEvents(tried(1, { status, outcome: 'delivered' }));
  }
  given(t, delivery)
    .when(attempt(1, 410))
    .thenEvents(tried(1, { status: 410, outcome: 'failed' }));
  for (const status of [301, 404, 429, 503]) {
    given(t, delivery)
      .when(attempt(1, status))
      .thenEvents(tried(1, { status, outcome: 'retry', nextAt: NOW + 5000 }));
  }

  const again = { ...about, round: 1, requestedAt: NOW };
  given(t, delivery, ...before)
    .when({ type: 'RequestRedelivery', ...about, round: 1, at: NOW })
    .thenEvents({ type: 'RedeliveryRequested', data: again });
  given(t, delivery, ...before, { type: 'RedeliveryRequested', data: again })
    .when({ type: 'RequestRedelivery', ...about, round: 1, at: NOW })
    .thenNothing();
  given(t, delivery, ...before, { type: 'RedeliveryRequested', data: again })
    .when(attempt(1, 200, 0))
    .thenNothing();
  given(t, delivery, ...before)
    .when(attempt(1, 200, 3))
    .thenEvents(tried(1, { status: 200, round: 3, outcome: 'delivered' }));
  t.end();
});

const changed = (data: object): WebhooksEvent => ({
  type: 'WebhookChanged',
  data: { ...endpoint(), changedAt: NOW + 1, ...data },
});

void test('a change of one endpoint leaves what it does not name, and the others', (t) => {
  const before = { url: 'v1.u', types, enabled: true, changedAt: NOW };
  const cases: readonly (readonly [object, object])[] = [
    [{ url: 'v1.w' }, { url: 'v1.w' }],
    [{ types: ['conversion.failed'] }, { types: ['conversion.failed'] }],
    [{ enabled: false }, { enabled: false }],
    [{ description: 'v1.d' }, {}],
  ];
  for (const [data, expected] of cases) {
    const state = fold(webhooks, [created(2), created(), changed(data)]);
    t.match(endpointOf(state, webhookId()), { ...before, ...expected, changedAt: NOW + 1 });
    t.match(endpointOf(state, webhookId(2)), before);
  }
  const two = [created(2), created()];
  const off = fold(webhooks, [
    ...two,
    {
      type: 'WebhookDisabled',
      data: { ...endpoint(), reason: 'gone', since: NOW, disabledAt: NOW },
    },
  ]);
  t.strictSame(
    off.endpoints.map(({ enabled }) => enabled),
    [true, false],
  );
  const { endpoints } = fold(webhooks, [...two, rotated(3, NOW)]);
  t.strictSame(
    endpoints.map(({ secrets }) => secrets.length),
    [1, 2],
  );
  const state = fold(webhooks, [
    ...two,
    { type: 'WebhookDeleted', data: { ...endpoint(), deletedAt: NOW } },
  ]);
  t.strictSame(
    state.endpoints.map(({ id }) => id),
    [webhookId(2)],
  );
  t.end();
});

void test('a change without types keeps them', (t) => {
  given(t, webhooks, created())
    .when({ type: 'ChangeWebhook', ...endpoint(), change: { url: 'v1.w' }, now: NOW + 1 })
    .thenEvents(changed({ url: 'v1.w' }));
  t.end();
});

void test('an endpoint that was changed when its first try failed is still the one that failed', (t) => {
  const disable = (since: number): WebhooksCommand => ({
    type: 'DisableWebhook',
    ...endpoint(),
    reason: 'gone',
    since,
    now: NOW + 9,
  });
  given(t, webhooks, created(), changed({ url: 'v1.w' }))
    .when(disable(NOW + 1))
    .thenEvents({
      type: 'WebhookDisabled',
      data: { ...endpoint(), reason: 'gone', since: NOW + 1, disabledAt: NOW + 9 },
    });
  given(t, webhooks, created(), changed({ url: 'v1.w' }))
    .when(disable(NOW))
    .thenNothing();
  t.end();
});

void test('nothing is sent again to an endpoint that is switched off', (t) => {
  const again: WebhooksCommand = { type: 'RequestRedeliveries', ...endpoint(), since: 5, now: NOW };
  given(t, webhooks, created(), changed({ enabled: false }))
    .when(again)
    .thenRejected('validation_error', /switched off. Switch it on/);
  t.match(redeliveryRefused(fold(webhooks, [created(2)]), webhookId()), { rejected: 'not_found' });
  t.equal(redeliveryRefused(fold(webhooks, [created()]), webhookId()), undefined);
  t.end();
});

void test('the documented limits of webhooks hold', (t) => {
  t.strictSame([MAX_WEBHOOKS, MAX_REDELIVERIES, SECRET_OVERLAP_MS], [20, 1000, DAY_MS]);
  const [minute, hour] = [HOUR_MS / 60, HOUR_MS];
  const pauses = [5000, 5 * minute, hour / 2, ...[2, 5, 10, 14, 20, 24].map((n) => n * hour)];
  t.strictSame(RETRY_PAUSES_MS, pauses);
  t.end();
});

void test('only 2xx is delivered', (t) => {
  const outcomes: readonly (readonly [number, string])[] = [
    [199, 'retry'],
    [200, 'delivered'],
    [299, 'delivered'],
    [300, 'retry'],
    [409, 'retry'],
    [410, 'failed'],
    [411, 'retry'],
  ];
  for (const [status, outcome] of outcomes) {
    const decided = delivery.decide(
      {
        type: 'RecordAttempt',
        ...about,
        message: 'conversion.completed',
        round: 0,
        attempt: 1,
        status,
        durationMs: 7,
        jitter: 0.5,
        at: NOW,
      },
      delivery.initialState,
    );
    t.match(decided, [{ data: { status, outcome } }], `${status}`);
  }
  t.end();
});

const attemptOf = (round: number, n: number): DeliveryCommand => ({
  type: 'RecordAttempt',
  ...about,
  message: 'conversion.completed',
  round,
  attempt: n,
  status: 200,
  durationMs: 7,
  jitter: 0.5,
  at: NOW,
});

const deliveredIn = (round: number, n: number): DeliveryEvent => ({
  type: 'DeliveryAttempted',
  data: {
    ...about,
    message: 'conversion.completed',
    round,
    attempt: n,
    status: 200,
    durationMs: 7,
    outcome: 'delivered',
    attemptedAt: NOW,
  },
});

const askedFor = (round: number): DeliveryEvent => ({
  type: 'RedeliveryRequested',
  data: { ...about, round, requestedAt: NOW },
});

const askFor = (round: number): DeliveryCommand => ({
  type: 'RequestRedelivery',
  ...about,
  round,
  at: NOW,
});

void test('a delivery that is sent again begins with its first try, and not in a round that is over', (t) => {
  const again = given(t, delivery, deliveredIn(0, 1), askedFor(1));
  again.when(attemptOf(1, 1)).thenEvents(deliveredIn(1, 1));
  again.when(attemptOf(1, 2)).thenNothing();
  again.when(attemptOf(0, 2)).thenNothing();
  again.when(askFor(1)).thenNothing();
  again.when(askFor(0)).thenNothing();
  again.when(askFor(2)).thenEvents(askedFor(2));
  given(t, delivery, deliveredIn(2, 1)).when(attemptOf(2, 2)).thenEvents(deliveredIn(2, 2));
  t.end();
});
