/** What a sign-in takes beside the password, and what an owner can require. */
import { test } from 'tap';
import { lackingIn } from '../../src/accounts/second-factors.ts';
import { BASE, refusal, startApi } from '../support/api.ts';
import { bearerOf, joined } from '../support/every-people-answer.ts';

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
