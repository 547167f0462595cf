/** CREDITS=off and RATE_LIMIT=off: a service that is used in-house counts neither. */
import { test } from 'tap';
import { refundsDueQueries } from '../../projections/refunds-due.ts';
import { readConfig } from '../../src/config/config.ts';
import { createLogger } from '../../src/observe/log.ts';
import { checksOfStart } from '../../src/service/checks.ts';
import { startApi } from '../support/api.ts';

const whole = (limit: string) => ({ 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': limit });

async function limits(env: Record<string, string>) {
  const checks = checksOfStart(readConfig(env), 'start', createLogger('silent'));
  return await checks.find(({ name }) => name === 'limits')?.look();
}

const HTML = { html: '<p>one</p>' };

void test('without credits nothing is taken, refused or refunded', async (t) => {
  const api = await startApi(t, { env: { CREDITS: 'off' } });
  const { id, key } = await api.newAccount({ credits: 0 });
  const own = await api.call('GET', '/api/v1/account/', { key });
  t.equal(own.body['credits'], null);
  const one = await api.call('POST', '/api/v1/pdf/', { key, body: HTML });
  t.equal(one.status, 202);
  const batch = { requests: [HTML, HTML] };
  t.equal((await api.call('POST', '/api/v1/batches/', { key, body: batch })).status, 202);
  const conversionId = String(one.body['id']);
  await api.fail(id, conversionId, 'It took too long.');
  const again = await api.call('POST', `/api/v1/conversions/${conversionId}/retry/`, { key });
  t.equal(again.status, 202);
  const ledger = await api.call('GET', '/api/v1/account/ledger/', { key });
  t.strictSame(ledger.body, [], 'the ledger has no entry');
  const { readModel, runner, store } = api;
  await runner.waitFor(await store.head());
  t.strictSame(readModel.query(refundsDueQueries).next(1), [], 'and no refund is due');
  const history = await api.call('GET', `/api/v1/conversions/${conversionId}/events/`, { key });
  t.match(history.text, /It costs no credit\./);
});

void test('without rate limits every request passes, and wrong passwords do not', async (t) => {
  const env = { RATE_LIMIT: 'off', RATE_LIMIT_PRO: '2', RATE_LIMIT_ANONYMOUS: '3' };
  const api = await startApi(t, { env });
  const { key, email } = await api.newAccount();
  for (let n = 0; n < 5; n += 1) {
    const own = await api.call('GET', '/api/v1/account/', { key });
    t.match(Object.fromEntries(own.headers), whole('2'));
    t.equal(own.status, 200);
    const reset = Number(own.headers.get('x-ratelimit-reset'));
    t.equal(reset % 60, 0);
    t.ok(reset * 1000 > api.clock.now());
    const stranger = await api.call('GET', '/api/v1/account/', {
      key: `pk_live_${'a'.repeat(24)}`,
    });
    t.match(Object.fromEntries(stranger.headers), whole('3'));
    t.equal(stranger.status, 401);
  }
  const body = { email, password: 'a wrong password' };
  const tries: number[] = [];
  for (let n = 0; n < 11; n += 1) {
    tries.push((await api.call('POST', '/api/v1/auth/jwt/create/', { body })).status);
  }
  t.strictSame(tries, [...Array.from({ length: 10 }, () => 401), 429]);
});

void test('the doctor says what is off, and nothing where nothing is', async (t) => {
  t.strictSame(await limits({ CREDITS: 'off' }), {
    verdict: 'ok',
    text: 'conversions cost nothing (CREDITS=off)',
  });
  t.match(await limits({ RATE_LIMIT: 'off', CREDITS: 'off' }), { text: /nothing.*, requests/ });
  t.equal(await limits({}), undefined);
});
