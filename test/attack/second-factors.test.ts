/** Somebody who knows the password, and not the second factor; and one whose session was stolen. */
import { test } from 'tap';
import { takeCode } from '../../src/accounts/authenticators.ts';
import { WRONG_CODES_A_DAY } from '../../src/domain/second-factor.ts';
import { WRONG_SIGN_INS } from '../../src/accounts/sign-in-tries.ts';
import { ActorSystem } from '../../src/actors/system.ts';
import { founderOf } from '../../src/domain/members.ts';
import { noSnapshots } from '../support/actors.ts';
import { type Answer, type Api, BASE, PASSWORD, refusal, startApi } from '../support/api.ts';
import { codeOf, setUpAuthenticator } from '../support/one-time-codes.ts';
import { ownPage, SESSION, sessionCookie } from '../support/dashboard.ts';
import { addPasskey, PASSKEYS, signInWith } from '../support/authenticator.ts';
import { accept, bearerOf, invite, joined } from '../support/every-people-answer.ts';
import { newOperator } from '../support/operator.ts';

const TOTP_PATH = `${BASE}/account/person/totp/`;
const NEEDED = { status: 401, error: 'unauthorized', details: ['otp'] };
const WRONG_PAIR = { status: 401, error: 'unauthorized' };
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const signIn = (api: Api, email: string, more: object = {}, from = '192.0.2.1') =>
  api.call('POST', `${BASE}/auth/jwt/create/`, {
    body: { email, password: PASSWORD, ...more },
    headers: { 'X-Forwarded-For': from },
  });

/** An account whose founder has a second factor, signed in without it before. */
async function protectedAccount(api: Api) {
  const account = await api.newAccount();
  const headers = await bearerOf(api, account.email);
  return { ...account, headers, ...(await setUpAuthenticator(api, headers)) };
}

const statuses = (answers: readonly Answer[]): readonly number[] =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b);

const open = (t: Parameters<typeof startApi>[0]): Promise<Api> =>
  startApi(t, { env: { TRUST_PROXY: 'true' } });

void test('a code that somebody read works once, however many send it at a time', async (t) => {
  const api = await open(t);
  const { email, secret, recovery } = await protectedAccount(api);
  api.clock.time += MINUTE_MS;
  for (const otp of [codeOf(api, secret), recovery[0] ?? '']) {
    const all = await Promise.all(
      [1, 2, 3, 4].map((n) => signIn(api, email, { otp }, `198.51.100.${n}`)),
    );
    t.strictSame(statuses(all), [200, 401, 401, 401], otp);
    for (const each of all) if (each.status === 401) t.strictSame(refusal(each), NEEDED);
  }
});

void test('two nodes take a code once', async (t) => {
  const api = await open(t);
  const { id: accountId, secret, recovery } = await protectedAccount(api);
  api.clock.time += MINUTE_MS;
  const holder = { accountId, personId: founderOf(accountId) };
  for (const [otp = '', method] of [
    [codeOf(api, secret), 'otp'],
    [recovery[0], 'recovery_code'],
  ]) {
    const nodes = [1, 2, 3].map(
      () => new ActorSystem({ store: api.store, snapshots: noSnapshots }),
    );
    const taken = await Promise.all(
      nodes.map((actors) => takeCode({ ...api, actors }, holder, otp, async () => api.context())),
    );
    t.strictSame(
      taken.filter((each) => each !== undefined),
      [method],
    );
  }
});

void test('codes are guessed no more often than passwords, also in parallel', async (t) => {
  const api = await open(t);
  const { email, secret } = await protectedAccount(api);
  api.clock.time += MINUTE_MS;
  const right = codeOf(api, secret);
  const guesses = Array.from({ length: 40 }, (_, n) => `${n}`.padStart(6, '0'));
  const answers = await Promise.all(
    guesses
      .filter((guess) => guess !== right)
      .map((otp, n) => signIn(api, email, { otp }, `198.51.${n}.1`)),
  );
  const judged = answers.filter(({ status }) => status === 401);
  t.equal(judged.length, WRONG_SIGN_INS.account);
  for (const answer of judged) t.strictSame(refusal(answer), NEEDED);
  t.equal((await signIn(api, email, { otp: right }, '198.51.99.1')).status, 429);
  t.equal((await signIn(api, email, {}, '198.51.99.1')).status, 429, 'nor is the password told');
  t.equal((await signIn(api, email, { otp: right }, '127.0.0.1')).status, 200, 'the owner goes on');
  const own = await bearerOf(api, email, { otp: '000000' });
  t.match(own.Authorization, /undefined/);
});

