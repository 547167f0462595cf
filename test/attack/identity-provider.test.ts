/** Attacks on signing in with an identity provider: lying answers, other browsers, replays, and one that hangs. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type Test, test } from 'tap';
import { type Api, BASE, PASSWORD, startApi } from '../support/api.ts';
import { ownPage, SESSION, sessionCookie } from '../support/dashboard.ts';
import { countingListener } from '../support/listener.ts';
import { startProvider, TestBrowser } from '../support/oidc-provider.ts';

/** What a provider answers that lies: changes to its ID token, or to its document. */
interface Lie {
  readonly claims?: object;
  readonly isUnsigned?: true;
  readonly isForeignKey?: true;
}

const part = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64url');

/** Answers as a provider does, with what a lie changes. */
async function startLiar(t: Pick<Test, 'teardown'>) {
  const own = await generateKeyPair('RS256');
  const foreign = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'own', alg: 'RS256', use: 'sig' };
  const self = { lie: {} as Lie, nonce: '', answer: undefined as string | undefined };
  const tokenOf = async (issuer: string): Promise<string> => {
    const { claims, isUnsigned, isForeignKey } = self.lie;
    const now = Math.floor(Date.now() / 1000);
    const honest = {
      iss: issuer,
      aud: 'pressledger',
      sub: 'ada',
      iat: now,
      exp: now + 300,
      nonce: self.nonce,
      email: 'user1@example.com',
      email_verified: true,
    };
    const body = { ...honest, ...claims };
    if (isUnsigned) {
      return `${part({ alg: 'none' })}.${part(body)}.`;
    }
    return await new SignJWT(body)
      .setProtectedHeader({ alg: 'RS256', kid: 'own' })
      .sign((isForeignKey ? foreign : own).privateKey);
  };
  const server = createServer((request, response) => {
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const send = (body: string): ServerResponse =>
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
    if (self.answer !== undefined) return void send(self.answer);
    if (request.url === '/jwks') return void send(JSON.stringify({ keys: [jwk] }));
    if (request.url === '/token') {
      void tokenOf(issuer).then((token) =>
        send(JSON.stringify({ access_token: 'a', token_type: 'Bearer', id_token: token })),
      );
      return;
    }
    const document = {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
    };
    send(JSON.stringify(document));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(self, { issuer });
}

/** Where the service leads a browser whose provider says yes. */
async function comeBack(api: Api, liar: Awaited<ReturnType<typeof startLiar>>): Promise<string> {
  const browser = new TestBrowser(api);
  const begun = new URL(await browser.begin());
  liar.nonce = begun.searchParams.get('nonce') ?? '';
  const state = begun.searchParams.get('state') ?? '';
  return await browser.comeBack(`${api.origin}/dashboard/oidc/callback?code=c&state=${state}`);
}

void test('an ID token that is not for this sign-in is not believed', async (t) => {
  const liar = await startLiar(t);
  const api = await startApi(t, { env: { OIDC_ISSUER: liar.issuer } });
  await api.newAccount();
  const now = Math.floor(Date.now() / 1000);
  const lies: Readonly<Record<string, Lie>> = {
    'another nonce': { claims: { nonce: 'another' } },
    'no nonce': { claims: { nonce: undefined } },
    'another audience': { claims: { aud: 'another-client' } },
    'several audiences, for another one': { claims: { aud: ['pressledger', 'b'], azp: 'b' } },
    'another issuer': { claims: { iss: 'https://login.example.com' } },
    'no subject': { claims: { sub: undefined } },
    'an empty subject': { claims: { sub: '' } },
    'a blank subject': { claims: { sub: ' ' } },
    expired: { claims: { iat: now - 900, exp: now - 600 } },
    'no signature': { isUnsigned: true },
    'a key of somebody else': { isForeignKey: true },
  };
  for (const [name, lie] of Object.entries(lies)) {
    liar.lie = lie;
    t.equal(await comeBack(api, liar), '/sign-in?provider=invalid', name);
  }
  liar.lie = {};
  t.equal(await comeBack(api, liar), '/', 'the same without a lie');
  for (const answer of ['', 'null', '{"issuer": 1}', '[]', '<html>', 'x'.repeat(2 ** 20 + 1)]) {
    liar.answer = answer;
    t.equal(await comeBack(api, liar), '/sign-in?provider=invalid', answer.slice(0, 20));
  }
});

void test('what the provider said holds once, and in the browser that began alone', async (t) => {
  const provider = await startProvider(t);
  const api = await startApi(t, { env: provider.env });
  provider.serve(api.origin);
  const { email } = await api.newAccount();
  provider.people.set('ada', { email, email_verified: true });
  provider.atBrowser = 'ada';
  const ada = new TestBrowser(api);
  const callback = await ada.toCallback(await ada.begin());

  // Eve has the address that Ada's browser is led to, and a sign-in of her own under way.
  const eve = new TestBrowser(api);
  t.equal(await eve.comeBack(callback), '/sign-in?provider=stale', 'without a cookie');
  await eve.begin();
  t.equal(await eve.comeBack(callback), '/sign-in?provider=stale', 'with a cookie of another one');
  // And Ada is led to Eve's answer.
  provider.people.set('eve', { email: 'eve@example.com', email_verified: true });
  provider.atBrowser = 'eve';
  const evesCallback = await eve.toCallback(await eve.begin());
  t.equal(await ada.comeBack(evesCallback), '/sign-in?provider=stale', 'no sign-in as Eve');

  const cookie = ada.jar(api.origin).header;
  t.equal(await ada.comeBack(callback), '/', 'it went on all the same');
  t.notOk(ada.jar(api.origin).has('__Host-pressledger-oidc'), 'and the cookie is gone');
  const replay = await fetch(callback, { redirect: 'manual', headers: { Cookie: cookie } });
  t.equal(replay.headers.get('location'), '/sign-in?provider=stale', 'a copy of it is used up');

  const changed = cookie.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  const forged = await fetch(callback, { redirect: 'manual', headers: { Cookie: changed } });
  t.equal(forged.headers.get('location'), '/sign-in?provider=stale');

  const late = new TestBrowser(api);
  provider.atBrowser = 'ada';
  const lateCallback = await late.toCallback(await late.begin());
  api.clock.time += 11 * 60 * 1000;
  t.equal(await late.comeBack(lateCallback), '/sign-in?provider=stale', 'after ten minutes');

  provider.atBrowser = undefined;
  t.equal(await new TestBrowser(api).signIn(), '/sign-in?provider=refused');
});

void test('a session that was planted in the browser is not the one that the provider opens', async (t) => {
  const provider = await startProvider(t);
  const api = await startApi(t, { env: provider.env });
  provider.serve(api.origin);
  const [ada, mallory] = [await api.newAccount(), await api.newAccount()];
  provider.people.set('ada', { email: ada.email, email_verified: true });
  provider.atBrowser = 'ada';
  const planted = await api.call('POST', SESSION, {
    headers: ownPage(),
    body: { email: mallory.email, password: PASSWORD },
  });
  const browser = new TestBrowser(api);
  browser.jar(api.origin).take(planted.headers);
  const personOf = async (headers: Readonly<Record<string, string>>) =>
    (await api.call('GET', `${BASE}/account/person/`, { headers })).body;
  t.match(await personOf((await browser.session()).headers), { email: mallory.email });
  t.equal(await browser.signIn(), '/');
  const hers = await browser.session();
  t.match(await personOf(hers.headers), { email: ada.email });
  // Mallory, who kept a copy of the cookie, is still Mallory alone.
  const copy = await api.call('GET', SESSION, { headers: ownPage(sessionCookie(planted)) });
  const still = { Authorization: `Bearer ${String(copy.body['access'])}` };
  t.match(await personOf(still), { email: mallory.email });
  const sessions = await api.call('GET', `${BASE}/sessions/`, hers);
  t.equal((sessions.body as unknown as object[]).length, 1, 'she has one session, of the provider');
});

void test('a sign-in leads to pages of the dashboard alone, and begins on them alone', async (t) => {
  const provider = await startProvider(t);
  const api = await startApi(t, { env: provider.env });
  provider.serve(api.origin);
  const { email } = await api.newAccount();
  provider.people.set('ada', { email, email_verified: true });
  provider.atBrowser = 'ada';
  for (const from of [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/.//evil.example',
    'javascript:alert(1)',
    '/files/x.pdf',
    '/%0d%0aSet-Cookie:x=y',
  ]) {
    const search = `?from=${encodeURIComponent(from)}`;
    t.equal(await new TestBrowser(api).signIn(search), '/', from);
  }
  const url = `${api.origin}/dashboard/oidc/start`;
  for (const site of ['cross-site', 'same-site']) {
    const answer = await fetch(url, { redirect: 'manual', headers: { 'Sec-Fetch-Site': site } });
    t.equal(answer.status, 403, site);
  }
});

void test('a provider that hangs or is away holds up nobody, and comes back', async (t) => {
  const silent = await countingListener();
  t.teardown(() => silent.close());
  const issuer = `http://127.0.0.1:${silent.port}`;
  const { openIdentityProvider } = await import('../../src/oidc/provider.ts');
  const settings = { oidcIssuer: issuer, oidcClientId: 'pressledger', oidcScopes: 'openid' };
  const api = await startApi(t, {
    env: { OIDC_ISSUER: issuer },
    replace: () => ({ identityProvider: openIdentityProvider(settings, { answerMs: 300 }) }),
  });
  const starts = Array.from({ length: 20 }, () => new TestBrowser(api).begin());
  const offers = await api.call('GET', '/dashboard/offers', { headers: ownPage() });
  t.match(offers.body, { provider: new URL(issuer).host });
  for (const end of await Promise.all(starts)) t.equal(end, '/sign-in?provider=away');
  t.equal(silent.tcp, 1, 'one question for all of them');
});
