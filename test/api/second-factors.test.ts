/** What a sign-in takes beside the password, and what an owner can require. */
import { test } from 'tap';
import { lackingIn } from '../../src/accounts/second-factors.ts';
import { type Api, BASE, PASSWORD, refusal, startApi } from '../support/api.ts';
import { codeOf } from '../support/one-time-codes.ts';
import { bearerOf, joined } from '../support/every-people-answer.ts';

const signInWith = (api: Api, email: string, more: object) =>
  api.call('POST', `${BASE}/auth/jwt/create/`, { body: { email, password: PASSWORD, ...more } });

const POLICY = `${BASE}/account/sign-in-policy/`;

void test('what was proved is enough, or lacks what the account requires', (t) => {
  t.equal(lackingIn('none', ['password']), undefined);
  t.equal(lackingIn('second_factor', ['password']), 'second_factor');
  for (const method of ['otp', 'recovery_code', 'passkey', 'oidc'] as const) {
    t.equal(lackingIn('second_factor', ['password', method]), undefined, method);
  }
  t.equal(lackingIn('oidc', ['password', 'otp']), 'oidc');
  t.equal(lackingIn('oidc', ['oidc']), undefined);
  t.end();
});

void test('an owner changes the policy, and does not shut themselves out', async (t) => {
  const api = await startApi(t);
  const { email } = await api.newAccount();
  const headers = await bearerOf(api, email);
  const member = await joined(api, headers, 'm@example.com', 'member');
  t.match(await api.call('GET', POLICY, { headers: member.headers }), {
    body: { require: 'none' },
  });
  const change = (require: string, by = headers) =>
    api.call('PATCH', POLICY, { headers: by, body: { require } });
  t.match(await change('none'), { status: 200, body: { require: 'none' } });
  t.match(refusal(await change('none', member.headers)), { status: 403, details: ['roles'] });
  for (const [require, message] of [
    ['second_factor', /^require: Your own session lacks a second factor/],
    ['oidc', /^require: You have not signed in with the identity provider/],
  ] as const) {
    const answer = await change(require);
    t.match(refusal(answer), { status: 400, error: 'validation_error', details: ['require'] });
    t.match(answer.body['message'], message);
  }
  t.match(await api.call('GET', POLICY, { headers }), { body: { require: 'none' } });
});

const TOTP_PATH = `${BASE}/account/person/totp/`;
const RECOVERY = `${BASE}/account/person/recovery-codes/`;

