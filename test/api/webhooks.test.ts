/** Webhooks over real HTTP: endpoints, what they are told, tries over days, redelivery, rotation, switching off. */
import { Webhook } from 'standardwebhooks';
import { type Test, test } from 'tap';
import { verifyWebhook, WebhookRefused } from '../../client/src/webhooks.ts';
import { RETRY_PAUSES_MS } from '../../src/domain/webhook-delivery.ts';
import { MAX_WEBHOOKS } from '../../src/domain/webhooks.ts';
import { BASE, refusal } from '../support/api.ts';
import { eventually } from '../support/deadline.ts';
import { type Received, startReceiver } from '../support/receiver.ts';
import { DAY_MS, HOUR_MS } from '../support/samples.ts';
import { PDF, startWebhookApi } from '../support/webhooks.ts';

/** As the kept library checks it. Its clock is the real one. */
const verified = ({ text, headers }: Received, secret: string): unknown =>
  new Webhook(secret).verify(text, headers as Record<string, string>);

/** Long enough that nothing goes while tests move the clock. */
const KEPT = { RETENTION_SECONDS: String(30 * 86_400) };
const ENDED = { types: ['conversion.completed', 'conversion.failed'] };
const DELETED = { types: ['conversion.deleted', 'batch.ended'] };

void test('an endpoint is told of ends, signed, with the record of the API', async (t) => {
  const w = await startWebhookApi(t);
  const receiver = await startReceiver(t);
  const made = await w.create(receiver.url, { ...ENDED, description: 'books' });
  t.match(made, { url: receiver.url, description: 'books', enabled: true, failing_since: null });
  t.equal((await w.callAs('GET', `/webhooks/${made.id}/`)).body['secret'], undefined);

  const completed = await w.end(await w.request({ filename: 'a.pdf' }));
  const [first] = await receiver.count(1);
  t.match(first, {
    path: '/hook',
    id: /^delivery_[0-9a-z]{26}$/,
    headers: { 'content-type': 'application/json', 'user-agent': 'Pressledger/1.2.3' },
    body: { type: 'conversion.completed', data: { id: completed, status: 'completed' } },
  });
  if (first === undefined) return;
  t.strictSame(verified(first, made.secret), first.body);
  const delivery = { headers: first.headers, body: first.text };
  t.strictSame(await verifyWebhook(delivery, made.secret), first.body, 'by the client');
  const headers = new Headers(first.headers as Record<string, string>);
  const bytes = { headers, body: Buffer.from(first.text) };
  t.strictSame(await verifyWebhook(bytes, made.secret), first.body);
  const signature = String(first.headers['webhook-signature']);
  const refused: [what: string, changed: object, secret?: string][] = [
    ['another secret', {}, `whsec_${Buffer.alloc(32, 1).toString('base64')}`],
    ['another body', { body: `${first.text} ` }],
    ['another id', { headers: { ...first.headers, 'webhook-id': 'delivery_x' } }],
    ['an old time', { headers: { ...first.headers, 'webhook-timestamp': '1700000000' } }],
    ['no signature', { headers: { ...first.headers, 'webhook-signature': undefined } }],
    [
      'other signatures',
      { headers: { ...first.headers, 'webhook-signature': 'v1,!! v2,AAAA v1' } },
    ],
  ];
  for (const [what, changed, secret = made.secret] of refused) {
    await t.rejects(verifyWebhook({ ...delivery, ...changed }, secret), WebhookRefused, what);
  }
  const several = { ...first.headers, 'webhook-signature': `v1,AAAA v1a,x ${signature}` };
  t.ok(await verifyWebhook({ ...delivery, headers: several }, made.secret), 'one of several');
  const { body: record } = await w.callAs('GET', `/conversions/${completed}/`);
  const { file_url: link } = first.body.data;
  t.strictSame({ ...first.body.data, file_url: 0 }, { ...record, file_url: 0 });
  t.equal((await w.call('GET', String(link))).status, 200, 'a fresh link');
  const delivered = await w.inState(first.id, { status: 'delivered' });
  t.match(delivered, {
    type: 'conversion.completed',
    webhook_id: made.id,
    conversion_id: completed,
    url: receiver.url,
    tries: 1,
    last_status: 204,
    attempts: [{ status: 204 }],
  });

  receiver.answerWith((response) => response.writeHead(503).end('later'));
  const failed = await w.failOne(await w.request());
  const [, second] = await receiver.count(2);
  t.match(second?.body, {
    type: 'conversion.failed',
    data: { id: failed, error_message: 'a reason' },
  });
  const waiting = await w.inState(second?.id ?? '', { tries: 1 });
  t.match(waiting, {
    status: 'waiting',
    last_status: 503,
    attempts: [{ status: 503, answer: 'later' }],
  });
  t.match((await w.callAs('GET', `/webhooks/${made.id}/`)).body, { failing_since: /T/ });
  const history = await w.callAs('GET', `/conversions/${failed}/events/`);
  t.match(history.text, /Try 1 to deliver conversion.failed to webhook_\w+ was answered with 503/);
  const events = await w.callAs('GET', '/account/events/?page_size=100');
  t.notOk(
    events.text.includes('whsec_') && events.text.includes(made.secret),
    'no secret is shown',
  );

  const lists: [query: string, ids: (string | undefined)[]][] = [
    ['', [second?.id, first.id]],
    [`?webhook=${made.id}&status=waiting`, [second?.id]],
    [`?conversion=${completed}`, [first.id]],
    ['?status=failed', []],
    ['?page=2&page_size=1', [first.id]],
  ];
  for (const [query, ids] of lists) {
    const { body } = await w.callAs('GET', `/webhooks/deliveries/${query}`);
    t.strictSame(
      (body as unknown as { id: string }[]).map(({ id }) => id),
      ids,
      query,
    );
  }
  for (const each of receiver.received) t.ok(w.isDocumented(each), each.text);
  w.clock.time += 7 * DAY_MS + 1;
  t.equal((await w.callAs('GET', '/webhooks/deliveries/')).text, '[]', 'as long as documents');
  t.equal((await w.callAs('GET', `/webhooks/deliveries/${first.id}/`)).status, 404);
});

