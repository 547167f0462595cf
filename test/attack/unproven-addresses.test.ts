/** Attacks by somebody who has an address in their hands that is not theirs: nobody gets into what its owner does later. */
import { type Test, test } from 'tap';
import { invitationToken } from '../../src/accounts/invitations.ts';
import { mailedReset } from '../../src/accounts/password-reset.ts';
import { signUpToken } from '../../src/accounts/sign-up.ts';
import { founderOf } from '../../src/domain/members.ts';
import { type Api, BASE, PASSWORD, startApi } from '../support/api.ts';
import { addPasskey, signInWith } from '../support/authenticator.ts';
import { eventually } from '../support/deadline.ts';
import { accept, bearerOf, invite } from '../support/every-people-answer.ts';
import { startProvider, TestBrowser } from '../support/oidc-provider.ts';
import { newOperator } from '../support/operator.ts';

const VICTIM = 'victor@example.com';
const MEMBERS = `${BASE}/account/members/`;
const TOKENS = `${BASE}/auth/jwt/create/`;

async function open(t: Test, env: Readonly<Record<string, string>> = {}) {
  const provider = await startProvider(t);
  // It gets a mail server while it runs, as others do between two starts.
  let served: Api['config'] | undefined;
  const api = await startApi(t, {
    env: { ...provider.env, OIDC_DOMAINS: 'example.com', OIDC_ROLE_CLAIM: 'role', ...env },
    replace({ config }) {
      served = { ...config };
      return { config: served };
    },
  });
  const withoutMail = async <T>(work: () => Promise<T>): Promise<T> => {
    Object.assign(served ?? {}, { smtpUrl: undefined });
    return await work().finally(() => Object.assign(served ?? {}, api.config));
  };
  provider.serve(api.origin);
  const company = await api.newAccount();
  const mallory = await api.newAccount();
  const headers = await bearerOf(api, mallory.email);
  return { api, provider, company, mallory: { ...mallory, headers }, withoutMail };
}

type Opened = Awaited<ReturnType<typeof open>>;

/** Mallory accepts in the victim's name, with the link of an invitation that was not mailed. */
async function takeAddress({ api, mallory, withoutMail }: Opened, role = 'owner') {
  const body = { email: VICTIM, role };
  const invited = await withoutMail(() =>
    api.call('POST', MEMBERS, { headers: mallory.headers, body }),
  );
  const token = String(invited.body['link']).split('#')[1] ?? '';
  const accepted = await accept(api, token, { name: 'Victor', password: PASSWORD });
  const headers = await bearerOf(api, VICTIM);
  const { authenticator } = await addPasskey(api, headers);
  return { id: String(accepted.body['id']), headers, authenticator };
}

const signsIn = async (api: Api, body: object = { email: VICTIM, password: PASSWORD }) =>
  (await api.call('POST', TOKENS, { body })).status;

/** The victim signs in with the provider of their company. */
async function victimComes({ api, provider }: Opened, claims: object = {}) {
  provider.people.set('victor', { email: VICTIM, email_verified: true, name: 'Victor', ...claims });
  provider.atBrowser = 'victor';
  const browser = new TestBrowser(api);
  const end = await browser.signIn();
  if (end !== '/') return { end };
  const { headers } = await browser.session();
  const { body } = await api.call('GET', `${BASE}/account/person/`, { headers });
  return { end, headers, person: body };
}

const accountsOf = ({ person }: { readonly person?: Readonly<Record<string, unknown>> }) =>
  ((person?.['accounts'] ?? []) as readonly { readonly id: string }[]).map(({ id }) => id);

