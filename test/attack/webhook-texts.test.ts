/** What members and auditors read of webhooks that are not theirs: receivers repeat what they get, and addresses hold secrets. */
import { test } from 'tap';
import { BASE } from '../support/api.ts';
import { eventually } from '../support/deadline.ts';
import { bearerOf, joined } from '../support/every-people-answer.ts';
import { startReceiver } from '../support/receiver.ts';
import { startWebhookApi } from '../support/webhooks.ts';

const SECRET = 'token=s3cret';

void test('answers and addresses of webhooks are shown to those whom they are for', async (t) => {
  const receiver = await startReceiver(t);
  receiver.answerWith((response, { text }) => response.writeHead(200).end(`got ${text}`));
  const { api, account, callAs, request, end } = await startWebhookApi(t);
  await callAs('POST', '/webhooks/secret/rotate/');
  const owner = await bearerOf(api, account.email);
  const [member, other, auditor, granted] = [
    await joined(api, owner, 'm@example.com', 'member'),
    await joined(api, owner, 'o@example.com', 'member'),
    await joined(api, owner, 'a@example.com', 'auditor'),
    await joined(api, owner, 'g@example.com', 'auditor', { documents: true }),
  ];
  const made = await api.call('POST', `${BASE}/api-keys/`, {
    headers: member.headers,
    body: { name: 'program' },
  });
  const key = String(made.body['key']);
  const keyFor = async (scopes: readonly string[]) =>
    String((await callAs('POST', '/api-keys/', { name: 'bounded', scopes })).body['key']);
  const [blind, seeing] = [
    await keyFor(['webhooks', 'history']),
    await keyFor(['webhooks', 'history', 'read']),
  ];
  const webhook_url = `${receiver.url}?${SECRET}#part`;
  const asked = await api.call('POST', `${BASE}/pdf/`, {
    key,
    body: { html: '<p>x</p>', webhook_url },
  });
  const id = await end(String(asked.body['id']));
  await receiver.count(1);
  t.equal(receiver.received[0]?.path, `/hook?${SECRET}`, 'it is sent to the whole address');
  await end(await request({ webhook_url }));
  await receiver.count(2);
  const retried = await api.call('POST', `${BASE}/conversions/${id}/retry/`, {
    headers: other.headers,
  });
  t.equal(retried.status, 202);

  const deliveries = await callAs('GET', `/webhooks/deliveries/?conversion=${id}`);
  const [delivery] = JSON.parse(deliveries.text) as readonly { readonly id: string }[];
  const read = async (as: object, path: string) => {
    const answer = await api.call('GET', BASE + path, as);
    t.equal(answer.status, 200, `${path}: ${answer.text}`);
    return answer.text;
  };
  const readers: [name: string, as: object, isAnswered: boolean, seesQuery: boolean][] = [
    ['owner', { headers: owner }, true, true],
    ['the member whose key asked', { headers: member.headers }, true, true],
    ['that key', { key }, true, true],
    ['another member', { headers: other.headers }, true, false],
    ['auditor', { headers: auditor.headers }, false, false],
    ['auditor with documents', { headers: granted.headers }, true, false],
    ['a key without read', { key: blind }, false, true],
    ['a key with read', { key: seeing }, true, true],
  ];
  for (const [name, as, isAnswered, seesQuery] of readers) {
    const one = await read(as, `/webhooks/deliveries/${delivery?.id}/`);
    t.equal(one.includes('got '), isAnswered, `${name}: the answer of a delivery`);
    t.equal(one.includes(SECRET), seesQuery, `${name}: the address of a delivery`);
    t.ok(one.includes(receiver.url), 'without its query');
    const history = await read(as, `/conversions/${id}/events/?page_size=100`);
    t.ok(history.includes('DeliveryAttempted'));
    t.equal(history.includes('got '), isAnswered, `${name}: the answer in the history`);
    t.equal(history.includes(SECRET), seesQuery, `${name}: the address in the history`);
    const all = await read(as, '/account/events/?page_size=100');
    t.equal(all.includes('got '), isAnswered, `${name}: all answers`);
  }
  for (const as of [other, auditor, granted]) {
    for (const path of ['/webhooks/deliveries/', '/account/events/?page_size=100']) {
      t.notMatch(await read({ headers: as.headers }, path), SECRET, path);
    }
  }
});

void test('only those who may change an endpoint see the query of its address', async (t) => {
  const receiver = await startReceiver(t);
  receiver.answerWith((response) => response.writeHead(200).end());
  const { api, account, callAs } = await startWebhookApi(t);
  const owner = await bearerOf(api, account.email);
  const member = await joined(api, owner, 'm@example.com', 'member');
  const auditor = await joined(api, owner, 'a@example.com', 'auditor', { documents: true });
  const made = await callAs('POST', '/webhooks/', { url: `${receiver.url}?${SECRET}` });
  t.match(made.body, { url: `${receiver.url}?${SECRET}` });
  const id = String(made.body['id']);
  await callAs('PATCH', `/webhooks/${id}/`, { url: `${receiver.url}?again&${SECRET}` });
  await callAs('POST', `/webhooks/${id}/test/`);
  await receiver.count(1);
  t.equal(receiver.received[0]?.path, `/hook?again&${SECRET}`, 'it is sent to the whole address');
  const paths = [
    '/webhooks/',
    `/webhooks/${id}/`,
    '/webhooks/deliveries/',
    '/account/events/?page_size=100',
  ];
  for (const path of paths) {
    const read = async (headers: Readonly<Record<string, string>>) =>
      (await api.call('GET', BASE + path, { headers })).text;
    t.match(await read(owner), SECRET, path);
    for (const { headers } of [member, auditor]) {
      const seen = await read(headers);
      t.ok(seen.includes(`"${receiver.url}"`), `${path}: ${seen}`);
      t.notMatch(seen, SECRET, path);
    }
  }
});

void test('an answer that repeats the address is kept without the values of its query', async (t) => {
  const receiver = await startReceiver(t);
  receiver.answerWith((response, { path }) => {
    response.writeHead(404).end(`Cannot POST ${path} (${decodeURIComponent(path)})`);
  });
  const { api, account, callAs } = await startWebhookApi(t);
  const owner = await bearerOf(api, account.email);
  const member = await joined(api, owner, 'm@example.com', 'member');
  const made = await callAs('POST', '/webhooks/', {
    url: `${receiver.url}?n=1&key=s%C3%A9cret&b4resecret`,
  });
  const sent = await callAs('POST', `/webhooks/${String(made.body['id'])}/test/`);
  await receiver.count(1);
  for (const path of [
    `/webhooks/deliveries/${String(sent.body['id'])}/`,
    '/account/events/?page_size=100',
  ]) {
    const seen = await eventually(path, async () => {
      const { text } = await api.call('GET', BASE + path, { headers: member.headers });
      return text.includes('Cannot') ? text : undefined;
    });
    t.match(seen, 'Cannot POST /hook?n=1&key=…&… (/hook?n=1&key=…&…)', path);
    t.notMatch(seen, /(%C3%A9|é|b4rese)cret/u, path);
  }
});