/** An endpoint whose receiver answers 500, and a delivery that it has refused once. */
async function startRefused(t: Test) {
  const w = await startWebhookApi(t, KEPT);
  const receiver = await startReceiver(t);
  receiver.answerWith((response) => response.writeHead(500).end());
  const { id: webhook } = await w.create(receiver.url, ENDED);
  await w.end(await w.request());
  const [first] = await receiver.count(1);
  const id = first?.id ?? '';
  await w.inState(id, { tries: 1 });
  return { w, receiver, webhook, id };
}

void test('tries: ten over three days, under one id, then once more when asked', async (t) => {
  const { w, receiver, webhook, id } = await startRefused(t);
  for (const [n, pause] of RETRY_PAUSES_MS.entries()) {
    await w.inState(id, { tries: n + 1 });
    w.pass(pause * 0.89);
    w.pass(pause * 0.22);
    await receiver.count(n + 2);
  }
  t.match(await w.inState(id, { status: 'failed' }), { tries: 10, last_status: 500 });
  t.strictSame(new Set(receiver.received.map((each) => each.id)), new Set([id]));
  const stamps = receiver.received.map(({ headers }) => Number(headers['webhook-timestamp']));
  t.ok((stamps[9] ?? 0) - (stamps[0] ?? 0) > 3 * 86_400, 'each is signed with its time');
  w.pass(30 * HOUR_MS);

  receiver.answerWith((response) => response.writeHead(200).end());
  const since = new Date(w.clock.time - 30 * DAY_MS).toISOString();
  const all = await w.callAs('POST', `/webhooks/${webhook}/redeliver/?since=${since}`);
  t.match(all, { status: 202, body: { deliveries: 1 } });
  await receiver.count(11);
  t.equal(receiver.received[10]?.id, id);

  const newer = await w.end(await w.request());
  const [, , , , , , , , , , , other] = await receiver.count(12);
  await w.inState(other?.id ?? '', { status: 'delivered' });
  const both = await Promise.all([
    w.callAs('POST', `/webhooks/deliveries/${other?.id}/redeliver/`),
    w.callAs('POST', `/webhooks/deliveries/${other?.id}/redeliver/`),
  ]);
  for (const { status } of both) t.equal(status, 202);
  await receiver.count(13);
  t.match(await w.inState(other?.id ?? '', { status: 'delivered', tries: 2 }), {
    conversion_id: newer,
  });
});

void test('a delivery is sent again while it waits, and not to an endpoint that is off', async (t) => {
  const { w, receiver, webhook, id } = await startRefused(t);
  t.equal((await w.callAs('POST', `/webhooks/deliveries/${id}/redeliver/`)).status, 202);
  await receiver.count(2);
  await w.inState(id, { tries: 2, status: 'waiting' });
  await w.callAs('PATCH', `/webhooks/${webhook}/`, { enabled: false });
  const off = {
    status: 400,
    body: { message: 'The endpoint is switched off. Switch it on first.' },
  };
  t.match(await w.callAs('POST', `/webhooks/deliveries/${id}/redeliver/`), off);
  const since = '?since=2026-01-01T00:00:00Z';
  t.match(await w.callAs('POST', `/webhooks/${webhook}/redeliver/${since}`), off);
});

