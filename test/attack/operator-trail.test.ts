/** Operators who read or change an account without a trace: each route and each command of theirs leaves an event. */
import { test } from 'tap';
import { ROUTES } from '../../src/http/routes.ts';
import { type Api, BASE, PASSWORD, startApi } from '../support/api.ts';
import { drives } from '../support/documented.ts';
import { newOperator, signedIn } from '../support/operator.ts';

const HOUR = 60 * 60 * 1000;
const UNTIL = '2100-06-30T00:00:00.000Z';

/** What each route of operators is asked with, in this order; undefined: it is about no account, or lists all of them. */
const OF_OPERATORS: Readonly<Record<string, object | undefined>> = {
  'GET /operator/status/': undefined,
  'GET /operator/activity/': undefined,
  'GET /operator/failures/': undefined,
  'GET /operator/failures/groups/': undefined,
  'GET /operator/projections/': undefined,
  'POST /operator/projections/rebuild/': undefined,
  'GET /operator/checkpoints/': undefined,
  'GET /operator/sign-ups/': undefined,
  'POST /operator/sign-ups/': undefined,
  'DELETE /operator/sign-ups/{id}/': undefined,
  'GET /operator/accounts/': undefined,
  'POST /operator/accounts/': undefined,
  'GET /operator/accounts/{id}/': {},
  'GET /operator/accounts/{id}/activity/': {},
  'POST /operator/accounts/{id}/plan/': { plan: 'pro' },
  'POST /operator/accounts/{id}/retention/': { retention_seconds: 60 },
  'DELETE /operator/accounts/{id}/retention/': {},
  'POST /operator/accounts/{id}/credits/': { amount: 5 },
  'POST /operator/accounts/{id}/hold/': { until: UNTIL },
  'DELETE /operator/accounts/{id}/hold/': {},
  'POST /operator/accounts/{id}/sessions/end/': {},
  'POST /operator/reset-links/': { email: 'EMAIL', reason: 'It was lost.' },
  // Of a person whose address nobody has proven: see `test/attack/unproven-addresses.test.ts`.
  'POST /operator/addresses/prove/': undefined,
  // Needs an authenticator: see `test/api/second-factors.test.ts`.
  'POST /operator/second-factors/remove/': undefined,
  'POST /operator/accounts/{id}/suspend/': { reason: 'It was not paid.' },
  'POST /operator/accounts/{id}/resume/': {},
  'DELETE /operator/api-keys/{id}/': {},
  'POST /operator/accounts/{id}/erase/': { email: 'EMAIL' },
};

/** Acts that ask for the operator's own password. */
const WITH_PASSWORD = /reset-links|erase/;

/** The number of events that an operator caused. */
async function byOperators(api: Api): Promise<number> {
  const all = await api.log();
  return all.filter(({ metadata }) => /"kind":"operator"/.test(metadata)).length;
}

void test('each route of operators that is about an account leaves an event', async (t) => {
  const api = await startApi(t);
  const routes = ROUTES.filter(({ auth }) => auth === 'operator').map(
    ({ method, path }) => `${method.toUpperCase()} ${path.slice(BASE.length)}`,
  );
  t.strictSame(Object.keys(OF_OPERATORS).toSorted(), routes.toSorted(), 'the table has all');
  const operator = await newOperator(api);
  const { id, email, keyId } = await api.newAccount({ plan: 'free' });
  for (const [name, body] of Object.entries(OF_OPERATORS)) {
    if (body === undefined) continue;
    const [method = '', template = ''] = name.split(' ');
    const path = template.replace('{id}', template.includes('api-keys') ? keyId : id);
    api.clock.time += HOUR;
    if (name.includes('sessions/end')) await signedIn(api, email);
    const headers = await signedIn(api, operator.email);
    const before = await byOperators(api);
    const proof = WITH_PASSWORD.test(name) ? { password: PASSWORD } : {};
    const sent = JSON.stringify({ ...body, ...proof }).replaceAll('EMAIL', email);
    const answer = await api.call(method, BASE + path, {
      headers,
      ...(method === 'POST' && { body: sent }),
    });
    t.ok(answer.status < 300, `${name}: ${answer.status} ${answer.text}`);
    t.ok((await byOperators(api)) > before, name);
  }
  const other = await api.newAccount({ plan: 'free' });
  const unchanged = { headers: await signedIn(api, operator.email), body: { plan: 'free' } };
  const before = await byOperators(api);
  await api.call('POST', `${BASE}/operator/accounts/${other.id}/plan/`, unchanged);
  t.equal(
    await byOperators(api),
    before + 1,
    'also where it changes nothing, but shows the account',
  );
});

void test('each reading of an account by the operator’s socket leaves an event', async (t) => {
  const api = await startApi(t);
  const { id, key, keyId } = await api.newAccount();
  const made = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>secret</p>' } });
  const conversion = String(made.body['id']);
  await api.complete(id, conversion, Buffer.from('%PDF-1.7\n%%EOF\n'));
  const ask = async (
    path: string,
    of: Readonly<Record<string, string>>,
    method = 'GET',
    body?: string,
  ) =>
    await api.fetchAsOperator(`http://localhost${BASE}${path}`, {
      method,
      headers: { ...of, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      ...(body !== undefined && { body }),
    });
  const looked = async (name: string, act: () => Promise<Response>) => {
    api.clock.time += HOUR;
    const before = await byOperators(api);
    const answer = await act();
    await answer.body?.cancel();
    t.ok((await byOperators(api)) > before, `${name}: ${answer.status}`);
    return answer.status;
  };
  const named = { 'Pressledger-Account': id };
  const reads = drives(api.document).filter(
    ({ method, template, secured }) =>
      method === 'GET' && secured && !/operator|stream/.test(template),
  );
  t.ok(reads.length > 30);
  for (const { template, path } of reads) {
    await looked(template, () => ask(path.slice(BASE.length), named));
  }
  await looked('POST /verify/', () => ask('/verify/', named, 'POST', '{}'));

  const { sha256 } = (await api.call('GET', `${BASE}/conversions/${conversion}/`, { key })).body;
  for (const part of ['', 'file/', 'manifest/']) {
    const path = `/conversions/${conversion}/${part}`;
    t.equal(await looked(`of any account: ${path}`, () => ask(path, {})), 200);
  }
  const verified = () => ask('/verify/', {}, 'POST', JSON.stringify({ sha256 }));
  t.equal(await looked('of any account: verify', verified), 200);
  t.equal(await looked('erasure', () => ask(`/operator/erasures/${id}/`, {})), 200);
  const again = await byOperators(api);
  await (await ask(`/operator/erasures/${id}/`, {})).body?.cancel();
  t.equal(await byOperators(api), again, 'once an hour');
  const revoked = () => ask(`/operator/api-keys/${keyId}/`, {}, 'DELETE');
  t.equal(await looked('revoke', revoked), 204);
});