void test('an inviter who accepts in the name of somebody else does not get into their account', async (t) => {
  for (const isRemoved of [true, false]) {
    const all = await open(t);
    const { api, company, mallory } = all;
    const taken = await takeAddress(all);
    if (isRemoved) {
      await api.call('DELETE', `${MEMBERS}${taken.id}/`, { headers: mallory.headers });
    }
    const name = isRemoved ? 'removed before' : 'still a member';
    const victim = await victimComes(all, { role: 'owner' });
    t.equal(victim.end, '/', name);
    t.same(accountsOf(victim), [company.id], 'in the account of the company alone');
    t.equal(victim.person?.['has_password'], false);
    t.equal(await signsIn(api), 401, 'the password from before');
    t.equal((await signInWith(api, taken.authenticator)).status, 401, 'the passkey from before');
    const old = await api.call('GET', `${BASE}/account/person/`, { headers: taken.headers });
    t.equal(old.status, 401, 'the session from before');
    const { body } = await api.call('GET', MEMBERS, { headers: mallory.headers });
    t.equal((body as unknown as readonly object[]).length, 1, 'nor does Mallory have the victim');
    const proven = (await api.log()).filter(({ type }) => type === 'PersonAddressProven');
    const dropped = { password: true, passkeys: 1, memberships: isRemoved ? 0 : 1 };
    t.match(
      proven.map(({ data }) => JSON.parse(data)),
      [{ provenBy: 'provider', dropped }],
    );
  }
});

void test('without mail nobody is linked to a person whose address nobody has proven', async (t) => {
  const all = await open(t, { SMTP_URL: '' });
  const { api, company } = all;
  const taken = await takeAddress(all);
  t.equal((await victimComes(all)).end, '/sign-in?provider=unproven');
  t.equal((await signInWith(api, taken.authenticator)).status, 200, 'nothing was dropped');
  const owner = await bearerOf(api, company.email);
  const body = { email: VICTIM, role: 'member' };
  const refused = await api.call('POST', MEMBERS, { headers: owner, body });
  t.equal(refused.status, 400);
  t.match(refused.text, /operator.*account prove/, 'and the refusal says what to do');

  const operator = await newOperator(api);
  const said = { email: VICTIM, reason: 'Victor called from the office.', password: PASSWORD };
  const proven = await operator.call('POST', '/addresses/prove/', { body: said });
  t.equal(proven.status, 200);
  t.equal(await signsIn(api), 401);
  t.equal((await signInWith(api, taken.authenticator)).status, 401);
  t.same(accountsOf(await victimComes(all)), [company.id]);
});

void test('where mail is set, no answer has a link that proves an address', async (t) => {
  const { api, mallory } = await open(t);
  const body = { email: VICTIM, role: 'owner' };
  const invited = await api.call('POST', MEMBERS, { headers: mallory.headers, body });
  t.match(invited, { status: 201, body: { link: null, sends_mail: true } });
  const secret = await invitationToken(api, mallory.id, String(invited.body['id']));
  t.notMatch(invited.text, secret);
  const { text } = await api.call('GET', MEMBERS, { headers: mallory.headers });
  t.notMatch(text, secret);
});

/** The token of the newest mail of a kind, as its addressee has it. */
async function resetTokenOf(api: Api, personId: string): Promise<string> {
  await api.call('POST', `${BASE}/auth/password/forgot/`, { body: { email: VICTIM } });
  const offer = await eventually('a link', () => mailedReset(api, personId, api.clock.now()));
  return offer.token;
}

void test('a reset by mail ends what was added before the address was proven', async (t) => {
  const all = await open(t);
  const { api, company } = all;
  const taken = await takeAddress(all, 'member');
  const token = await resetTokenOf(api, taken.id);
  const body = { token, password: 'a password of Victor' };
  t.equal((await api.call('POST', `${BASE}/auth/password/reset/`, { body })).status, 204);
  t.equal((await signInWith(api, taken.authenticator)).status, 401);
  t.equal(await signsIn(api, { email: VICTIM, password: body.password }), 403, 'in no account');
  const owner = await bearerOf(api, company.email);
  const token2 = await invite(api, owner, VICTIM, 'owner');
  const own = { name: 'Victor', password: body.password };
  t.equal((await accept(api, token2, own)).status, 200);
  t.equal(await signsIn(api, { email: VICTIM, password: body.password }), 200);
  t.equal(await signsIn(api), 401);
  t.equal((await signInWith(api, taken.authenticator)).status, 401, 'nor as an owner later');
});