void test('an endpoint that fails for five days, or answers 410, is switched off', async (t) => {
  const w = await startWebhookApi(t, KEPT);
  const [failing, gone] = [await startReceiver(t), await startReceiver(t)];
  failing.answerWith((response) => response.writeHead(500).end());
  gone.answerWith((response) => response.writeHead(410).end());
  const bad = await w.create(failing.url, ENDED);
  const off = await w.create(gone.url, ENDED);
  const isOff = (id: string) =>
    eventually('the endpoint to be off', async () => {
      const { body } = await w.callAs('GET', `/webhooks/${id}/`);
      return body['enabled'] === false ? body : undefined;
    });
  await w.end(await w.request());
  t.match(await isOff(off.id), { disabled_reason: 'gone' });
  for (let day = 0; day < 6; day += 1) {
    const before = failing.received.length;
    await w.end(await w.request());
    await failing.count(before + 1);
    await eventually('every try to be kept', async () => {
      const { body } = await w.callAs('GET', `/webhooks/deliveries/?webhook=${bad.id}`);
      const kept = (body as unknown as { tries: number }[]).map(({ tries }) => tries);
      return kept.reduce((sum, tries) => sum + tries, 0) === failing.received.length || undefined;
    });
    w.pass(25 * HOUR_MS);
  }
  t.match(await isOff(bad.id), {
    disabled_reason: 'failing',
    disabled_at: /T/,
    failing_since: /T/,
  });
  t.equal(gone.received.length, 1);
  const { body } = await w.callAs('GET', '/webhooks/deliveries/?status=waiting');
  t.strictSame(body, [], 'nothing waits for it');
  const dropped = await w.callAs('GET', `/webhooks/deliveries/?webhook=${bad.id}`);
  t.match(dropped.body, [{ status: 'failed', dropped: 'disabled' }]);
  t.match((await w.callAs('GET', '/account/events/?type=WebhookDisabled')).text, /every try since/);
  const before = failing.received.length;
  await w.end(await w.request());
  failing.answerWith((response) => response.writeHead(200).end());
  const on = await w.callAs('PATCH', `/webhooks/${bad.id}/`, { enabled: true });
  t.match(on, { status: 200, body: { enabled: true, failing_since: null } });
  await w.end(await w.request());
  await failing.count(before + 1);
});

void test('a request with a URL is refused until somebody was shown the secret', async (t) => {
  const w = await startWebhookApi(t);
  const webhook_url = 'https://example.com/hook';
  const form = new FormData();
  form.append('files', new Blob(['<p>x</p>']), 'index.html');
  form.append('webhook_url', webhook_url);
  const one = { html: '<p>x</p>', webhook_url };
  const sources = [{ file: PDF.toString('base64') }];
  const template = { name: 'T', html: '<p>x</p>', sample: {} };
  const { body: made } = await w.callAs('POST', '/templates/', template);
  const ofTemplate = { template: made['id'], data: {}, webhook_url };
  const requests: [path: string, body: object, field: string][] = [
    ['/pdf/', one, 'webhook_url'],
    ['/pdf/', ofTemplate, 'webhook_url'],
    ['/batches/', { requests: [{ html: '<p>x</p>' }], webhook_url }, 'webhook_url'],
    ['/batches/', { requests: [{ html: '<p>x</p>' }, one] }, 'requests.1.webhook_url'],
    ['/batches/', { requests: [ofTemplate] }, 'requests.0.webhook_url'],
    ['/documents/', { sources, webhook_url }, 'webhook_url'],
  ];
  const send = (path: string, body: object) => w.callAs('POST', path, body);
  const sendForm = async () => {
    const headers = { 'X-API-Key': w.key };
    const url = `${w.origin}${BASE}/pdf/`;
    const response = await fetch(url, { method: 'POST', headers, body: form });
    return { status: response.status, text: await response.text() };
  };
  for (const [path, body, field] of requests) {
    const answer = await send(path, body);
    t.match(answer, { status: 400, body: { error: 'validation_error' } }, answer.text);
    const { [field]: messages } = answer.body['details'] as Record<string, string[]>;
    t.match(messages?.[0], 'POST /webhooks/secret/rotate/', path);
  }
  const refused = await sendForm();
  t.equal(refused.status, 400);
  t.match(refused.text, 'POST /webhooks/secret/rotate/');
  t.equal((await send('/pdf/', { html: '<p>x</p>', webhook_url: null })).status, 202);
  w.pass(60_000);
  t.equal((await send('/webhooks/secret/rotate/', {})).status, 200);
  for (const [path, body] of requests) {
    const answer = await send(path, body);
    t.equal(answer.status, 202, answer.text);
  }
  t.equal((await sendForm()).status, 202);
});

