import { test } from 'tap';
import { type Answer, BASE, refusal, startApi } from '../support/api.ts';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const itemsOf = (answer: Answer) => JSON.parse(answer.text) as Record<string, unknown>[];

void test('the own account and its ledger', async (t) => {
  const api = await startApi(t);
  const account = await api.newAccount({ plan: 'starter', credits: 3 });
  const { key } = account;
  const create = async () => {
    const body = { html: '<p>x</p>' };
    return (await api.call('POST', `${BASE}/pdf/`, { key, body })).body['id'] as string;
  };
  const ids = [await create(), await create()];
  const own = await api.call('GET', `${BASE}/account/`, { key });
  t.equal(own.status, 200);
  t.strictSame(Object.keys(own.body), [
    'id',
    'email',
    'plan',
    'credits',
    'operator',
    'suspended',
    'must_change_password',
    'created_at',
    'rate_limit',
  ]);
  t.match(own.body, { id: account.id, email: account.email, plan: 'starter', credits: 1 });
  t.match(own.body['created_at'], ISO);

  const ledger = await api.call('GET', `${BASE}/account/ledger/?page_size=2`, { key });
  t.equal(ledger.headers.get('x-total-count'), '3');
  const [newest, older] = itemsOf(ledger);
  t.strictSame(Object.keys(newest ?? {}), [
    'id',
    'type',
    'amount',
    'balance',
    'conversion_id',
    'name',
    'created_at',
  ]);
  t.match(newest, { type: 'debit', amount: -1, balance: 1, conversion_id: ids[1] });
  t.match(older, { type: 'debit', amount: -1, balance: 2, conversion_id: ids[0] });
  const [grant] = itemsOf(
    await api.call('GET', `${BASE}/account/ledger/?page=3&page_size=1`, { key }),
  );
  t.strictSame(Object.keys(grant ?? {}), ['id', 'type', 'amount', 'balance', 'created_at']);
  t.match(grant, { type: 'grant', amount: 3, balance: 3 });
  const bad = await api.call('GET', `${BASE}/account/ledger/?page_size=x`, { key });
  t.strictSame(refusal(bad), { status: 400, error: 'validation_error', details: ['page_size'] });
});

void test('API keys: made, listed, used and revoked', async (t) => {
  const api = await startApi(t);
  const account = await api.newAccount();
  const { key } = account;
  const path = `${BASE}/api-keys/`;
  const created = await api.call('POST', path, { key, body: { name: '  my laptop ✨ ' } });
  t.equal(created.status, 201);
  t.strictSame(Object.keys(created.body), ['id', 'name', 'key', 'created_at']);
  t.match(created.body, {
    name: 'my laptop ✨',
    key: /^pk_live_[0-9A-Za-z]{24}$/,
    created_at: ISO,
  });
  const made = created.body as { id: string; key: string };
  t.equal((await api.call('GET', path, { key: made.key })).status, 200, 'it works at once');

  const list = await api.call('GET', path, { key });
  const [newest, first, ...more] = itemsOf(list);
  t.strictSame(more, []);
  t.strictSame(Object.keys(newest ?? {}), ['id', 'name', 'prefix', 'created_at', 'last_used_at']);
  t.match(newest, { id: made.id, name: 'my laptop ✨', prefix: made.key.slice(0, 12) });
  t.equal(first?.['id'], account.keyId);
  t.notMatch(list.text, made.key);

  const other = await api.newAccount();
  const missing = { status: 404, error: 'not_found' };
  const at = `${path}${made.id}/`;
  t.strictSame(refusal(await api.call('DELETE', at, { key: other.key })), missing, 'not theirs');
  t.strictSame(refusal(await api.call('DELETE', `${path}nonsense/`, { key })), missing);
  const revoked = await api.call('DELETE', at, { key });
  t.equal(revoked.status, 204);
  t.equal(revoked.text, '');
  t.equal((await api.call('GET', path, { key: made.key })).status, 401, 'the very next request');
  t.strictSame(refusal(await api.call('DELETE', at, { key })), missing, 'again');
  t.strictSame(
    itemsOf(await api.call('GET', path, { key })).map(({ id }) => id),
    [account.keyId],
  );

  await api.call('POST', path, { key, body: { name: 'unused' } });
  const [unused] = itemsOf(await api.call('GET', path, { key }));
  t.match(unused, { name: 'unused', last_used_at: null });
  const bad: [unknown, string[]][] = [
    [{}, ['name']],
    [{ name: 1 }, ['name']],
    [{ name: '' }, ['name']],
    [{ name: ' \t ' }, ['name']],
    [{ name: 'x'.repeat(101) }, ['name']],
    [{ name: 'a\0b' }, ['name']],
    [{ name: '\u001b]0;pwned\u0007\u001b[31mRED' }, ['name']],
    [{ name: 'ok\nkey_fake  pk_live_XXXX…  prod  never used' }, ['name']],
    [{ name: 'tab\there' }, ['name']],
    [{ name: '\u202egnp' }, ['name']],
    [{ name: '\u009b31m' }, ['name']],
    [{ name: 'two\u2028lines' }, ['name']],
    [{ name: '\ud800' }, ['name']],
    [{ name: 'x', scope: 'all' }, ['scope']],
  ];
  for (const [body, details] of bad) {
    const expected = { status: 400, error: 'validation_error', details };
    t.strictSame(refusal(await api.call('POST', path, { key, body })), expected);
  }
  t.equal((await api.call('POST', path, { key, body: { name: 'é'.repeat(100) } })).status, 201);
});