void test('who knows the password guesses few codes in a day, and the history says so', async (t) => {
  const api = await open(t);
  const { email, secret, recovery } = await protectedAccount(api);
  const midnight = (Math.floor(api.clock.time / DAY_MS) + 2) * DAY_MS;
  api.clock.time = midnight - DAY_MS + MINUTE_MS;
  const guess = async (from: string) => {
    let judged = 0;
    for (;;) {
      const wrong = codeOf(api, secret, 3_600_000);
      const answer = await signIn(api, email, { otp: wrong }, from);
      if (answer.status === 401) judged += 1;
      else if (String(answer.body['message']).includes('today')) return { judged, answer };
      else api.clock.time += WRONG_SIGN_INS.windowMs;
    }
  };
  const { judged, answer } = await guess('198.51.100.1');
  t.equal(judged, WRONG_CODES_A_DAY);
  t.match(refusal(answer), { status: 429, error: 'rate_limit_exceeded' });
  t.equal(answer.headers.get('retry-after'), String(Math.ceil((midnight - api.clock.time) / 1000)));
  const right = codeOf(api, secret);
  t.equal(
    (await signIn(api, email, { otp: right }, '198.51.200.1')).status,
    429,
    'nor a right one',
  );
  t.equal((await signIn(api, email, { otp: recovery[0] }, '198.51.201.1')).status, 200);
  t.equal((await signIn(api, email, { otp: right }, '127.0.0.1')).status, 200, 'the owner goes on');
  t.equal(
    (await guess('127.0.0.1')).judged,
    WRONG_CODES_A_DAY,
    'so do guesses from there, as often',
  );
  const headers = await bearerOf(api, email, { otp: recovery[1] });
  const removed = await api.call('POST', `${TOTP_PATH}remove/`, {
    headers,
    body: { otp: '000000' },
  });
  t.equal(removed.status, 429, 'a session gives no further guesses');
  const path = `${BASE}/account/events/?type=SecondFactorRefused`;
  const { body } = await api.call('GET', path, { headers });
  const [last] = body as unknown as object[];
  t.match(last, { summary: /No more codes are taken this day/, actor: { kind: 'anonymous' } });
  api.clock.time = midnight;
  t.equal((await signIn(api, email, { otp: codeOf(api, secret) })).status, 200, 'a new day');
});

void test('who guesses the password learns nothing by a code', async (t) => {
  const api = await open(t);
  const { email, secret, recovery } = await protectedAccount(api);
  api.clock.time += MINUTE_MS;
  const otp = codeOf(api, secret);
  const password = 'a wrong guess';
  for (const more of [{}, { otp }, { otp: '000000' }, { otp: recovery[0] }]) {
    t.strictSame(refusal(await signIn(api, email, { password, ...more })), WRONG_PAIR);
    const nobody = await signIn(api, 'nobody@example.com', more);
    t.strictSame(refusal(nobody), WRONG_PAIR);
  }
  t.equal((await signIn(api, email, { otp })).status, 200, 'a wrong password used no code up');
  t.equal((await signIn(api, email, { otp: recovery[0] })).status, 200);
  for (const wrong of [['0'], 123456, '', null, '0'.repeat(65)]) {
    const answer = await signIn(api, email, { otp: wrong });
    if (wrong === null) t.strictSame(refusal(answer), NEEDED);
    else t.match(refusal(answer), { status: 400, details: ['otp'] }, String(wrong));
  }
});

