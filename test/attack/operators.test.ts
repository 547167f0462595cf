/** Somebody who acts as an operator and is none. */
import { test } from 'tap';
import { setOperator } from '../../src/use-cases/administration.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { BASE, PASSWORD, refusal, startApi } from '../support/api.ts';
import { newOperator, signedIn } from '../support/operator.ts';

const ROUTES_OF_OPERATORS = ROUTES.filter(({ path }) => path.startsWith(`${BASE}/operator/`));
const FORBIDDEN = { status: 403, error: 'forbidden' };

void test('nobody but an operator who is signed in gets through', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const customer = await api.newAccount();
  const headers = await signedIn(api, customer.email);
  const before = (await api.log()).length;
  t.ok(ROUTES_OF_OPERATORS.length > 8);
  for (const { method, path, auth } of ROUTES_OF_OPERATORS) {
    t.equal(auth, 'operator', path);
    const verb = method.toUpperCase();
    const of = path.replace('{id}', customer.id);
    const body = { plan: 'pro', amount: 5, email: customer.email, password: PASSWORD };
    const options = verb === 'POST' ? { body } : {};
    const asCustomer = await api.call(verb, of, { ...options, headers });
    t.strictSame(refusal(asCustomer), FORBIDDEN, `${verb} ${path} as a customer`);
    t.match(asCustomer.body['message'], /account operator EMAIL --grant/);
    const byKey = await api.call(verb, of, { ...options, key: operator.key });
    t.strictSame(refusal(byKey), FORBIDDEN, `${verb} ${path} with the key of an operator`);
    t.match(byKey.body['message'], /^An API key may not do this/);
    t.equal((await api.call(verb, of, options)).status, 401, `${verb} ${path} as nobody`);
  }
  const added = (await api.log()).slice(before).filter(({ type }) => type !== 'KeyUsed');
  t.strictSame(added, [], 'nothing was changed');
});

void test('an operator that was revoked is none with the next request', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const { id } = await api.newAccount();
  t.equal((await operator.call('GET', '/accounts/')).status, 200, 'the control');
  await setOperator(api, operator.id, false, api.context());
  t.strictSame(refusal(await operator.call('GET', '/accounts/')), FORBIDDEN);
  const grant = await operator.call('POST', `/accounts/${id}/credits/`, { body: { amount: 1 } });
  t.strictSame(refusal(grant), FORBIDDEN);
  await setOperator(api, operator.id, true, api.context());
  t.equal((await operator.call('GET', '/accounts/')).status, 200, 'and one again');
});

void test('a stolen session cannot guess the password by erasing', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const { id, email } = await api.newAccount();
  const statuses = [];
  for (let guess = 0; guess < 12; guess += 1) {
    const body = { email, password: `wrong password ${guess}` };
    statuses.push((await operator.call('POST', `/accounts/${id}/erase/`, { body })).status);
  }
  t.strictSame(statuses, [...Array.from({ length: 10 }, () => 400), 429, 429]);
});

void test('an operator stays signed in where another erases the same account', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const { id, email } = await api.newAccount();
  const body = { email, password: PASSWORD };
  // As if its end came into the log after each request has looked.
  await api.vault.erase(id);
  const requests = [
    ['GET', '', undefined],
    ['POST', 'plan/', { plan: 'pro' }],
    ['POST', 'credits/', { amount: 1 }],
    ['POST', 'hold/', {}],
    ['DELETE', 'hold/', undefined],
    ['POST', 'sessions/end/', undefined],
    ['POST', 'erase/', body],
  ] as const;
  for (const [method, path, sent] of requests) {
    const options = sent === undefined ? {} : { body: sent };
    const answer = await operator.call(method, `/accounts/${id}/${path}`, options);
    t.strictSame(refusal(answer), { status: 404, error: 'not_found' }, `${method} ${path}`);
  }
  t.equal((await operator.call('GET', '/accounts/')).status, 200);
});
