import { test } from 'tap';
import { createApiKey } from '../../src/accounts/api-keys.ts';
import { accountAggregate } from '../../src/domain/account.ts';
import { type Answer, BASE, PASSWORD, refusal, startApi } from '../support/api.ts';
import { newOperator, signedIn } from '../support/operator.ts';

const itemsOf = (answer: Answer) => JSON.parse(answer.text) as Record<string, unknown>[];
const UNTIL = '2100-06-30T00:00:00.000Z';

void test('an account says whether it is an operator', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const other = await api.newAccount();
  const isOperator = async (key: string) =>
    (await api.call('GET', `${BASE}/account/`, { key })).body['operator'];
  t.equal(await isOperator(operator.key), true);
  t.equal(await isOperator(other.key), false);
});

void test('accounts are listed, searched and shown', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const others = [await api.newAccount({ plan: 'starter', credits: 7 }), await api.newAccount()];
  const [first, newest] = others;
  const page = await operator.call('GET', '/accounts/?page_size=2');
  t.equal(page.headers.get('x-total-count'), '3');
  t.strictSame(
    itemsOf(page).map(({ id }) => id),
    [newest?.id, first?.id],
    'newest first',
  );
  t.strictSame(
    itemsOf(await operator.call('GET', '/accounts/?page_size=2&page=2')).map(({ id }) => id),
    [operator.id],
  );
  const found = await operator.call('GET', `/accounts/?email=${first?.email.toUpperCase()}`);
  t.match(itemsOf(found), [{ id: first?.id, email: first?.email, plan: 'starter', credits: 7 }]);
  t.equal(found.headers.get('x-total-count'), '1');
  t.strictSame(itemsOf(await operator.call('GET', '/accounts/?email=nobody@example.com')), []);
  t.strictSame(refusal(await operator.call('GET', '/accounts/?email=a&email=b')), {
    status: 400,
    error: 'validation_error',
    details: ['email'],
  });

  await signedIn(api, first?.email ?? '');
  const shown = await operator.call('GET', `/accounts/${first?.id}/`);
  t.match(shown.body, { id: first?.id, hold: null, api_keys: 1, sessions: 1, stored_bytes: 0 });
  for (const id of ['acct_00000000000000000000000000', 'nonsense']) {
    const missing = await operator.call('GET', `/accounts/${id}/`);
    t.strictSame(refusal(missing), { status: 404, error: 'not_found' });
  }
});

