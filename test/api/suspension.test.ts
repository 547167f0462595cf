/** An operator suspends an account and resumes it; each act is in the account's history, with its reason. */
import { test } from 'tap';
import { createApiKey } from '../../src/accounts/api-keys.ts';
import { founderOf } from '../../src/domain/members.ts';
import { type Answer, type Api, BASE, PASSWORD, refusal, startApi } from '../support/api.ts';
import { ownPage, SESSION, sessionCookie } from '../support/dashboard.ts';
import { bearerOf, joined } from '../support/every-people-answer.ts';
import { newOperator, setOperator, tokensOf } from '../support/operator.ts';

const REASON = 'The invoice of October is not paid.';
const HTML = { html: '<p>one</p>' };
const PDF = Buffer.from('%PDF-1.7 %%EOF');
const FORBIDDEN = { status: 403, error: 'forbidden' };
const itemsOf = (answer: Answer) => JSON.parse(answer.text) as Record<string, unknown>[];

/** An account with two conversions: one is completed, the other waits. */
async function busyAccount(api: Api) {
  const account = await api.newAccount();
  const { key } = account;
  const ask = async () =>
    String((await api.call('POST', `${BASE}/pdf/`, { key, body: HTML })).body['id']);
  const [done, waiting] = [await ask(), await ask()];
  await api.complete(account.id, done, PDF);
  const record = await api.call('GET', `${BASE}/conversions/${done}/`, { key });
  return { ...account, done, waiting, link: String(record.body['file_url']) };
}

void test('a suspended account is refused with the reason, and what it asked for is finished', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const account = await busyAccount(api);
  const { id, key, email, waiting } = account;
  const { access, refresh } = await tokensOf(api, email);
  const headers = { Authorization: `Bearer ${access}` };
  const leaving = await tokensOf(api, email);
  const page = { headers: ownPage(), body: { email, password: PASSWORD } };
  const cookie = sessionCookie(await api.call('POST', SESSION, page));
  const at = `/accounts/${id}`;
  const done = await operator.call('POST', `${at}/suspend/`, { body: { reason: REASON } });
  t.match(done, { status: 200, body: { suspended: true, suspension: { reason: REASON } } });

  const told = `The account is suspended. The reason that the operator of the service gave: ${REASON}`;
  const refused = {
    'a key': api.call('POST', `${BASE}/pdf/`, { key, body: HTML }),
    'a key that reads': api.call('GET', `${BASE}/conversions/${waiting}/`, { key }),
    'a session': api.call('GET', `${BASE}/account/`, { headers }),
    'a refresh': api.call('POST', `${BASE}/auth/jwt/refresh/`, { body: { refresh } }),
    'a sign-in': api.call('POST', `${BASE}/auth/jwt/create/`, {
      body: { email, password: PASSWORD },
    }),
    'a sign-in to the dashboard': api.call('POST', SESSION, {
      headers: ownPage(),
      body: { email, password: PASSWORD },
    }),
  };
  for (const [what, answering] of Object.entries(refused)) {
    const answer = await answering;
    t.strictSame(refusal(answer), FORBIDDEN, what);
    t.equal(answer.body['message'], told, what);
    t.ok(answer.headers.get('x-ratelimit-limit'), 'with the headers of every answer');
  }
  const out = [
    await api.call('POST', `${BASE}/auth/jwt/revoke/`, { body: { refresh: leaving.refresh } }),
    await api.call('DELETE', SESSION, { headers: ownPage(cookie) }),
  ];
  t.strictSame(
    out.map(({ status }) => status),
    [204, 204],
    'nobody is kept from signing out',
  );
  const wrong = { email, password: 'a wrong password' };
  const stranger = await api.call('POST', `${BASE}/auth/jwt/create/`, { body: wrong });
  t.equal(stranger.status, 401, 'a stranger is not told');

  t.equal((await api.call('GET', account.link)).status, 200, 'a link that was given out stays');
  await api.complete(id, waiting, PDF);

  const again = await operator.call('POST', `${at}/resume/`, { body: { reason: 'It was paid.' } });
  t.match(again.body, { suspended: false, suspension: null });
  t.match(await api.call('GET', `${BASE}/conversions/${waiting}/`, { key }), {
    status: 200,
    body: { status: 'completed' },
  });
  t.equal((await api.call('GET', `${BASE}/account/`, { headers })).status, 200);
  t.equal((await api.call('POST', `${BASE}/pdf/`, { key, body: HTML })).status, 202);
  t.strictSame(refusal(await operator.call('POST', `${at}/resume/`, { body: {} })), {
    status: 404,
    error: 'not_found',
  });

  const events = await api.call('GET', `${BASE}/account/events/?actor=operator:${operator.id}`, {
    key,
  });
  const actor = { kind: 'operator', id: operator.id };
  t.match(itemsOf(events), [
    { type: 'AccountResumed', actor, reason: 'It was paid.' },
    { type: 'AccountSuspended', actor, reason: REASON, data: { reason: REASON } },
  ]);
  const stored = (await api.log()).filter(({ type }) => type === 'AccountSuspended');
  t.notMatch(JSON.stringify(stored), REASON, 'the log has it sealed');
});

void test('a stream of conversions ends with the suspension', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const { id, key } = await api.newAccount();
  const stream = await fetch(`${api.origin}${BASE}/conversions/stream/`, {
    headers: { 'X-API-Key': key },
  });
  const ended = stream.text();
  await operator.call('POST', `/accounts/${id}/suspend/`, { body: { reason: REASON } });
  t.match(await ended, /retry/);
});