void test('a person sets up an authenticator, and signs in with its codes from then on', async (t) => {
  const api = await startApi(t);
  const { id, email } = await api.newAccount();
  let headers = await bearerOf(api, email);
  t.match(await api.call('GET', TOTP_PATH, { headers }), {
    body: { since: null, recovery_codes: 0 },
  });
  const offer = await api.call('POST', TOTP_PATH, { headers });
  const { secret, uri, qr, setup } = offer.body;
  t.match(uri, new RegExp(`^otpauth://totp/Pressledger.*user.*secret=${String(secret)}`));
  t.match(qr, /^<svg /);
  const begun = { setup, password: PASSWORD, otp: codeOf(api, String(secret)) };
  const confirm = (body: object, by = headers) =>
    api.call('POST', `${TOTP_PATH}confirm/`, { headers: by, body });
  const wrong = (Number(begun.otp) + 1).toString().padStart(6, '0').slice(-6);
  t.match(refusal(await confirm({ ...begun, otp: wrong })), { status: 400, details: ['otp'] });
  t.match(refusal(await confirm({ ...begun, password: 'x' })), { details: ['password'] });
  t.match(refusal(await confirm({ ...begun, setup: 'x' })), { details: ['setup'] });
  const other = await bearerOf(api, email);
  t.match(refusal(await confirm(begun, other)), { details: ['setup'] }, 'of another session');
  t.match((await signInWith(api, email, {})).status, 200, 'nothing has changed yet');
  const confirmed = await confirm(begun);
  t.equal(confirmed.status, 200, confirmed.text);
  const codes = confirmed.body['recovery_codes'] as string[];
  t.equal(new Set(codes).size, 10);
  for (const code of codes) t.match(code, /^[0-9a-z]{4}(-[0-9a-z]{4}){3}$/);
  t.match(refusal(await confirm(begun)), { status: 400 }, 'there is one');
  t.match(refusal(await api.call('POST', TOTP_PATH, { headers })), { status: 400 });
  t.match(await api.call('GET', TOTP_PATH, { headers }), { body: { recovery_codes: 10 } });

  const needed = await signInWith(api, email, {});
  t.match(refusal(needed), { status: 401, error: 'unauthorized', details: ['otp'] });
  t.equal((await signInWith(api, email, { otp: begun.otp })).status, 401, 'used to set it up');
  api.clock.time += 30_000;
  const otp = codeOf(api, String(secret));
  const first = await signInWith(api, email, { otp: ` ${otp.slice(0, 3)} ${otp.slice(3)} ` });
  t.equal(first.status, 200, first.text);
  const again = await signInWith(api, email, { otp });
  t.match(refusal(again), { status: 401, details: ['otp'] }, 'a code works once');
  api.clock.time += 60_000;
  const early = codeOf(api, String(secret), 30_000);
  t.equal((await signInWith(api, email, { otp: early })).status, 200, 'a clock that is ahead');
  const late = codeOf(api, String(secret), -30_000);
  t.equal((await signInWith(api, email, { otp: late })).status, 401, 'one before that was used');
  api.clock.time += 120_000;
  t.equal(
    (await signInWith(api, email, { otp: codeOf(api, String(secret), -60_000) })).status,
    401,
  );
  t.equal((await signInWith(api, email, { otp: codeOf(api, String(secret), 60_000) })).status, 401);
  const slow = codeOf(api, String(secret), -30_000);
  t.equal((await signInWith(api, email, { otp: slow })).status, 200, 'a clock that lags');

  const [code = '', ...others] = codes;
  const typed = code.toUpperCase().replaceAll('-', ' ').replaceAll('0', 'O').replaceAll('1', 'l');
  t.equal((await signInWith(api, email, { otp: typed })).status, 200, 'a recovery code');
  t.equal((await signInWith(api, email, { otp: code })).status, 401, 'works once');
  t.match(await api.call('GET', TOTP_PATH, { headers }), { body: { recovery_codes: 9 } });
  const renew = (body: object) => api.call('POST', RECOVERY, { headers, body });
  t.match(refusal(await renew({})), { status: 400, details: ['password'] });
  t.match(refusal(await renew({ otp: code })), { status: 400, details: ['otp'] });
  const renewed = await renew({ otp: others[0] });
  t.equal((renewed.body['recovery_codes'] as string[]).length, 10);
  t.equal((await signInWith(api, email, { otp: others[1] })).status, 401, 'those from before');

  const sessions = await api.call('GET', `${BASE}/sessions/`, { headers });
  const methods = (sessions.body as unknown as { methods: string[] }[]).map((each) => each.methods);
  for (const each of [
    ['password', 'otp'],
    ['password', 'recovery_code'],
  ]) {
    t.ok(
      methods.some((some) => some.join() === each.join()),
      each.join(),
    );
  }
  // Ten wrong ones in a quarter of an hour are the most.
  api.clock.time += 16 * 60_000;
  headers = await bearerOf(api, email, { otp: codeOf(api, String(secret)) });
  const remove = (body: object) => api.call('POST', `${TOTP_PATH}remove/`, { headers, body });
  t.match(refusal(await remove({})), { status: 400, details: ['password'] });
  t.match(refusal(await remove({ otp: '000000' })), { status: 400, details: ['otp'] });
  t.equal((await remove({ password: PASSWORD })).status, 204);
  t.equal((await remove({ password: PASSWORD })).status, 404);
  t.equal((await renew({ password: PASSWORD })).status, 404);
  t.equal((await signInWith(api, email, {})).status, 200, 'the password is enough again');

  const events = await api.call('GET', `${BASE}/account/events/?page_size=100`, { headers });
  const summaries = (events.body as unknown as { summary: string }[]).map((each) => each.summary);
  for (const expected of [
    /set up a second factor/,
    /proved themselves with a code/,
    /used a recovery code in place of their second factor: 9 codes are left/,
    /made new recovery codes/,
    /The second factor of a person was removed/,
    /A wrong code of a second factor was refused/,
    /opened by signing in with the password and a code of an authenticator/,
  ]) {
    t.ok(
      summaries.some((summary) => expected.test(summary)),
      String(expected),
    );
  }
  const stored = JSON.stringify((await api.store.readAll()).map(({ data }) => data));
  for (const kept of [secret, ...codes]) t.notOk(stored.includes(String(kept)), 'sealed or hashed');
  t.ok(id);
});
