/** Passkeys of people: adding, using, renaming and removing them, and what the history and the members' list say. */
import { test } from 'tap';
import { founderOf } from '../../src/domain/members.ts';
import { BASE, PASSWORD, refusal, startApi } from '../support/api.ts';
import { addPasskey, PASSKEYS, signInWith } from '../support/authenticator.ts';
import { ownPage, SESSION, sessionCookie } from '../support/dashboard.ts';
import { bearerOf, joined } from '../support/every-people-answer.ts';

const bearer = (token: unknown) => ({ Authorization: `Bearer ${String(token)}` });

void test('a founder and an invited person sign in with a passkey alone, as with both factors', async (t) => {
  const api = await startApi(t);
  const { id, email } = await api.newAccount();
  const owner = await bearerOf(api, email);
  const bob = await joined(api, owner, 'bob@example.com', 'auditor');
  for (const [headers, person] of [
    [owner, founderOf(id)],
    [bob.headers, bob.id],
  ] as const) {
    const { authenticator } = await addPasskey(api, headers);
    const { status, body } = await signInWith(api, authenticator);
    t.equal(status, 200);
    const signedIn = bearer(body['access']);
    t.match((await api.call('GET', `${BASE}/account/person/`, { headers: signedIn })).body, {
      id: person,
    });
    const sessions = await api.call('GET', `${BASE}/sessions/`, { headers: signedIn });
    t.match(sessions.body, [{ current: true, methods: ['passkey'] }, {}]);
    // The session that has added it has proved it, too.
    const before = await api.call('GET', `${BASE}/sessions/`, { headers });
    const own = Object.values(before.body).find((each) => (each as { current: boolean }).current);
    t.match(own, { methods: ['password', 'passkey'] });
  }
});

void test('an account that requires a second factor takes a passkey, and lets people add one first', async (t) => {
  const api = await startApi(t);
  const { email } = await api.newAccount();
  const owner = await bearerOf(api, email);
  const bob = await joined(api, owner, 'bob@example.com', 'member');
  const { authenticator } = await addPasskey(api, owner);
  const body = { require: 'second_factor' };
  const policy = `${BASE}/account/sign-in-policy/`;
  t.equal((await api.call('PATCH', policy, { headers: owner, body })).status, 200);
  const conversions = `${BASE}/conversions/`;
  t.equal((await api.call('GET', conversions, { headers: bob.headers })).status, 403);
  const added = await addPasskey(api, bob.headers);
  t.equal((await api.call('GET', conversions, { headers: bob.headers })).status, 200, 'at once');
  for (const each of [authenticator, added.authenticator]) {
    const { body: tokens } = await signInWith(api, each);
    const headers = bearer(tokens['access']);
    t.equal((await api.call('GET', conversions, { headers })).status, 200);
  }
});

void test('a person has several passkeys with names, and sees when each was last used', async (t) => {
  const api = await startApi(t);
  const { email } = await api.newAccount();
  const headers = await bearerOf(api, email);
  t.strictSame((await api.call('GET', PASSKEYS, { headers })).body, []);
  const first = await addPasskey(api, headers, 'Laptop');
  const second = await addPasskey(api, headers, 'Key');
  api.clock.time += 1000;
  await signInWith(api, second.authenticator);
  const used = new Date(api.clock.time).toISOString();
  const list = async () => (await api.call('GET', PASSKEYS, { headers })).body;
  t.match(await list(), [
    { id: first.id, name: 'Laptop', last_used_at: null },
    { id: second.id, name: 'Key', last_used_at: used },
  ]);
  const path = `${PASSKEYS}${first.id}/`;
  const renamed = await api.call('PATCH', path, { headers, body: { name: 'Old laptop' } });
  t.match(renamed, { status: 200, body: { id: first.id, name: 'Old laptop' } });
  const nameless = await api.call('PATCH', path, { headers, body: { name: ' ' } });
  t.match(refusal(nameless), { status: 400, error: 'validation_error' });

  const remove = (body: object, id = first.id) =>
    api.call('POST', `${PASSKEYS}${id}/remove/`, { headers, body });
  t.match(await remove({}), { status: 400, body: { details: { password: [/Give your/] } } });
  t.match(await remove({ password: 'wrong' }), {
    status: 400,
    body: { details: { password: [] } },
  });
  const unknown = first.id.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  t.equal((await remove({ password: PASSWORD }, unknown)).status, 404);
  t.equal((await remove({ password: PASSWORD })).status, 204);
  t.match(await list(), [{ id: second.id }]);
  t.equal((await signInWith(api, first.authenticator)).status, 401, 'it signs in no more');

  const options = await api.call('POST', `${PASSKEYS}request/`, { headers });
  t.match(options.body, { allowCredentials: [{ id: second.authenticator.id }] });
  const passkey = second.authenticator.get(options.body);
  t.equal((await remove({ passkey }, second.id)).status, 204, 'confirmed with itself');
  t.strictSame(await list(), []);
});

