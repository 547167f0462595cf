/** Signing in with a real identity provider: who is matched, who may come, and as what. */
import { type Test, test } from 'tap';
import { type Api, BASE, PASSWORD, startApi } from '../support/api.ts';
import { offeredEmail } from '../../src/accounts/email-change.ts';
import { accept, bearerOf, invite, joined } from '../support/every-people-answer.ts';
import { openIdentityProvider } from '../../src/oidc/provider.ts';
import { codeOf } from '../support/one-time-codes.ts';
import { CLIENT, startProvider, TestBrowser, type TestProvider } from '../support/oidc-provider.ts';

async function open(t: Test, env: Readonly<Record<string, string>> = {}) {
  const provider = await startProvider(t);
  const api = await startApi(t, { env: { ...provider.env, ...env } });
  provider.serve(api.origin);
  return { api, provider };
}

/** Signs the subject in with a browser of their own. */
async function signInAs(
  { api, provider }: Awaited<ReturnType<typeof open>>,
  subject: string,
  search = '',
) {
  provider.atBrowser = subject;
  const browser = new TestBrowser(api);
  return { browser, end: await browser.signIn(search) };
}

async function personOf(api: Api, browser: TestBrowser) {
  const { headers } = await browser.session();
  const { body } = await api.call('GET', `${BASE}/account/person/`, { headers });
  return { headers, person: body };
}

void test('a founder is matched by the verified address once, and by issuer and subject from then on', async (t) => {
  const all = await open(t);
  const { api, provider } = all;
  const ada = await api.newAccount();
  provider.people.set('ada', { email: ada.email, email_verified: true, name: 'Ada' });
  const first = await signInAs(all, 'ada', '?from=%2Fconversions%3Fq%3Dinvoice');
  t.equal(first.end, '/conversions?q=invoice', 'the page that they came from');
  const { headers, person } = await personOf(api, first.browser);
  t.match(person, { email: ada.email, role: 'owner' });
  const sessions = await api.call('GET', `${BASE}/sessions/`, { headers });
  t.match(sessions.body, [{ kind: 'dashboard', methods: ['oidc'] }]);

  provider.people.set('ada', { email: 'lovelace@example.com', email_verified: true });
  const renamed = await signInAs(all, 'ada');
  t.match((await personOf(api, renamed.browser)).person, { id: person['id'], email: ada.email });
  const history = await api.call('GET', `${BASE}/account/events/?type=IdentityLinked`, { headers });
  t.match(history.body, [
    { summary: `A person signs in with ${provider.env['OIDC_ISSUER']} from now on.` },
  ]);
  t.notMatch(history.text, 'identity":"', 'the hash is of no use to anybody');
});

void test('an address that is not verified matches nobody, and a stranger is told so', async (t) => {
  const all = await open(t);
  const { email } = await all.api.newAccount();
  for (const claims of [
    {},
    { email_verified: false },
    { email_verified: 'true' },
    { email_verified: 1 },
  ]) {
    all.provider.people.set('eve', { email, ...claims });
    t.equal(
      (await signInAs(all, 'eve')).end,
      '/sign-in?provider=unverified',
      JSON.stringify(claims),
    );
  }
  all.provider.people.set('eve', { email: 'eve@example.com', email_verified: true });
  t.equal((await signInAs(all, 'eve')).end, '/sign-in?provider=unknown');
  t.notOk((await all.api.log()).some(({ type }) => /Identity|PersonRegistered/.test(type)));
});

