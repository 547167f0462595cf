/** The session of the dashboard: a cookie for its own pages, which gives them access tokens. */
import { test } from 'tap';
import { endSessions } from '../../src/accounts/accounts.ts';
import { type Answer, type Api, BASE, PASSWORD, refusal, startApi } from '../support/api.ts';
import { setPasswordOf } from '../support/operator.ts';
import { openPage } from '../support/browser.ts';
import { ownPage, SESSION, sessionCookie } from '../support/dashboard.ts';
import { eraseAccount } from '../support/erase-account.ts';

const HOUR_MS = 60 * 60 * 1000;
const unauthorized = { status: 401, error: 'unauthorized' };

async function signIn(api: Api, email: string) {
  const answer = await api.call('POST', SESSION, {
    headers: ownPage(),
    body: { email, password: PASSWORD },
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return { answer, cookie: sessionCookie(answer), access: String(answer.body['access']) };
}

const renew = (api: Api, cookie: string): Promise<Answer> =>
  api.call('GET', SESSION, { headers: ownPage(cookie) });
const account = (api: Api, access: string): Promise<Answer> =>
  api.call('GET', `${BASE}/account/`, { headers: { Authorization: `Bearer ${access}` } });

void test('signing in sets a cookie, which gives access tokens until it is signed out', async (t) => {
  const api = await startApi(t);
  const { id, email } = await api.newAccount();
  const { answer, cookie, access } = await signIn(api, email);
  t.match(
    answer.headers.get('set-cookie'),
    /^__Host-pressledger=[\w-]+\.[\w-]+\.[\w-]+; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
  );
  const inFiveMinutes = new Date(api.clock.time + 5 * 60 * 1000).toISOString();
  t.strictSame(answer.body, { access, expires_at: inFiveMinutes });
  t.match((await account(api, access)).body, { id });

  const renewed = await renew(api, cookie);
  t.equal(renewed.status, 200);
  t.match((await account(api, String(renewed.body['access']))).body, { id });

  const out = await api.call('DELETE', SESSION, { headers: ownPage(cookie) });
  t.equal(out.status, 204);
  t.match(out.headers.get('set-cookie'), /^__Host-pressledger=; .*Secure; .*; Max-Age=0$/);
  t.strictSame(refusal(await renew(api, cookie)), unauthorized);
  t.strictSame(refusal(await account(api, access)), unauthorized, 'its access tokens, too');
  const again = await api.call('DELETE', SESSION, { headers: ownPage(cookie) });
  t.strictSame(refusal(again), unauthorized);
  t.strictSame(refusal(await api.call('GET', SESSION, { headers: ownPage() })), unauthorized);
});

void test('a session in use goes on for a week; a cookie that is not used ends after a day', async (t) => {
  const api = await startApi(t);
  const { email } = await api.newAccount();
  const idle = await signIn(api, email);
  let { cookie } = idle;
  for (let day = 1; day <= 7; day += 1) {
    api.clock.time += 23 * HOUR_MS;
    const renewed = await renew(api, cookie);
    t.equal(renewed.status, 200, `day ${day}`);
    cookie = sessionCookie(renewed);
  }
  t.strictSame(refusal(await renew(api, idle.cookie)), unauthorized, 'the first cookie');
  api.clock.time += 7 * HOUR_MS - 60_000;
  const last = await renew(api, cookie);
  const inAMinute = new Date(api.clock.time + 60_000).toISOString();
  t.match(last.body, { expires_at: inAMinute }, 'no token outlives the session');
  api.clock.time += 60_000;
  t.strictSame(refusal(await renew(api, sessionCookie(last))), unauthorized, 'a week');
  t.strictSame(refusal(await account(api, String(last.body['access']))), unauthorized);
});

void test('whatever ends sessions ends those of the dashboard at once', async (t) => {
  const api = await startApi(t);
  const ways: Record<string, (id: string, email: string) => Promise<unknown>> = {
    'another password': (id) => setPasswordOf(api, id, 'another long password'),
    'signing out everywhere': (id) => endSessions(api, { accountId: id }, api.context()),
    erasure: (id) => eraseAccount(api, id, api.context()),
  };
  for (const [name, end] of Object.entries(ways)) {
    const { id, email } = await api.newAccount();
    const { cookie, access } = await signIn(api, email);
    t.equal((await renew(api, cookie)).status, 200, 'the control');
    await end(id, email);
    t.strictSame(refusal(await renew(api, cookie)), unauthorized, name);
    t.strictSame(refusal(await account(api, access)), unauthorized, name);
  }
});

void test('a wrong pair is refused and counted as by the API', async (t) => {
  const api = await startApi(t);
  const { email } = await api.newAccount();
  const wrong = () =>
    api.call('POST', SESSION, { headers: ownPage(), body: { email, password: 'wrong' } });
  for (let n = 0; n < 10; n += 1) t.strictSame(refusal(await wrong()), unauthorized);
  t.strictSame(refusal(await wrong()), { status: 429, error: 'rate_limit_exceeded' });
  const pair = { email, password: PASSWORD };
  const other = await api.call('POST', `${BASE}/auth/jwt/create/`, { body: pair });
  t.strictSame(refusal(other), { status: 429, error: 'rate_limit_exceeded' }, 'one count');
});

void test('the dashboard has a rate limit of its own; its conversions count in the plan', async (t) => {
  const env = { RATE_LIMIT_FREE: '2', RATE_LIMIT_DASHBOARD: '6' };
  const api = await startApi(t, { env });
  const { email, key } = await api.newAccount({ plan: 'free' });
  const { access, cookie } = await signIn(api, email);
  const headers = { Authorization: `Bearer ${access}` };
  const convert = () =>
    api.call('POST', `${BASE}/pdf/`, { headers, body: { html: '<p>from the dashboard</p>' } });
  t.match(Object.fromEntries((await account(api, access)).headers), {
    'x-ratelimit-limit': '6',
    'x-ratelimit-remaining': '5',
  });
  t.equal((await renew(api, cookie)).headers.get('x-ratelimit-remaining'), '4');
  t.equal((await convert()).headers.get('x-ratelimit-limit'), '2', 'shows what ends first');
  const byKey = await api.call('GET', `${BASE}/account/`, { key });
  t.equal(byKey.headers.get('x-ratelimit-remaining'), '0', 'the conversion and this');
  const refused = await convert();
  t.strictSame(refusal(refused), { status: 429, error: 'rate_limit_exceeded' });
  t.match(refused.body['message'], /Only 2 requests a minute are allowed on the plan free/);
  t.equal((await account(api, access)).status, 200, 'pages can be read all the same');
  t.equal((await renew(api, cookie)).status, 200);
  const over = await account(api, access);
  t.strictSame(refusal(over), { status: 429, error: 'rate_limit_exceeded' });
  t.match(over.body['message'], /Only 6 requests a minute are allowed from the dashboard/);

  const program = await api.newAccount({ plan: 'free' });
  const pair = { email: program.email, password: PASSWORD };
  const tokens = await api.call('POST', `${BASE}/auth/jwt/create/`, { body: pair });
  const own = await account(api, String(tokens.body['access']));
  t.equal(own.headers.get('x-ratelimit-limit'), '2', 'other sessions count in the plan');
});

void test('a browser keeps the cookie from pages and sends it to this origin alone', async (t) => {
  const api = await startApi(t, { env: { CORS_ORIGINS: '*' } });
  const { email } = await api.newAccount();
  const { page } = await openPage(t);
  // The API's own documents are in a sandbox, so that they may ask for nothing.
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    const isPage = new URL(request.url()).pathname === '/page';
    void (isPage ? request.respond({ body: '<p>A page.</p>' }) : request.continue());
  });
  const local = api.origin.replace('127.0.0.1', 'localhost');
  const ask = (init: RequestInit): Promise<number | 'blocked'> =>
    page.evaluate(
      async (url, options) => {
        try {
          return (await fetch(url, options)).status;
        } catch {
          return 'blocked' as const;
        }
      },
      `${local}${SESSION}`,
      init,
    );
  const headers = { 'Content-Type': 'application/json' };
  const pair = { headers, method: 'POST', body: JSON.stringify({ email, password: PASSWORD }) };

  await page.goto(`${local}/page`);
  t.equal(await ask({}), 401);
  t.equal(await ask(pair), 200);
  t.equal(await page.evaluate('document.cookie'), '', 'scripts see no cookie');
  t.equal(await ask({}), 200);

  await page.goto(`${api.origin}/page`);
  const before = (await api.log()).length;
  t.equal(await ask({ credentials: 'include' }), 'blocked', 'not read by a page of another site');
  t.equal(await ask(pair), 'blocked');
  const blind: RequestInit = { mode: 'no-cors', credentials: 'include' };
  t.equal(await ask({ ...blind, method: 'POST', body: pair.body }), 'blocked');
  t.equal(await ask(blind), 'blocked');
  t.equal((await api.log()).length, before, 'and nothing was done for it');

  await page.goto(`${local}/page`);
  t.equal(await ask({ method: 'DELETE' }), 204);
  t.equal(await ask({}), 401);
});
