/** Somebody who acts as an operator and is none. */
import { test } from 'tap';
import { ROUTES } from '../../src/http/routes.ts';
import { founderOf } from '../../src/domain/members.ts';
import { BASE, type CallOptions, PASSWORD, refusal, startApi } from '../support/api.ts';
import { bearerOf, joined } from '../support/every-people-answer.ts';
import {
  firstAccount,
  newOperator,
  setOperator,
  setPasswordOf,
  signedIn,
  tokensOf,
} from '../support/operator.ts';

const CHANGED = 'quite another password';

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

void test('the first account is not an operator before its password is changed', async (t) => {
  const api = await startApi(t);
  const { id, email, key } = await firstAccount(api);
  const customer = await api.newAccount();
  const { access, refresh } = await tokensOf(api, email);
  const headers = { Authorization: `Bearer ${access}` };
  const account = async (as: CallOptions) => (await api.call('GET', `${BASE}/account/`, as)).body;
  const list = (as: CallOptions) => api.call('GET', `${BASE}/operator/accounts/`, as);
  const changeTo = (new_password: string) =>
    api.call('POST', `${BASE}/account/password/`, {
      headers,
      body: { current_password: PASSWORD, new_password },
    });
  t.match(await account({ headers }), { operator: true, must_change_password: true });
  const before = (await api.log()).length;
  for (const { method, path } of ROUTES_OF_OPERATORS) {
    const verb = method.toUpperCase();
    const of = path.replace('{id}', customer.id);
    const body = { plan: 'pro', amount: 5, email: customer.email, password: PASSWORD };
    const options = verb === 'POST' ? { body } : {};
    const answer = await api.call(verb, of, { ...options, headers });
    t.strictSame(refusal(answer), FORBIDDEN, `${verb} ${path}`);
    t.match(answer.body['message'], /Change it .*\/account\/password\/.*account password EMAIL/);
  }
  t.strictSame((await api.log()).slice(before), [], 'nothing was changed');
  const same = await changeTo(PASSWORD);
  t.strictSame(refusal(same), {
    status: 400,
    error: 'validation_error',
    details: ['new_password'],
  });
  t.equal((await list({ headers })).status, 403);

  const tries = await Promise.all([changeTo(CHANGED), changeTo(`${CHANGED} too`)]);
  const [changed, refused] = tries.toSorted((one, other) => one.status - other.status);
  t.equal(changed?.status, 204);
  t.ok((refused?.status ?? 0) >= 400, 'one of two at once');
  const made = (await api.log()).filter(({ type }) => type === 'PasswordChanged');
  t.equal(made.length, 1);
  const password = tries[0] === changed ? CHANGED : `${CHANGED} too`;
  t.equal((await list({ headers })).status, 401, 'with a token of the first password');
  const refreshed = await api.call('POST', `${BASE}/auth/jwt/refresh/`, { body: { refresh } });
  t.equal(refreshed.status, 401);
  const again = await signedIn(api, email, password);
  t.match(await account({ headers: again }), { operator: true, must_change_password: false });
  t.equal((await list({ headers: again })).status, 200);
  t.match((await list({ key })).body['message'], /^An API key may not do this/);
  await setOperator(api, id, false);
  t.strictSame(refusal(await list({ headers: again })), FORBIDDEN, 'it can be revoked');
});

void test('a password that the command line sets opens the routes too', async (t) => {
  const api = await startApi(t);
  const { id, email } = await firstAccount(api);
  await setPasswordOf(api, id, CHANGED);
  const headers = await signedIn(api, email, CHANGED);
  t.equal((await api.call('GET', `${BASE}/operator/status/`, { headers })).status, 200);
});

void test('an operator that was revoked is none with the next request', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const { id } = await api.newAccount();
  t.equal((await operator.call('GET', '/accounts/')).status, 200, 'the control');
  await setOperator(api, operator.id, false);
  t.strictSame(refusal(await operator.call('GET', '/accounts/')), FORBIDDEN);
  const grant = await operator.call('POST', `/accounts/${id}/credits/`, { body: { amount: 1 } });
  t.strictSame(refusal(grant), FORBIDDEN);
  await setOperator(api, operator.id, true);
  t.equal((await operator.call('GET', '/accounts/')).status, 200, 'and one again');
});

void test('nobody takes the last operator away by removing the founder of the account', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const eve = await joined(api, operator.headers, 'eve@example.com', 'owner');
  const founder = `${BASE}/account/members/${founderOf(operator.id)}/`;
  const remove = (headers: CallOptions['headers']) =>
    api.call('DELETE', founder, { ...(headers && { headers }) });
  const erase = () =>
    api.fetchAsOperator(
      `http://x${BASE}/operator/people/${encodeURIComponent(operator.email)}/erase/`,
      { method: 'POST' },
    );
  // Another account that the founder belongs to: nothing of an erasure that is refused has begun.
  const other = await api.newAccount();
  const otherOwner = await bearerOf(api, other.email);
  await joined(api, otherOwner, operator.email, 'member');
  const before = (await api.log()).length;
  const removed = await remove(eve.headers);
  t.strictSame(refusal(removed), FORBIDDEN, 'removed');
  t.match(removed.body['message'], /last operator of the service who can act/);
  t.strictSame(refusal(await remove(operator.headers)), FORBIDDEN, 'left');
  t.equal((await erase()).status, 403, 'erased');
  const added = (await api.log()).slice(before).map(({ type }) => type);
  t.strictSame(added, [], 'nothing was changed');
  const demoted = await api.call('PATCH', founder, {
    headers: eve.headers,
    body: { role: 'auditor' },
  });
  t.equal(demoted.status, 200);
  t.equal((await operator.call('GET', '/accounts/')).status, 200, 'as an auditor, too');

  const second = await newOperator(api);
  t.equal((await remove(eve.headers)).status, 204, 'another one can act');
  t.equal((await operator.call('GET', '/accounts/')).status, 401);
  const own = `${BASE}/account/members/${founderOf(second.id)}/`;
  await joined(api, second.headers, 'heir@example.com', 'owner');
  const leaving = await api.call('DELETE', own, { headers: second.headers });
  t.strictSame(refusal(leaving), FORBIDDEN, 'the last one now');
  await joined(api, eve.headers, operator.email, 'member');
  const left = await api.call('DELETE', own, { headers: second.headers });
  t.equal(left.status, 204, 'the first one is back');
  t.equal((await erase()).status, 403);
});

void test('of two founders who are removed from the accounts of operators at once, one stays', async (t) => {
  const api = await startApi(t);
  const operators = [await newOperator(api), await newOperator(api)];
  const owners = [];
  for (const [index, { id, email, headers }] of operators.entries()) {
    const eve = await joined(api, headers, `eve${index}@example.com`, 'owner');
    owners.push({ eve, email, founder: `${BASE}/account/members/${founderOf(id)}/` });
  }
  // An address gets two invitations in a quarter of an hour.
  for (let round = 0; round < 2; round += 1) {
    const statuses = await Promise.all(
      owners.map(async ({ eve, founder }) => {
        const { status } = await api.call('DELETE', founder, { headers: eve.headers });
        return status;
      }),
    );
    const sorted = statuses.toSorted((one, other) => one - other);
    t.strictSame(sorted, [204, 403], `round ${round}`);
    const gone = owners[statuses.indexOf(204)];
    if (gone !== undefined) await joined(api, gone.eve.headers, gone.email, 'owner');
  }
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
    // Not the details: the address is sealed with the key of the person, which this does not destroy.
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