void test('whom the service does not let in is recorded: with the account of the person, else with the service', async (t) => {
  const all = await open(t, { OIDC_DOMAINS: 'example.com' });
  const { api, provider } = all;
  const { id, email } = await api.newAccount();
  const owner = { headers: await bearerOf(api, email) };
  provider.people.set('ada', { email, email_verified: true });
  t.equal((await signInAs(all, 'ada')).end, '/');
  const moved = { email: 'ada@elsewhere.example', email_verified: true };
  provider.people.set('ada', moved);
  t.equal((await signInAs(all, 'ada')).end, '/sign-in?provider=not-admitted');
  provider.people.set('eve', { email, email_verified: true });
  t.equal((await signInAs(all, 'eve')).end, '/sign-in?provider=other-person');
  provider.people.set('eve', { email });
  t.equal((await signInAs(all, 'eve')).end, '/sign-in?provider=unverified');
  provider.people.set('eve', { ...moved, email: 'eve@elsewhere.example' });
  t.equal((await signInAs(all, 'eve')).end, '/sign-in?provider=not-admitted');
  const refused = await api.call('GET', `${BASE}/account/events/?type=SignInRefused`, owner);
  t.match(refused.body, [
    {
      summary: /: the person is another one at the provider/,
      data: { byProvider: 'other-person' },
    },
    { summary: /: the settings do not let/, client_address: '127.0.0.1' },
  ]);
  t.equal(refused.headers.get('x-total-count'), '2');
  const unknown = (await api.log()).filter(({ type }) => type === 'UnknownSignInRefused');
  t.match(
    unknown.map(({ data }) => JSON.parse(data)),
    [{ byProvider: 'unverified' }, { byProvider: 'not-admitted' }],
  );
  const removed = await joined(api, owner.headers, 'bob@example.com', 'member');
  const member = `${BASE}/account/members/${removed.id}/`;
  t.equal((await api.call('DELETE', member, owner)).status, 204);
  provider.people.set('bob', { email: 'bob@example.com', email_verified: true });
  t.equal((await signInAs(all, 'bob')).end, '/sign-in?provider=no-account');
  const last = (await api.log()).findLast(({ type }) => type.endsWith('SignInRefused'));
  const left = { accountId: id, byProvider: 'no-account' };
  t.match(JSON.parse(last?.data ?? ''), left, 'the account that they left');
  const stored = JSON.stringify((await api.log()).filter(({ type }) => /Refused/.test(type)));
  t.notMatch(stored, /example|eve/, 'no personal data in clear');
});

void test('who has no password confirms with a sign-in a few minutes ago, and nobody else does', async (t) => {
  const all = await open(t, { OIDC_DOMAINS: 'example.com' });
  const { api, provider } = all;
  const ada = await api.newAccount();
  const bob = { email: 'bob@example.com', email_verified: true };
  provider.people.set('ada', { ...bob, email: ada.email }).set('bob', bob);
  const creation = (headers: Readonly<Record<string, string>>) =>
    api.call('POST', `${BASE}/account/person/passkeys/creation/`, { headers, body: {} });
  const { browser } = await signInAs(all, 'bob');
  const first = await personOf(api, browser);
  t.equal(first.person['has_password'], false);
  t.equal((await creation(first.headers)).status, 200);
  const totp = `${BASE}/account/person/totp/`;
  const confirm = async (headers: Readonly<Record<string, string>>) => {
    const { secret, setup } = (await api.call('POST', totp, { headers })).body;
    const body = { setup, otp: codeOf(api, String(secret)) };
    return await api.call('POST', `${totp}confirm/`, { headers, body });
  };
  api.clock.time += 4 * 60_000;
  t.equal((await confirm(first.headers)).status, 200);
  api.clock.time += 59_000;
  t.equal((await creation(first.headers)).status, 200);
  api.clock.time += 1000;
  const { headers: later } = await browser.session();
  for (const path of [`${totp}remove/`, `${BASE}/account/person/passkeys/creation/`]) {
    const late = await api.call('POST', path, { headers: later, body: {} });
    t.match(late, { status: 400, body: { details: { password: [/identity provider again/] } } });
  }
  const again = await personOf(api, (await signInAs(all, 'bob')).browser);
  const removal = { headers: again.headers, body: {} };
  t.equal((await api.call('POST', `${totp}remove/`, removal)).status, 204);

  const hers = await personOf(api, (await signInAs(all, 'ada')).browser);
  t.equal(hers.person['has_password'], true);
  for (const headers of [hers.headers, await bearerOf(api, ada.email)]) {
    const answer = await creation(headers);
    t.match(answer, { status: 400, body: { details: { password: [/Give your password/] } } });
    t.equal((await confirm(headers)).status, 400);
  }
});

