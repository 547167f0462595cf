/** Plans of the setting PLANS, beside those that are always there. */
import { test } from 'tap';
import { BASE, refusal, startApi } from '../support/api.ts';
import { newOperator } from '../support/operator.ts';

const PLANS =
  '{"team": {"rate_limit": 300, "credits_monthly": 5000}, "pro": {"credits_monthly": 9}}';

void test('an account gets a plan of the settings, with its limit', async (t) => {
  const api = await startApi(t, { env: { PLANS } });
  const operator = await newOperator(api);
  const { id, key } = await api.newAccount({ plan: 'free' });
  const set = (plan: string) => operator.call('POST', `/accounts/${id}/plan/`, { body: { plan } });
  t.match(await set('team'), { status: 200, body: { plan: 'team', rate_limit: 300 } });
  const own = await api.call('GET', `${BASE}/account/`, { key });
  t.match(own.body, { plan: 'team', rate_limit: 300 });
  t.equal(own.headers.get('x-ratelimit-limit'), '300');
  const wrong = await set('gold');
  t.strictSame(refusal(wrong), { status: 400, error: 'validation_error', details: ['plan'] });
  t.match(wrong.body['message'], /one of free, starter, pro, team/);
  const opening = { email: 'new@example.com', plan: 'gold' };
  const refused = await operator.call('POST', '/accounts/', { body: opening });
  t.strictSame(refusal(refused), { status: 400, error: 'validation_error', details: ['plan'] });
  const status = await operator.call('GET', '/status/');
  t.match(status.body['plans'], [
    { name: 'free', rate_limit: 10, credits_monthly: null },
    { name: 'starter', rate_limit: 30, credits_monthly: null },
    { name: 'pro', credits_monthly: 9 },
    { name: 'team', rate_limit: 300, credits_monthly: 5000 },
  ]);
});

void test('a plan that the settings have no more stops nothing', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount({ plan: 'team' });
  const own = await api.call('GET', `${BASE}/account/`, { key });
  t.match(
    own,
    { status: 200, body: { plan: 'team', rate_limit: 10 } },
    'the limit is that of free',
  );
  const asked = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  t.equal(asked.status, 202);
});
