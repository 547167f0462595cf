/** Who comes by the operator's port and not by the operator's socket. */
import { test } from 'tap';
import { type Api, BASE, refusal, startApi } from '../support/api.ts';
import { newOperator } from '../support/operator.ts';

const ORIGIN = `http://localhost${BASE}`;

/** Headers that might be taken for the mark of the socket, or name the account of somebody else. */
const MARKS = (accountId: string): readonly Readonly<Record<string, string>>[] => [
  { 'Pressledger-Account': accountId },
  { 'Pressledger-Operator': '1', 'Pressledger-Account': accountId },
  { 'Pressledger-Account': accountId, 'X-Forwarded-For': '127.0.0.1', Host: 'localhost' },
  { 'Pressledger-Account': accountId, Forwarded: 'for=unix:;by=unix:' },
];

/** The acts that the socket alone has. */
const OF_THE_SOCKET = (id: string) =>
  [
    ['POST', `/operator/accounts/${id}/operator/`, { operator: true }],
    ['POST', '/operator/checkpoints/', {}],
    ['POST', '/operator/log-keys/', {}],
    ['GET', '/operator/log-keys/', undefined],
  ] as const;

const look = () => Promise.reject(new Error('the disk of the lists fails'));

const asOperator = (api: Api, method: string, path: string, body?: object, account?: string) =>
  api.fetchAsOperator(ORIGIN + path, {
    method,
    headers: {
      ...(body && { 'Content-Type': 'application/json' }),
      ...(account !== undefined && { 'Pressledger-Account': account }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });

void test('over TCP no header gives the rights of the socket', async (t) => {
  const api = await startApi(t, { env: { TRUST_PROXY: 'true' } });
  const { id, key, keyId } = await api.newAccount();
  const other = await api.newAccount();
  const operator = await newOperator(api);
  const before = (await api.log()).length;
  for (const headers of MARKS(id)) {
    const as = async (method: string, path: string, options: object = {}) =>
      refusal(await api.call(method, BASE + path, { headers, ...options }));
    const unknown = { status: 401, error: 'unauthorized' };
    t.strictSame(await as('GET', '/operator/accounts/'), unknown);
    t.strictSame(await as('GET', '/account/'), unknown);
    t.strictSame(await as('DELETE', `/api-keys/${keyId}/`), unknown);
    // The key of another account names the account whose things it sees.
    const account = await api.call('GET', `${BASE}/account/`, { headers, key: other.key });
    t.equal(account.body['id'], other.id);
    const revoked = await api.call('DELETE', `${BASE}/api-keys/${keyId}/`, {
      headers,
      key: other.key,
    });
    t.strictSame(refusal(revoked), { status: 404, error: 'not_found' });
  }
  for (const [method, path, body] of OF_THE_SOCKET(id)) {
    for (const headers of [...MARKS(id), operator.headers]) {
      const answer = await fetch(api.origin + BASE + path, {
        method,
        headers: { ...headers, 'Content-Type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      t.match(answer.status, /^40[45]$/, `${method} ${path} ${await answer.text()}`);
    }
  }
  const added = (await api.log()).slice(before).filter(({ type }) => type !== 'KeyUsed');
  t.strictSame(added, [], 'nothing was changed');
  t.equal((await api.call('GET', `${BASE}/account/`, { key })).status, 200);
});

void test('what comes by the socket acts as the command line', async (t) => {
  const api = await startApi(t, { env: { RATE_LIMIT_ANONYMOUS: '1', RATE_LIMIT_PRO: '1' } });
  const { id, keyId } = await api.newAccount();
  const other = await api.newAccount();
  const before = (await api.log()).length;
  for (const [method, path, body] of OF_THE_SOCKET(id)) {
    const answer = await asOperator(api, method, path, body);
    t.equal(answer.status, 200, `${method} ${path}: ${await answer.text()}`);
  }
  const granted = await asOperator(api, 'POST', `/operator/accounts/${id}/credits/`, { amount: 1 });
  t.equal(granted.status, 200);
  const made = await asOperator(api, 'POST', '/api-keys/', { name: 'second' }, id);
  t.equal(made.status, 201);
  t.equal(
    (await asOperator(api, 'DELETE', `/api-keys/${keyId}/`, undefined, other.id)).status,
    404,
  );
  t.equal(
    (await asOperator(api, 'DELETE', `/operator/api-keys/${keyId}/`)).status,
    204,
    'of any account',
  );
  // The log signs for itself.
  const acts = (await api.log())
    .slice(before)
    .map(({ metadata }) => JSON.parse(metadata) as Readonly<Record<string, unknown>>)
    .filter(({ actor }) => (actor as { kind: string }).kind !== 'service');
  t.equal(acts.length, 7, 'with a look at each account that was acted for');
  for (const { actor, requestId, client } of acts) {
    t.strictSame([actor, requestId, client], [{ kind: 'operator' }, undefined, undefined]);
  }

  const full = api.budgets.get('maxBodiesBytes');
  const strangers = full.take(full.limit, 'strangers');
  t.ok(strangers);
  const more = await asOperator(api, 'POST', `/operator/accounts/${id}/plan/`, { plan: 'free' });
  t.equal(more.status, 200, 'whatever strangers send');
  strangers?.();

  // What is of one account is not answered where none is named.
  t.equal((await asOperator(api, 'GET', '/account/')).status, 401);
  t.equal((await asOperator(api, 'POST', '/api-keys/', { name: 'whose?' })).status, 401);
  t.equal((await asOperator(api, 'GET', '/account/', undefined, 'acct_none')).status, 404);
  t.equal((await asOperator(api, 'GET', '/sessions/', undefined, id)).status, 403);
});

void test('an operator on the machine is told what is wrong, and nobody else is', async (t) => {
  const api = await startApi(t, {
    replace: ({ operations }) => ({
      operations: { ...operations, renderers: { look, close: () => {} } },
    }),
  });
  const operator = await newOperator(api);
  const there = await operator.call('GET', '/status/');
  t.strictSame(refusal(there), { status: 500, error: 'internal_error' });
  t.notMatch(there.text, /the disk of the lists/);
  const here = await asOperator(api, 'GET', '/operator/status/');
  t.equal(here.status, 500);
  t.match(await here.json(), { error: 'internal_error', message: 'the disk of the lists fails' });
});