void test('a session of the provider accepts an invitation of its address alone, once, as who it is', async (t) => {
  const all = await open(t, { OIDC_DOMAINS: 'example.com' });
  const { api, provider } = all;
  await api.newAccount();
  const inviting = await api.newAccount();
  const owner = await bearerOf(api, inviting.email);
  provider.people.set('bob', { email: 'bob@example.com', email_verified: true, name: 'Bob' });
  const bob = await personOf(api, (await signInAs(all, 'bob')).browser);
  // The address that he has at the provider by now is not the one that he signs in with here.
  provider.people.set('bob', { email: 'carol@example.com', email_verified: true });
  const renamed = await personOf(api, (await signInAs(all, 'bob')).browser);
  t.equal(renamed.person['id'], bob.person['id']);
  const carols = await invite(api, owner, 'carol@example.com', 'owner');
  t.equal((await accept(api, carols, {}, renamed.headers)).status, 403);
  const token = await invite(api, owner, 'BOB@example.com', 'auditor');
  const answers = await Promise.all([1, 2, 3].map(() => accept(api, token, {}, renamed.headers)));
  t.strictSame(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 410, 410],
  );
  const { person } = await personOf(
    api,
    (await signInAs(all, 'bob', `?account=${inviting.id}`)).browser,
  );
  t.match(person, { id: bob.person['id'], name: 'Bob', role: 'auditor' });
  const missing = await accept(api, carols, { password: PASSWORD });
  t.match(missing, { status: 400, body: { details: { name: [/1 to 100/] } } });
});

void test('an address that the provider gave to somebody else does not give them the person', async (t) => {
  const all = await open(t);
  const { email } = await all.api.newAccount();
  const verified = { email, email_verified: true };
  all.provider.people.set('ada', verified).set('another', verified);
  t.equal((await signInAs(all, 'ada')).end, '/');
  t.equal((await signInAs(all, 'another')).end, '/sign-in?provider=other-person');
});

void test('people of the settings join with the role of the claim, which follows the provider', async (t) => {
  const all = await open(t, {
    OIDC_DOMAINS: 'example.com',
    OIDC_ROLE_CLAIM: 'realm_access.roles',
  });
  const { api, provider } = all;
  const owner = await api.newAccount();
  const bob = { email: 'Bob@example.com', email_verified: true, name: 'Bob\u202e' };
  provider.people.set('bob', { ...bob, realm_access: { roles: ['offline', 'auditor'] } });
  const first = await signInAs(all, 'bob');
  t.equal(first.end, '/');
  const { headers, person } = await personOf(api, first.browser);
  t.match(person, { email: 'Bob@example.com', name: 'Bob', role: 'auditor' });

  provider.people.set('bob', { ...bob, realm_access: { roles: ['auditor', 'member'] } });
  t.match((await personOf(api, (await signInAs(all, 'bob')).browser)).person, {
    id: person['id'],
    role: 'member',
  });
  const asOwner = { headers: await bearerOf(api, owner.email) };
  const changed = await api.call('GET', `${BASE}/account/events/?type=MemberChanged`, asOwner);
  t.match(changed.body, [
    {
      actor: { kind: 'service' },
      summary: 'A person is a member of the account from now on, as the identity provider says.',
    },
  ]);

  const wrong = await api.call('POST', `${BASE}/account/password/`, {
    headers,
    body: { current_password: PASSWORD, new_password: 'another long password' },
  });
  t.match(wrong.body, { details: { current_password: [/You have no password/] } });
  const byPassword = { email: bob.email, password: PASSWORD };
  t.equal((await api.call('POST', `${BASE}/auth/jwt/create/`, { body: byPassword })).status, 401);

  const member = `${BASE}/account/members/${String(person['id'])}/`;
  t.equal((await api.call('DELETE', member, asOwner)).status, 204);
  t.equal((await signInAs(all, 'bob')).end, '/sign-in?provider=no-account', 'a removal holds');
});

void test('who has changed their address signs in with the provider as before, and the former one matches nobody', async (t) => {
  const all = await open(t);
  const { api, provider } = all;
  const { email } = await api.newAccount();
  provider.people.set('ada', { email, email_verified: true });
  const { headers, person } = await personOf(api, (await signInAs(all, 'ada')).browser);
  const body = { email: 'ada@new.example.com', password: PASSWORD };
  const asked = await api.call('POST', `${BASE}/account/email/`, { headers, body });
  t.same(asked.body, { sends_mail: true });
  const offer = await offeredEmail(api, String(person['id']), api.clock.now());
  const link = { headers, body: { token: offer?.token } };
  t.equal((await api.call('POST', `${BASE}/auth/email/confirm/`, link)).status, 204);
  t.match((await personOf(api, (await signInAs(all, 'ada')).browser)).person, {
    id: person['id'],
    email: 'ada@new.example.com',
  });
  provider.people.set('eve', { email, email_verified: true });
  t.equal((await signInAs(all, 'eve')).end, '/sign-in?provider=unknown');
});