void test('an operator changes an account, whose history says who', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const { id, key, email } = await api.newAccount({ plan: 'free', credits: 1 });
  const at = `/accounts/${id}`;
  const plan = await operator.call('POST', `${at}/plan/`, { body: { plan: 'pro' } });
  t.match(plan.body, { id, plan: 'pro' });
  const retention = await operator.call('POST', `${at}/retention/`, {
    body: { retention_seconds: 60 },
  });
  t.match(retention.body, { id, retention_seconds: 60 });
  const credits = await operator.call('POST', `${at}/credits/`, { body: { amount: 9 } });
  t.match(credits.body, { credits: 10 });
  const once = { body: { amount: 5 }, headers: { 'Idempotency-Key': 'grant-1' } };
  const granted = await operator.call('POST', `${at}/credits/`, once);
  t.equal(granted.headers.get('idempotent-replayed'), null);
  t.match(granted.body, { credits: 15 });
  const again = await operator.call('POST', `${at}/credits/`, once);
  t.equal(again.headers.get('idempotent-replayed'), 'true');
  t.match(again.body, { credits: 15 });
  const ofAccount = { body: { html: '<p>x</p>' }, key, headers: once.headers };
  const converted = await api.call('POST', `${BASE}/pdf/`, ofAccount);
  t.match(converted, { status: 202, body: { id: /^conv_/ } }, 'keys of conversions are others');
  const tooLong = { html: '<p>x</p>', retention_seconds: 61 };
  t.strictSame(refusal(await api.call('POST', `${BASE}/pdf/`, { key, body: tooLong })), {
    status: 400,
    error: 'validation_error',
    details: ['retention_seconds'],
  });
  const requested = (await api.log()).filter(({ type }) => type === 'ConversionRequested').at(-1);
  t.match(JSON.parse(requested?.data ?? ''), { retentionSeconds: 60 });
  t.equal((await operator.call('DELETE', `${at}/retention/`)).status, 204);
  t.match((await operator.call('GET', `${at}/`)).body, { retention_seconds: null });
  const held = await operator.call('POST', `${at}/hold/`, { body: { until: UNTIL } });
  t.match(held.body, { hold: { until: UNTIL } });
  const endless = await operator.call('POST', `${at}/hold/`, { body: {} });
  t.match(endless.body, { hold: { until: null } });
  t.equal((await operator.call('DELETE', `${at}/hold/`)).status, 204);
  t.equal((await operator.call('DELETE', `${at}/hold/`)).status, 404, 'there is none');
  const headers = await signedIn(api, email);
  const ended = await operator.call('POST', `${at}/sessions/end/`, {});
  t.strictSame(ended.body, { sessions_ended: 1 });
  t.equal((await api.call('GET', `${BASE}/account/`, { headers })).status, 401);

  const events = await api.call('GET', `${BASE}/account/events/?actor=operator&page_size=100`, {
    key,
  });
  const byHand = itemsOf(events).filter(({ actor }) => 'id' in Object(actor));
  t.strictSame(
    byHand.map(({ type }) => type),
    [
      'SessionsEnded',
      'HoldReleased',
      'HoldPlaced',
      'HoldPlaced',
      'RetentionChanged',
      // The grant that was repeated only showed the account.
      'AccountInspected',
      'CreditGranted',
      'CreditGranted',
      'RetentionChanged',
      'PlanChanged',
    ],
  );
  for (const { actor, client_address: client, request_id: request } of byHand) {
    t.strictSame(actor, { kind: 'operator', id: operator.id });
    t.equal(client, undefined, 'the address of the operator is its own');
    t.type(request, 'string');
  }
  t.notMatch(events.text, operator.email);

  const wrong: [string, object, string[]][] = [
    ['plan', { plan: 'gold' }, ['plan']],
    ['credits', { amount: 0 }, ['amount']],
    ['credits', { amount: 1e12 + 1 }, ['amount']],
    ['retention', { retention_seconds: -1 }, ['retention_seconds']],
    ['retention', { retention_seconds: 604_801 }, ['retention_seconds']],
    ['hold', { until: '2001-01-01T00:00:00Z' }, ['until']],
    ['hold', { until: 'tomorrow' }, ['until']],
    ['hold', { until: '2097-02-30T00:00:00Z' }, ['until']],
    ['erase', {}, ['email', 'password']],
  ];
  for (const [what, body, details] of wrong) {
    const answer = await operator.call('POST', `${at}/${what}/`, { body });
    t.strictSame(refusal(answer), { status: 400, error: 'validation_error', details }, what);
  }
});

void test('an operator revokes one key of an account', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const { id, key } = await api.newAccount();
  const lost = await createApiKey(api, id, 'lost', api.context());
  const list = async (credential: string) =>
    (await api.call('GET', `${BASE}/api-keys/`, { key: credential })).status;
  t.equal(await list(lost.key), 200, 'the control');
  const at = `/api-keys/${lost.id}/`;
  t.equal((await operator.call('DELETE', `${at}?reason=`)).status, 400);
  t.equal(await list(lost.key), 200, 'nothing was done without a reason that can be read');
  t.equal((await operator.call('DELETE', at)).status, 204);
  t.equal(await list(lost.key), 401, 'at once');
  t.equal(await list(key), 200, 'the other key stays valid');
  const events = await api.call('GET', `${BASE}/account/events/?type=KeyRevoked`, { key });
  t.match(itemsOf(events), [
    {
      summary: 'The API key was revoked.',
      stream: `apikey-${lost.id}`,
      actor: { kind: 'operator', id: operator.id },
    },
  ]);
  t.equal(itemsOf(events)[0]?.['client_address'], undefined);
  const missing = { status: 404, error: 'not_found' };
  for (const path of [at, '/api-keys/key_00000000000000000000000000/', '/api-keys/x/']) {
    t.strictSame(refusal(await operator.call('DELETE', path)), missing, path);
  }
  const { keyId } = await api.newAccount();
  const headers = { 'X-API-Key': key };
  const byCustomer = await api.call('DELETE', `${BASE}/operator/api-keys/${keyId}/`, { headers });
  t.strictSame(refusal(byCustomer), { status: 403, error: 'forbidden' });
});