void test('rotation, the default secret and the URL of a request', async (t) => {
  const w = await startWebhookApi(t);
  const receiver = await startReceiver(t);
  const made = await w.create(receiver.url, ENDED);
  const rotated = await w.callAs('POST', `/webhooks/${made.id}/rotate/`);
  const secret = String(rotated.body['secret']);
  t.not(secret, made.secret);
  t.equal(rotated.body['secret_prefix'], secret.slice(0, 10));
  const test1 = await w.callAs('POST', `/webhooks/${made.id}/test/`);
  t.match(test1, { status: 202, body: { type: 'webhook.test', status: 'waiting' } });
  const [tested] = await receiver.count(1);
  t.match(tested?.body, { type: 'webhook.test', data: { id: made.id, url: receiver.url } });
  for (const each of [secret, made.secret]) t.ok(tested && verified(tested, each));
  t.equal(tested?.id, test1.body['id']);
  t.equal(await w.callAs('DELETE', `/webhooks/${made.id}/`).then(({ status }) => status), 204);

  t.strictSame(refusal(await w.callAs('GET', '/webhooks/secret/')), {
    status: 404,
    error: 'not_found',
  });
  const first = await w.callAs('POST', '/webhooks/secret/rotate/');
  await w.end(await w.request({ webhook_url: receiver.url }));
  const [, ofRequest] = await receiver.count(2);
  t.match(ofRequest?.body, { type: 'conversion.completed' });
  t.ok(ofRequest && verified(ofRequest, String(first.body['secret'])));
  t.match(await w.callAs('GET', '/webhooks/secret/'), {
    status: 200,
    body: { secret_prefix: /^whsec_/ },
  });
  const { body } = await w.callAs('POST', '/webhooks/secret/rotate/');
  await w.failOne(await w.request({ webhook_url: receiver.url }));
  const [, , second] = await receiver.count(3);
  t.ok(second && verified(second, String(body['secret'])));
  t.equal(
    String(second?.headers['webhook-signature']).split(' ').length,
    2,
    'the former signs, too',
  );
  t.match(second?.body, { type: 'conversion.failed' });
  t.match(await w.inState(second?.id ?? '', { status: 'delivered' }), { url: receiver.url });

  await w.create(receiver.url, DELETED);
  const ended = await w.end(await w.request());
  t.equal((await w.callAs('DELETE', `/conversions/${ended}/`)).status, 204);
  const [, , , deleted] = await receiver.count(4);
  t.match(deleted?.body, { type: 'conversion.deleted', data: { id: ended, status: 'completed' } });
  for (const each of receiver.received) t.ok(w.isDocumented(each), each.text);
});

void test('credits are low: told once', async (t) => {
  const w = await startWebhookApi(t);
  const receiver = await startReceiver(t);
  await w.create(receiver.url, { types: ['credits.low'] });
  for (let n = 0; n < 92; n += 1) await w.request();
  await receiver.count(1);
  t.match(receiver.received, [{ body: { type: 'credits.low', data: { plan: 'pro' } } }]);
  t.ok(receiver.received.every(w.isDocumented));
});

void test('at most 20 endpoints, also when they are asked for at the same time', async (t) => {
  const w = await startWebhookApi(t);
  const url = 'http://127.0.0.1:9/';
  const answers = await Promise.all(
    Array.from({ length: MAX_WEBHOOKS + 5 }, () => w.callAs('POST', '/webhooks/', { url })),
  );
  const codes = answers.map(({ status }) => status);
  t.equal(codes.filter((status) => status === 201).length, MAX_WEBHOOKS);
  const refused = answers.find(({ status }) => status === 400);
  t.match(refused?.body['message'], /at most 20 webhook endpoints/);
  const { headers, body } = await w.callAs('GET', '/webhooks/?page_size=1');
  t.equal(headers.get('x-total-count'), '20');
  t.match(body, [
    {
      types: [
        'conversion.completed',
        'conversion.failed',
        'conversion.deleted',
        'batch.ended',
        'credits.low',
      ],
    },
  ]);
  const other = await w.newAccount();
  const [{ id }] = body as unknown as [{ id: string }];
  for (const [method, path, more] of [
    ['GET', `/webhooks/${id}/`],
    ['PATCH', `/webhooks/${id}/`, { enabled: false }],
    ['DELETE', `/webhooks/${id}/`],
    ['POST', `/webhooks/${id}/rotate/`],
    ['POST', `/webhooks/${id}/test/`],
    ['POST', `/webhooks/${id}/redeliver/?since=2026-01-01T00:00:00Z`],
  ] as const) {
    const answer = await w.call(method, BASE + path, {
      key: other.key,
      ...(more && { body: more }),
    });
    t.strictSame(refusal(answer), { status: 404, error: 'not_found' }, `${method} ${path}`);
  }
});