void test('an owner can require the provider of everybody', async (t) => {
  const all = await open(t);
  const { email } = await all.api.newAccount();
  all.provider.people.set('ada', { email, email_verified: true });
  const { headers } = await personOf(all.api, (await signInAs(all, 'ada')).browser);
  const byPassword = { body: { email, password: PASSWORD } };
  const before = await bearerOf(all.api, email);
  const policy = `${BASE}/account/sign-in-policy/`;
  const change = { headers, body: { require: 'oidc' } };
  t.equal((await all.api.call('PATCH', policy, change)).status, 200);
  const refused = await all.api.call('POST', `${BASE}/auth/jwt/create/`, byPassword);
  t.match(refused, { status: 401, body: { message: /only with its identity provider/ } });
  const earlier = await all.api.call('GET', `${BASE}/account/`, { headers: before });
  t.equal(earlier.status, 403, 'a session of a password may do nothing any more');
  t.equal((await signInAs(all, 'ada')).end, '/');
});

void test('an account keeps an owner, whatever the claim says', async (t) => {
  const all = await open(t, { OIDC_ROLE_CLAIM: 'role' });
  const { email } = await all.api.newAccount();
  all.provider.people.set('ada', { email, email_verified: true, role: 'auditor' });
  const { browser, end } = await signInAs(all, 'ada');
  t.equal(end, '/');
  t.match((await personOf(all.api, browser)).person, { role: 'owner' });
});

const of = (email: string, groups: unknown) => ({ email, email_verified: true, groups });

void test('domains and groups say who may come, at each sign-in', async (t) => {
  const all = await open(t, { OIDC_DOMAINS: 'example.com', OIDC_GROUPS: 'pdf, print' });
  await all.api.newAccount();
  const ends: [object, string][] = [
    [of('bob@example.com', ['print']), '/'],
    [of('bob@example.com', ['sales']), '/sign-in?provider=not-admitted'],
    [of('bob@example.com.evil.org', ['print']), '/sign-in?provider=not-admitted'],
    [of('bob@example.com', undefined), '/sign-in?provider=not-admitted'],
    [of('bob@example.com', 'pdf'), '/'],
  ];
  for (const [claims, end] of ends) {
    all.provider.people.set('bob', { ...claims });
    t.equal((await signInAs(all, 'bob')).end, end, JSON.stringify(claims));
  }
});

void test('the same subject of another provider is another person', async (t) => {
  const providers = [await startProvider(t), await startProvider(t)] as const;
  const clients = providers.map(({ env }) =>
    openIdentityProvider({
      oidcIssuer: env['OIDC_ISSUER'],
      oidcClientId: CLIENT.OIDC_CLIENT_ID,
      oidcClientSecret: CLIENT.OIDC_CLIENT_SECRET,
      oidcScopes: 'openid email profile',
    }),
  );
  // The operator names the second one later.
  const [named = fail()] = clients;
  const inUse = { ...named };
  const api = await startApi(t, {
    env: { OIDC_DOMAINS: '*' },
    replace: () => ({ identityProvider: inUse }),
  });
  for (const provider of providers) provider.serve(api.origin);
  await api.newAccount();
  const signIn = async (provider: TestProvider, subject: string, email: string) => {
    provider.people.set(subject, { email, email_verified: true });
    const { browser } = await signInAs({ api, provider }, subject);
    return (await personOf(api, browser)).person;
  };
  const bob = await signIn(providers[0], '1', 'bob@example.com');
  Object.assign(inUse, clients[1]);
  const carol = await signIn(providers[1], '1', 'carol@example.com');
  t.not(carol['id'], bob['id']);
  t.match(carol, { email: 'carol@example.com' });
  const again = await signIn(providers[1], '2', 'bob@example.com');
  t.equal(again['id'], bob['id'], 'by the verified address');
});

function fail(): never {
  throw new Error('There is no provider.');
}
