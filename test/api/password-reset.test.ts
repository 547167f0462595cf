/** An operator makes a link that sets a password once, and looks at what an account does. */
import { test } from 'tap';
import { accountAggregate } from '../../src/domain/account.ts';
import { type Answer, type Api, BASE, PASSWORD, refusal, startApi } from '../support/api.ts';
import { accept, bearerOf, invite, joined } from '../support/every-people-answer.ts';
import { newOperator, signedIn, tokensOf } from '../support/operator.ts';

const REASON = 'She asked for it by telephone.';
const NEW = 'staple battery horse';
const GONE = { status: 410, error: 'gone' };
const invalid = (...details: string[]) => ({ status: 400, error: 'validation_error', details });
const itemsOf = (answer: Answer) => JSON.parse(answer.text) as Record<string, unknown>[];
const reset = (api: Api, token: string, password = NEW) =>
  api.call('POST', `${BASE}/auth/password/reset/`, { body: { token, password } });

async function place(t: Parameters<typeof startApi>[0]) {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const account = await api.newAccount();
  const ask = (body: object = { reason: REASON, password: PASSWORD }, email = account.email) =>
    operator.call('POST', '/reset-links/', { body: { email, ...body } });
  const tokenOf = async () => String((await ask()).body['link']).split('#')[1] ?? '';
  return { api, operator, account, ask, tokenOf };
}

void test('a link sets a password, once, and ends all sessions', async (t) => {
  const { api, operator, account, ask } = await place(t);
  const headers = await signedIn(api, account.email);
  const made = await ask();
  const [page, token = ''] = String(made.body['link']).split('#');
  t.equal(page, `${api.origin}/reset-password`);
  t.equal(Date.parse(String(made.body['expires_at'])), api.clock.time + 24 * 60 * 60 * 1000);
  t.equal((await api.call('GET', `${BASE}/account/`, { headers })).status, 200, 'nothing ends yet');
  const short = await reset(api, token, 'too short');
  t.strictSame(refusal(short), { status: 400, error: 'validation_error', details: ['password'] });
  t.equal((await reset(api, token)).status, 204);
  t.equal((await api.call('GET', `${BASE}/account/`, { headers })).status, 401);
  t.ok(await tokensOf(api, account.email, NEW), 'the new password signs in');
  t.strictSame(refusal(await reset(api, token, 'another one of them')), GONE);
  t.equal((await api.call('GET', `${BASE}/account/`, { key: account.key })).status, 200);

  const events = await api.call('GET', `${BASE}/account/events/?page_size=100`, {
    key: account.key,
  });
  const all = itemsOf(events);
  t.match(
    all.find(({ type }) => type === 'PasswordResetOffered'),
    { actor: { kind: 'operator', id: operator.id }, reason: REASON },
  );
  t.match(
    all.find(({ type }) => type === 'PasswordChanged'),
    { actor: { kind: 'anonymous' }, data: { byLink: true }, client_address: '127.0.0.1' },
  );
  t.notMatch(events.text, 'tokenHash');
  const log = JSON.stringify(await api.log());
  t.notMatch(log, token, 'the log has its hash alone');
  t.notMatch(log, token.split('_').at(-1) ?? token);
});

void test('a link ends with the next one, with its time, and with a change of the password', async (t) => {
  const { api, tokenOf } = await place(t);
  const first = await tokenOf();
  const second = await tokenOf();
  t.strictSame(refusal(await reset(api, first)), GONE);
  api.clock.time += 24 * 60 * 60 * 1000;
  t.strictSame(refusal(await reset(api, second)), GONE, 'its 24 hours are over');
});

void test('a password that was changed otherwise ends the link', async (t) => {
  const { api, account, tokenOf } = await place(t);
  const token = await tokenOf();
  const headers = await signedIn(api, account.email);
  const body = { current_password: PASSWORD, new_password: 'a third password' };
  t.equal((await api.call('POST', `${BASE}/account/password/`, { headers, body })).status, 204);
  t.strictSame(refusal(await reset(api, token)), GONE);
});

void test('a wrong token tells nothing of accounts, and of two at once one sets the password', async (t) => {
  const { api, account, tokenOf } = await place(t);
  const token = await tokenOf();
  const known = account.id.replace('acct_', '');
  const wrong = [
    'x',
    `reset_${known}_${'a'.repeat(43)}`,
    `reset_${'0'.repeat(26)}_${'a'.repeat(43)}`,
    `${token} `,
  ];
  const answers = await Promise.all(wrong.map((each) => reset(api, each)));
  for (const each of answers) t.strictSame(refusal(each), GONE);
  t.equal(new Set(answers.map(({ text }) => text)).size, 1, 'one text for all');
  const both = await Promise.all([reset(api, token), reset(api, token, 'another one of them')]);
  t.strictSame(new Set(both.map(({ status }) => status)), new Set([204, 410]));
});

void test('making a link takes the reason and the own password', async (t) => {
  const { api, account, ask } = await place(t);
  t.strictSame(refusal(await ask({ password: PASSWORD })), invalid('reason'));
  t.strictSame(refusal(await ask({ reason: REASON })), invalid('password'));
  const wrong = await ask({ reason: REASON, password: 'not the password' });
  t.strictSame(refusal(wrong), invalid('password'));
  const { state } = await api.actors.read(accountAggregate, account.id);
  t.equal(state.reset, undefined, 'no link was made');
  const bySocket = await api.fetchAsOperator(`http://localhost${BASE}/operator/reset-links/`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: account.email, reason: REASON }),
  });
  t.equal(bySocket.status, 200, 'the command line has no password to give');
});