void test('nothing is open between the two steps: no cookie, no session to be given to another', async (t) => {
  const api = await open(t);
  const { email, secret } = await protectedAccount(api);
  api.clock.time += MINUTE_MS;
  const attacker = await api.newAccount();
  const body = { email: attacker.email, password: PASSWORD };
  const planted = await api.call('POST', SESSION, { headers: ownPage(), body });
  const first = await api.call('POST', SESSION, {
    headers: ownPage(sessionCookie(planted)),
    body: { email, password: PASSWORD },
  });
  t.strictSame(refusal(first), NEEDED);
  t.equal(first.headers.get('set-cookie'), null);
  t.notOk('access' in first.body);
  const second = await api.call('POST', SESSION, {
    headers: ownPage(sessionCookie(planted)),
    body: { email, password: PASSWORD, otp: codeOf(api, secret) },
  });
  t.equal(second.status, 200);
  t.not(sessionCookie(second), sessionCookie(planted), 'another session than the planted one');
  const still = await api.call('GET', SESSION, { headers: ownPage(sessionCookie(planted)) });
  t.equal(still.status, 200, 'that is of the attacker still');
  const events = (await api.store.readAll()).filter(({ type }) => type === 'SessionOpened');
  t.equal(events.length, 3, 'the refused step opened none');
});

void test('a stolen session removes no second factor, and sets none up', async (t) => {
  const api = await open(t);
  const { email, headers } = await protectedAccount(api);
  const ask = (path: string, body: object, by = headers) =>
    api.call('POST', path, { headers: by, body });
  const recovery = `${BASE}/account/person/recovery-codes/`;
  for (const path of [`${TOTP_PATH}remove/`, recovery]) {
    t.match(refusal(await ask(path, {})), { status: 400, details: ['password'] });
    t.match(refusal(await ask(path, { otp: '000000' })), { status: 400, details: ['otp'] });
    t.match(refusal(await ask(path, { password: 'x' })), { status: 400, details: ['password'] });
  }
  const { key } = await api.newAccount();
  for (const path of [TOTP_PATH, `${TOTP_PATH}confirm/`, `${TOTP_PATH}remove/`, recovery]) {
    t.match(await api.call('POST', path, { key, body: {} }), { status: 403 }, 'nor does a key');
  }
  let tries = 4;
  while ((await ask(recovery, { otp: '000000' })).status === 400) tries += 1;
  t.equal(tries, WRONG_SIGN_INS.knownClient, 'its guesses count as those at sign-in');
  t.equal((await signIn(api, email, {}, '127.0.0.1')).status, 429);

  const victim = await api.newAccount();
  const stolen = await bearerOf(api, victim.email);
  const offer = await api.call('POST', TOTP_PATH, { headers: stolen });
  const { setup, secret } = offer.body;
  const proof = { setup, otp: codeOf(api, String(secret)) };
  const confirm = `${TOTP_PATH}confirm/`;
  t.match(refusal(await ask(confirm, proof, stolen)), { details: ['password'] });
  const wrong = await ask(confirm, { ...proof, password: 'x' }, stolen);
  t.match(refusal(wrong), { status: 400, details: ['password'] });
  const other = await api.newAccount();
  const others = await bearerOf(api, other.email);
  const foreign = await ask(confirm, { ...proof, password: PASSWORD }, others);
  t.match(refusal(foreign), { status: 400, details: ['setup'] }, 'the set-up of another person');
  // A text that is sealed with the same key, and is not a set-up.
  const named = await api.call('PATCH', `${BASE}/account/person/`, {
    headers: others,
    body: { name: JSON.stringify({ sessionId: 'x', secret, until: 1e15 }) },
  });
  t.equal(named.status, 200);
  const event = (await api.store.readAll()).findLast(({ type }) => type === 'PersonNamed');
  const { name } = { ...event?.data } as { readonly name: string };
  const posed = await ask(confirm, { setup: name, otp: proof.otp, password: PASSWORD }, others);
  t.match(refusal(posed), { status: 400, details: ['setup'] });
});