void test('the browser is told which passkeys the person has already', async (t) => {
  const api = await startApi(t);
  const { email } = await api.newAccount();
  const headers = await bearerOf(api, email);
  const { authenticator } = await addPasskey(api, headers);
  const body = { password: PASSWORD };
  const creation = await api.call('POST', `${PASSKEYS}creation/`, { headers, body });
  t.match(creation.body, {
    rp: { id: 'localhost' },
    user: { name: email },
    excludeCredentials: [{ id: authenticator.id }],
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    attestation: 'none',
  });
  const passkey = authenticator.create(creation.body);
  const twice = await api.call('POST', PASSKEYS, { headers, body: { name: 'Again', passkey } });
  t.match(twice, { status: 400, body: { details: { passkey: [/yours already/] } } });
});

void test('people who belong to several accounts choose one with a passkey, as with a password', async (t) => {
  const api = await startApi(t);
  const office = await api.newAccount();
  const home = await api.newAccount();
  await joined(api, await bearerOf(api, office.email), home.email, 'member');
  const { authenticator } = await addPasskey(api, await bearerOf(api, home.email));
  for (const [asked, account] of [
    [undefined, home.id],
    [office.id, office.id],
  ] as const) {
    const { body } = await signInWith(
      api,
      authenticator,
      asked === undefined ? {} : { account: asked },
    );
    const headers = bearer(body['access']);
    t.match((await api.call('GET', `${BASE}/account/`, { headers })).body, { id: account });
  }
  const other = await api.newAccount();
  const refused = await signInWith(api, authenticator, { account: other.id });
  t.match(refusal(refused), { status: 404, error: 'not_found' });
});

void test('a passkey opens the dashboard for its own pages alone', async (t) => {
  const api = await startApi(t);
  const { email } = await api.newAccount();
  const { authenticator } = await addPasskey(api, await bearerOf(api, email));
  const path = `${SESSION}/passkey`;
  const answerTo = async (headers: Readonly<Record<string, string>>) => {
    const options = await api.call('POST', `${BASE}/auth/passkey/options/`, { body: {} });
    return await api.call('POST', path, {
      headers,
      body: { passkey: authenticator.get(options.body) },
    });
  };
  const opened = await answerTo(ownPage());
  t.equal(opened.status, 200);
  const cookie = sessionCookie(opened);
  t.equal((await api.call('GET', SESSION, { headers: ownPage(cookie) })).status, 200);
  t.equal((await answerTo({ 'Sec-Fetch-Site': 'cross-site' })).status, 403);
});

void test('the history says what was done with passkeys, and shows nothing that helps to copy one', async (t) => {
  const api = await startApi(t);
  const { email } = await api.newAccount();
  const headers = await bearerOf(api, email);
  const { id, authenticator } = await addPasskey(api, headers);
  await signInWith(api, authenticator);
  await signInWith(api, authenticator, { counter: 1 });
  await api.call('PATCH', `${PASSKEYS}${id}/`, { headers, body: { name: 'Old' } });
  const body = { password: PASSWORD };
  await api.call('POST', `${PASSKEYS}${id}/remove/`, { headers, body });
  const { text } = await api.call('GET', `${BASE}/account/events/?page_size=100`, { headers });
  for (const summary of [
    /A person added a passkey/,
    /A passkey was used/,
    /A passkey was refused: it has signed fewer times/,
    /A person renamed a passkey/,
    /A passkey was removed/,
    /opened by signing in with a passkey/,
  ]) {
    t.match(text, summary);
  }
  t.notMatch(text, authenticator.id);
  t.notMatch(text, /credential"|publicKey|challenge/);
  const log = JSON.stringify(await api.log(), (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  t.notMatch(log, authenticator.id, 'nor does the log');
  t.notMatch(log, 'Laptop');
});