void test('of two operators who are suspended at once, one stays', async (t) => {
  const api = await startApi(t);
  const pair = [await api.newAccount(), await api.newAccount()];
  const gone = await api.newAccount();
  for (const { id } of [...pair, gone]) await setOperator(api, id, true);
  // Who opened the third has left it to somebody else: nobody acts as an operator for it.
  const owner = await bearerOf(api, gone.email);
  await joined(api, owner, 'heir@example.com', 'owner');
  const self = `${BASE}/account/members/${founderOf(gone.id)}/`;
  t.equal((await api.call('DELETE', self, { headers: owner })).status, 204);
  const ask = async (id: string, what: string) => {
    const url = `http://localhost${BASE}/operator/accounts/${id}/${what}/`;
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ reason: REASON });
    return (await api.fetchAsOperator(url, { method: 'POST', headers, body })).status;
  };
  for (let round = 0; round < 5; round += 1) {
    const statuses = await Promise.all(pair.map(({ id }) => ask(id, 'suspend')));
    t.strictSame(
      statuses.toSorted((a, b) => a - b),
      [200, 403],
      `round ${round}`,
    );
    const suspended = pair[statuses.indexOf(200)]?.id ?? '';
    t.equal(await ask(suspended, 'suspend'), 200, 'another reason');
    t.equal(await ask(suspended, 'resume'), 200);
  }
});

void test('the last operator is neither revoked nor erased, also of two at once', async (t) => {
  const api = await startApi(t);
  const [one, other] = [await api.newAccount(), await api.newAccount()];
  const post = async (path: string, body?: object) => {
    const url = `http://localhost${BASE}/operator/${path}`;
    const headers = { 'Content-Type': 'application/json' };
    return await api.fetchAsOperator(url, {
      method: 'POST',
      ...(body && { headers, body: JSON.stringify(body) }),
    });
  };
  const make = (id: string, operator: boolean) => post(`accounts/${id}/operator/`, { operator });
  t.equal((await make(one.id, true)).status, 200);
  for (const answer of [await make(one.id, false), await post(`erasures/${one.id}/`)]) {
    t.match(
      [answer.status, await answer.json()],
      [403, { message: /last operator of the service/ }],
    );
  }
  t.equal((await make(other.id, true)).status, 200);
  for (let round = 0; round < 3; round += 1) {
    const [first, second] = await Promise.all([one, other].map(({ id }) => make(id, false)));
    t.strictSame(new Set([first?.status, second?.status]), new Set([200, 403]), `round ${round}`);
    const revoked = first?.status === 200 ? one : other;
    t.equal((await make(revoked.id, true)).status, 200, 'and it counts again');
  }
  const erased = await Promise.all([one, other].map(({ id }) => post(`erasures/${id}/`)));
  t.strictSame(new Set(erased.map(({ status }) => status)), new Set([200, 403]));
});

void test('nobody suspends themself or the last operator', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const body = { reason: REASON };
  const own = await operator.call('POST', `/accounts/${operator.id}/suspend/`, { body });
  t.strictSame(refusal(own), FORBIDDEN);
  t.match(own.body['message'], /cannot suspend their own account/);
  const bySocket = async (id: string) =>
    await api.fetchAsOperator(`http://localhost${BASE}/operator/accounts/${id}/suspend/`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  const last = await bySocket(operator.id);
  t.match([last.status, await last.json()], [403, { message: /last operator of the service/ }]);
  const other = await api.newAccount();
  await setOperator(api, other.id, true);
  t.equal((await bySocket(operator.id)).status, 200, 'another one can act');
  t.equal((await bySocket(other.id)).status, 403);
  for (const wrong of [{}, { reason: '' }, { reason: '  ' }, { reason: 'x'.repeat(501) }]) {
    const answer = await api.fetchAsOperator(
      `http://localhost${BASE}/operator/accounts/${other.id}/suspend/`,
      {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(wrong),
      },
    );
    t.match([answer.status, await answer.json()], [400, { details: { reason: [/./] } }]);
  }
});

void test('each act of an operator keeps its reason', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const { id, key } = await api.newAccount({ plan: 'free' });
  const at = `/accounts/${id}`;
  const post = (path: string, body: object) =>
    operator.call('POST', `${at}/${path}/`, { body: { ...body, reason: `why ${path}` } });
  const query = (path: string) => `${at}/${path}/?reason=${encodeURIComponent(`why not ${path}`)}`;
  await post('plan', { plan: 'pro' });
  await post('credits', { amount: 1 });
  await post('retention', { retention_seconds: 60 });
  await operator.call('DELETE', query('retention'));
  await post('hold', {});
  await operator.call('DELETE', query('hold'));
  await operator.call('POST', query('sessions/end'));
  const inUse = await createApiKey(api, id, 'leaked', api.context());
  const why = '?reason=It%20was%20published.';
  await operator.call('DELETE', `/api-keys/${inUse.id}/${why}`);
  const events = await api.call('GET', `${BASE}/account/events/?actor=operator:${operator.id}`, {
    key,
  });
  t.strictSame(
    itemsOf(events).map(({ type, reason }) => [type, reason]),
    [
      ['KeyRevoked', 'It was published.'],
      ['SessionsEnded', 'why not sessions/end'],
      ['HoldReleased', 'why not hold'],
      ['HoldPlaced', 'why hold'],
      ['RetentionChanged', 'why not retention'],
      ['RetentionChanged', 'why retention'],
      ['CreditGranted', 'why credits'],
      ['PlanChanged', 'why plan'],
    ],
  );
  for (const bad of ['reason=', 'reason=a&reason=b']) {
    const answer = await operator.call('DELETE', `${at}/hold/?${bad}`);
    t.equal(answer.status, 400, bad);
  }
});