void test('an owner requires a second factor: sessions that lack it set one up, and do nothing else', async (t) => {
  const api = await open(t);
  const owner = await protectedAccount(api);
  const { headers } = owner;
  const member = await joined(api, headers, 'm@example.com', 'member');
  const made = await api.call('POST', `${BASE}/api-keys/`, {
    headers: member.headers,
    body: { name: 'x' },
  });
  const key = String(made.body['key']);
  const operator = await newOperator(api);
  const get = (path: string, by: Readonly<Record<string, string>>) =>
    api.call('GET', BASE + path, { headers: by });
  const require = (what: string, by = headers) =>
    api.call('PATCH', `${BASE}/account/sign-in-policy/`, { headers: by, body: { require: what } });
  t.equal((await get('/conversions/', member.headers)).status, 200);
  t.equal((await require('second_factor')).status, 200);
  const lacking = { status: 403, error: 'forbidden', details: ['second_factor'] };
  // At once, and whatever is asked for; the role is looked at later.
  for (const path of ['/account/', '/conversions/', '/account/members/']) {
    t.strictSame(refusal(await get(path, member.headers)), lacking, path);
  }
  t.strictSame(refusal(await require('none', member.headers)), lacking);
  t.match(
    (await get('/account/', member.headers)).body['message'],
    /Set one up on the page Account/,
  );
  for (const path of ['/account/person/', '/account/person/totp/', '/account/sign-in-policy/']) {
    t.equal((await get(path, member.headers)).status, 200, path);
  }
  t.equal((await get('/account/person/', member.headers)).body['lacks'], 'second_factor');
  t.equal((await get('/account/person/', headers)).body['lacks'], 'none');
  t.equal((await api.call('GET', `${BASE}/conversions/`, { key })).status, 200, 'keys go on');
  t.equal((await get('/conversions/', headers)).status, 200, 'and so does who has one');
  t.equal((await operator.call('GET', '/status/')).status, 200, 'as do other accounts');

  const again = await bearerOf(api, 'm@example.com', { account: owner.id });
  t.strictSame(refusal(await get('/account/', again)), lacking, 'signing in is for setting one up');
  const { secret } = await setUpAuthenticator(api, again);
  t.equal((await get('/account/', again)).status, 200, 'this session has proved one');
  t.strictSame(refusal(await get('/account/', member.headers)), lacking, 'the other has not');
  api.clock.time += MINUTE_MS;
  const otp = codeOf(api, secret);
  const strong = await bearerOf(api, 'm@example.com', { account: owner.id, otp });
  t.equal((await get('/account/', strong)).status, 200);

  // The role changes while the policy does: each request sees both as they are.
  const change = (role: string) =>
    api.call('PATCH', `${BASE}/account/members/${member.id}/`, { headers, body: { role } });
  await Promise.all([change('owner'), require('second_factor', strong)]);
  t.strictSame(refusal(await require('none', member.headers)), lacking, 'an owner, and lacking');
  await change('auditor');
  t.match(refusal(await require('none', strong)), { status: 403, details: ['roles'] });
  t.equal((await require('none')).status, 200);
  t.equal((await get('/account/', member.headers)).status, 200, 'as soon as it is over');
  const list = (await get('/account/members/', headers)).body as unknown as object[];
  t.match(list, [{ second_factor: true }, { second_factor: true }]);
  const seen = (await get('/account/members/', strong)).body as unknown as object[];
  for (const each of seen) t.notOk('second_factor' in each, 'is for owners');
});