void test('a link and a set password are for every person, in the history of each account of theirs', async (t) => {
  const { api, operator, account, ask } = await place(t);
  const owner = await bearerOf(api, account.email);
  const bob = await joined(api, owner, 'bob@example.com', 'auditor');
  const other = await api.newAccount();
  const theirs = await bearerOf(api, other.email);
  const again = await invite(api, theirs, 'bob@example.com', 'member');
  t.equal((await accept(api, again)).status, 200);
  const token = String((await ask(undefined, 'Bob@example.com')).body['link']).split('#')[1] ?? '';
  const resets = async (key: string) =>
    itemsOf(await api.call('GET', `${BASE}/account/events/?type=MemberPasswordReset`, { key }));
  for (const key of [account.key, other.key]) {
    t.match(await resets(key), [
      {
        actor: { kind: 'operator', id: operator.id },
        reason: REASON,
        data: { personId: bob.id, expiresAt: Number },
      },
    ]);
  }
  t.equal((await api.call('GET', `${BASE}/account/`, bob)).status, 200, 'nothing ends yet');
  const both = await Promise.all([reset(api, token), reset(api, token, 'another one of them')]);
  t.strictSame(new Set(both.map(({ status }) => status)), new Set([204, 410]), 'once');
  t.equal((await api.call('GET', `${BASE}/account/`, bob)).status, 401, 'the sessions have ended');
  t.equal((await api.call('GET', `${BASE}/account/`, { headers: owner })).status, 200);
  t.match(
    itemsOf(await api.call('GET', `${BASE}/account/events/?type=PersonPasswordChanged`, account)),
    [{ actor: { kind: 'anonymous' }, data: { byLink: true }, client_address: '127.0.0.1' }],
  );

  // Removed from all accounts, they need the password to accept another invitation.
  for (const [headers, id] of [owner, theirs].map((each) => [each, bob.id] as const)) {
    const gone = await api.call('DELETE', `${BASE}/account/members/${id}/`, { headers });
    t.equal(gone.status, 204);
  }
  const last = String((await ask(undefined, 'bob@example.com')).body['link']).split('#')[1] ?? '';
  t.equal((await reset(api, last, 'the last of them all')).status, 204);
  api.clock.time += 15 * 60 * 1000;
  const later = await bearerOf(api, account.email);
  const back = await invite(api, later, 'bob@example.com', 'member');
  const named = { name: 'Bob', password: 'the last of them all' };
  t.equal((await accept(api, back, named)).status, 200);
  t.equal((await resets(account.key)).length, 1, 'they belonged to no account meanwhile');

  const set = await api.fetchAsOperator(`http://localhost${BASE}/operator/passwords/`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: 'bob@example.com', password: NEW, reason: REASON }),
  });
  t.strictSame(await set.json(), { id: bob.id });
  t.ok(await tokensOf(api, 'bob@example.com', NEW));
  t.match((await resets(account.key))[0], {
    actor: { kind: 'operator' },
    reason: REASON,
    data: { personId: bob.id, expiresAt: undefined },
  });
  const nobody = await api.call('POST', `${BASE}/operator/reset-links/`, {
    headers: await signedIn(api, operator.email),
    body: { email: 'nobody@example.com', reason: REASON, password: PASSWORD },
  });
  t.strictSame(refusal(nobody), { status: 404, error: 'not_found' });
});

void test('a look shows no name, and is in the history once an hour', async (t) => {
  const { api, operator, account } = await place(t);
  const { id, key } = account;
  const named = { html: '<p>one</p>', filename: 'secret-name.pdf' };
  const asked = await api.call('POST', `${BASE}/pdf/`, { key, body: named });
  await api.fail(id, String(asked.body['id']), 'a secret text');
  const look = (reason: string) =>
    operator.call('GET', `/accounts/${id}/activity/?reason=${encodeURIComponent(reason)}`);
  const seen = await look('why');
  t.match(seen.body, {
    keys: [{ id: account.keyId, prefix: key.slice(0, 12) }],
    days: [{ accepted: 1, failed: 1, failures: { timeout: 1 } }],
  });
  t.notMatch(seen.text, /secret|test"/, 'no name and no text');
  await look('again');
  const looks = async () =>
    itemsOf(await api.call('GET', `${BASE}/account/events/?type=AccountInspected`, { key })).map(
      ({ actor, reason }) => [actor, reason],
    );
  const by = { kind: 'operator', id: operator.id };
  t.strictSame(await looks(), [[by, 'why']]);
  await api.fetchAsOperator(`http://localhost${BASE}/operator/accounts/${id}/activity/`);
  t.strictSame(await looks(), [
    [{ kind: 'operator' }, undefined],
    [by, 'why'],
  ]);
  api.clock.time += 60 * 60 * 1000;
  const later = { Authorization: (await signedIn(api, operator.email)).Authorization };
  await api.call('GET', `${BASE}/operator/accounts/${id}/activity/`, { headers: later });
  t.equal((await looks()).length, 3);
});