void test('a mailed invitation gives the person to its addressee', async (t) => {
  const all = await open(t);
  const { api, company, mallory } = all;
  const taken = await takeAddress(all, 'member');
  const owner = await bearerOf(api, company.email);
  const token = await invite(api, owner, VICTIM, 'owner');
  const asMallory = await accept(api, token, {}, taken.headers);
  t.equal(asMallory.status, 403, 'a session from before does not take it');
  const own = { name: 'Victor', password: 'a password of Victor' };
  t.match(await accept(api, token, own), { status: 200, body: { id: taken.id } });
  t.equal(await signsIn(api), 401);
  t.equal((await signInWith(api, taken.authenticator)).status, 401);
  const headers = await bearerOf(api, VICTIM, { password: own.password });
  const { body: person } = await api.call('GET', `${BASE}/account/person/`, { headers });
  t.same(accountsOf({ person }), [company.id]);
  const { body: seen } = await api.call('GET', `${BASE}/account/events/`, {
    headers: mallory.headers,
  });
  t.match(JSON.stringify(seen), /because their address was proven for the first time/);
  const ends = (await api.log()).filter(({ data }) => data.includes('"unproven":true'));
  t.match(
    ends.map(({ metadata }) => JSON.parse(metadata)),
    [{ actor: { kind: 'service' } }],
    'the inviter does not learn from where',
  );
});

void test('whoever confirms their address can open an account with it', async (t) => {
  const all = await open(t, { SIGN_UP: 'open' });
  const { api } = all;
  const taken = await takeAddress(all, 'member');
  await api.call('POST', `${BASE}/sign-up/`, { body: { email: VICTIM } });
  const offered = (await api.log()).findLast(({ type }) => type === 'SignUpOffered');
  const token = await signUpToken(api, String(JSON.parse(offered?.data ?? '').personId));
  const body = { password: 'a password of Victor' };
  const opened = await api.call('POST', `${BASE}/sign-up/${token}/accept/`, { body });
  t.equal(opened.status, 201);
  t.equal(await signsIn(api), 401);
  t.equal((await signInWith(api, taken.authenticator)).status, 401);
  const headers = await bearerOf(api, VICTIM, body);
  const { body: person } = await api.call('GET', `${BASE}/account/person/`, { headers });
  t.not(person['id'], taken.id);
  t.equal(accountsOf({ person }).length, 1);
});

void test('the only owner of an account stays, and nobody is linked to them', async (t) => {
  const all = await open(t);
  const { api, mallory } = all;
  const taken = await takeAddress(all);
  const own = `${MEMBERS}${founderOf(mallory.id)}/`;
  t.equal((await api.call('DELETE', own, { headers: mallory.headers })).status, 204);
  t.equal((await victimComes(all)).end, '/sign-in?provider=unproven');
  const operator = await newOperator(api);
  const said = { email: VICTIM, reason: 'Victor called.', password: PASSWORD };
  const refused = await operator.call('POST', '/addresses/prove/', { body: said });
  t.match(refused, { status: 403, body: { message: /make somebody else an owner/ } });
  t.equal((await signInWith(api, taken.authenticator)).status, 200, 'nothing was dropped');
});

void test('a handed-over link opens no further account to who is not proven', async (t) => {
  const all = await open(t, { SMTP_URL: '' });
  const { api, company } = all;
  const owner = await bearerOf(api, company.email);
  // Made before Mallory took the address.
  const token = await invite(api, owner, VICTIM, 'owner');
  const taken = await takeAddress(all, 'member');
  t.equal((await accept(api, token, {}, taken.headers)).status, 403, 'with the session');
  t.equal((await accept(api, token)).status, 403, 'with the password');
});

void test('of two handed-over links to one address, used at once, one opens an account', async (t) => {
  const { api, company, mallory } = await open(t, { SMTP_URL: '' });
  const owner = await bearerOf(api, company.email);
  for (const name of ['one', 'two', 'three']) {
    const address = `${name}@example.com`;
    const tokens = [
      await invite(api, owner, address, 'owner'),
      await invite(api, mallory.headers, address, 'member'),
    ];
    const answers = await Promise.all(tokens.map((token) => accept(api, token)));
    const [won, lost] = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    // 401: the other one has the address and no password yet.
    t.ok(won === 200 && (lost === 401 || lost === 403), `${name}: ${won}, ${lost}`);
    const { body } = await api.call('GET', `${BASE}/account/person/`, {
      headers: await bearerOf(api, address),
    });
    t.equal((body['accounts'] as readonly object[]).length, 1);
  }
});