void test('the password alone changes no second factor, in no account of the person, where one requires more', async (t) => {
  const api = await open(t);
  const owner = await protectedAccount(api);
  const policy = `${BASE}/account/sign-in-policy/`;
  const post = (path: string, headers: Readonly<Record<string, string>>, body: object = {}) =>
    api.call('POST', path, { headers, body: { password: PASSWORD, ...body } });
  const lacking = { status: 403, error: 'forbidden', details: ['second_factor'] };
  /** Somebody with an account of their own, which requires nothing, who is in that of the owner, too. */
  const person = async () => {
    const { email } = await api.newAccount();
    await accept(api, await invite(api, owner.headers, email, 'member'));
    const there = await bearerOf(api, email, { account: owner.id });
    return { email, own: await bearerOf(api, email), there };
  };
  const ann = await person();
  const { id, authenticator } = await addPasskey(api, await bearerOf(api, ann.email));
  const bob = await person();
  await setUpAuthenticator(api, await bearerOf(api, bob.email));
  const cid = await person();
  const required = { headers: owner.headers, body: { require: 'second_factor' } };
  t.equal((await api.call('PATCH', policy, required)).status, 200);
  const byPassword = [ann.own, ann.there, await bearerOf(api, ann.email)];
  for (const headers of byPassword) {
    t.strictSame(refusal(await api.call('POST', TOTP_PATH, { headers })), lacking);
    for (const path of [`${TOTP_PATH}confirm/`, `${PASSKEYS}creation/`, PASSKEYS]) {
      t.strictSame(refusal(await post(path, headers)), lacking, path);
    }
    t.strictSame(
      refusal(await post(`${PASSKEYS}${id}/remove/`, headers)),
      lacking,
      'nor removes it',
    );
  }
  for (const headers of [bob.own, bob.there]) {
    for (const path of [`${TOTP_PATH}remove/`, `${BASE}/account/person/recovery-codes/`]) {
      t.strictSame(refusal(await post(path, headers)), lacking, path);
    }
  }
  await setUpAuthenticator(api, cid.own);
  t.pass('who has none sets one up');
  const { access } = (await signInWith(api, authenticator)).body;
  await setUpAuthenticator(api, { Authorization: `Bearer ${String(access)}` });
  t.pass('who has proved the passkey sets up an authenticator');
});

void test('an operator removes a lost second factor, with the own one, and is seen', async (t) => {
  const api = await open(t);
  const customer = await protectedAccount(api);
  const operator = await newOperator(api);
  const { secret } = await setUpAuthenticator(api, operator.headers);
  const { email } = customer;
  const reason = 'Her telephone broke.';
  const remove = (more: object) =>
    operator.call('POST', '/second-factors/remove/', { body: { email, reason, ...more } });
  t.match(refusal(await remove({})), { status: 400, details: ['password'] });
  t.match(refusal(await remove({ password: PASSWORD })), { status: 400, details: ['otp'] });
  const wrong = await remove({ password: PASSWORD, otp: '000000' });
  t.match(refusal(wrong), { status: 400, details: ['otp'] });
  t.match(refusal(await remove({ reason: ' ', password: PASSWORD })), { details: ['reason'] });
  api.clock.time += MINUTE_MS;
  const proof = { password: PASSWORD, otp: codeOf(api, secret) };
  t.match(await remove(proof), { status: 200, body: { second_factor: false } });
  t.match(refusal(await remove(proof)), { status: 400, details: ['otp'] }, 'used');
  const headers = await bearerOf(api, email);
  const { body } = await api.call('GET', `${BASE}/account/events/?type=MemberSecondFactorRemoved`, {
    headers,
  });
  t.match(body, [{ actor: { kind: 'operator', id: operator.id }, reason }]);
  const erase = (more: object) =>
    operator.call('POST', `/accounts/${customer.id}/erase/`, {
      body: { email, password: PASSWORD, ...more },
    });
  t.match(refusal(await erase({})), { status: 400, details: ['otp'] }, 'erasing asks for it too');
  api.clock.time += MINUTE_MS;
  t.equal((await erase({ otp: codeOf(api, secret) })).status, 202);
});

void test('an erased person leaves no secret that could be read', async (t) => {
  const api = await open(t);
  const owner = await protectedAccount(api);
  const member = await joined(api, owner.headers, 'm@example.com', 'member');
  await setUpAuthenticator(api, member.headers);
  const event = (await api.store.readAll()).findLast(({ type }) => type === 'SecondFactorAdded');
  const { secret } = { ...event?.data } as { readonly secret: string };
  t.match(await api.vault.unsealExactly(member.id, secret), /^[A-Z2-7]{32}$/);
  await api.vault.erase(member.id);
  await t.rejects(api.vault.unsealExactly(member.id, secret));
});