void test('an operator opens an account', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const open = (body: object) => operator.call('POST', '/accounts/', { body });
  const email = 'new@example.com';
  const opened = await open({ email, plan: 'starter', credits: 5, password: PASSWORD });
  t.equal(opened.status, 201);
  t.match(opened.body, { email, plan: 'starter', credits: 5 });
  t.notOk('password' in opened.body);
  await signedIn(api, email);
  const [first] = await api.store.readStream(`account-${String(opened.body['id'])}`);
  t.match(first?.metadata, { actor: { kind: 'operator', id: operator.id } });

  const usual = await open({ email: 'usual@example.com' });
  t.match(usual.body, { plan: 'free', credits: api.config.freeCredits });
  t.match(usual.body['password'], /^\w{24}$/);
  const bad: [object, string[]][] = [
    [{ email }, ['email']],
    [{ email: 'not one' }, ['email']],
    [{ email: 'short@example.com', password: 'short' }, ['password']],
  ];
  for (const [body, details] of bad) {
    t.strictSame(refusal(await open(body)), { status: 400, error: 'validation_error', details });
  }
});

void test('an erasure asks for the password of the operator and the address of the account', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const { id, email, key, keyId } = await api.newAccount();
  const erase = (body: object, of = id) =>
    operator.call('POST', `/accounts/${of}/erase/`, { body });
  const wrong = { status: 400, error: 'validation_error' };
  const other = await erase({ password: PASSWORD, email: operator.email });
  t.strictSame(refusal(other), { ...wrong, details: ['email'] });
  const guess = await erase({ password: 'a wrong password', email });
  t.strictSame(refusal(guess), { ...wrong, details: ['password'] });
  const refused = await api.call('GET', `${BASE}/account/events/?type=SignInRefused`, {
    key: operator.key,
  });
  t.match(itemsOf(refused), [{ actor: { kind: 'session' } }], 'a wrong password leaves its trail');

  await operator.call('POST', `/accounts/${id}/hold/`, { body: {} });
  const held = await erase({ password: PASSWORD, email });
  t.strictSame(refusal(held), { status: 403, error: 'forbidden' });
  t.match(held.body['message'], /under a hold/);
  await operator.call('DELETE', `/accounts/${id}/hold/`);

  const own = await erase({ password: PASSWORD, email: operator.email }, operator.id);
  t.strictSame(refusal(own), { status: 403, error: 'forbidden' });
  t.match(own.body['message'], /own account/);

  const erased = await erase({ password: PASSWORD, email: email.toUpperCase() });
  t.equal(erased.status, 202);
  t.equal((await api.actors.read(accountAggregate, id)).state.status, 'erased');
  t.equal((await api.call('GET', `${BASE}/account/`, { key })).status, 401, 'its keys have ended');
  const itsKey = await operator.call('DELETE', `/api-keys/${keyId}/`);
  t.strictSame(refusal(itsKey), { status: 404, error: 'not_found' });
  for (const [method, path, body] of [
    ['GET', '/', undefined],
    ['POST', '/erase/', { password: PASSWORD, email }],
    ['POST', '/plan/', { plan: 'pro' }],
    ['POST', '/sessions/end/', undefined],
    ['DELETE', '/hold/', undefined],
  ] as const) {
    const options = body === undefined ? {} : { body };
    const gone = await operator.call(method, `/accounts/${id}${path}`, options);
    t.strictSame(refusal(gone), { status: 404, error: 'not_found' }, `${method} ${path}`);
  }
});
