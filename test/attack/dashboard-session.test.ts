/** Pages of other sites, and holders of a token of one kind, try to use the dashboard's session. */
import { SignJWT } from 'jose';
import { test } from 'tap';
import { deriveKey } from '../../src/documents/keys/master-key.ts';
import { ed25519Key } from '../../src/transparency-log/signed-note.ts';
import { type Api, BASE, MASTER_KEY, PASSWORD, refusal, startApi } from '../support/api.ts';
import { ownPage, SESSION, sessionCookie } from '../support/dashboard.ts';

const unauthorized = { status: 401, error: 'unauthorized' };
const forbidden = { status: 403, error: 'forbidden' };
const NAME = '__Host-pressledger';

async function signIn(api: Api, email: string) {
  const body = { email, password: PASSWORD };
  const answer = await api.call('POST', SESSION, { headers: ownPage(), body });
  if (answer.status !== 200) throw new Error(answer.text);
  const cookie = sessionCookie(answer);
  const token = cookie.slice(NAME.length + 1);
  return { cookie, token, access: String(answer.body['access']) };
}

void test('requests of other origins are refused, and cost nothing', async (t) => {
  const env = { CORS_ORIGINS: '*', RATE_LIMIT_ANONYMOUS: '5' };
  const api = await startApi(t, { env, replace: () => ({ publicUrl: 'https://pdf.example.com' }) });
  const { email } = await api.newAccount();
  const { cookie } = await signIn(api, email);
  const before = (await api.log()).length;
  const { host } = new URL(api.origin);
  const foreign: Record<string, Readonly<Record<string, string>>> = {
    'neither header': {},
    'a page of another site': { 'Sec-Fetch-Site': 'cross-site' },
    'a page of a neighbouring host': { 'Sec-Fetch-Site': 'same-site' },
    'an address that was typed': { 'Sec-Fetch-Site': 'none' },
    'another site that claims the origin': {
      'Sec-Fetch-Site': 'cross-site',
      Origin: 'https://pdf.example.com',
    },
    'two values': { 'Sec-Fetch-Site': 'same-origin, cross-site' },
    'another origin': { Origin: 'https://evil.example' },
    'no origin of its own': { Origin: 'null' },
    'the same host without TLS': { Origin: 'http://pdf.example.com' },
    'a longer host': { Origin: 'https://pdf.example.com.evil.example' },
    'another port': { Origin: 'https://pdf.example.com:8443' },
    'another local port': { Origin: 'http://127.0.0.1:1' },
    'a host that begins like this one': { Origin: `http://${host}.evil.example` },
  };
  for (const [name, headers] of Object.entries(foreign)) {
    const sent = { headers: { ...headers, Cookie: cookie } };
    for (const method of ['GET', 'DELETE'] as const) {
      const answer = await api.call(method, SESSION, sent);
      t.strictSame(refusal(answer), forbidden, `${method}: ${name}`);
      t.equal(answer.headers.get('access-control-allow-origin'), null);
      t.equal(answer.headers.get('set-cookie'), null);
    }
    const body = { email, password: PASSWORD };
    t.strictSame(refusal(await api.call('POST', SESSION, { ...sent, body })), forbidden, name);
  }
  const preflight = await api.call('OPTIONS', SESSION, {
    headers: { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'DELETE' },
  });
  t.equal(preflight.status, 405);
  t.equal(preflight.headers.get('access-control-allow-origin'), null);
  t.equal((await api.log()).length, before, 'nothing was done');
  for (const headers of [
    ownPage(),
    { Origin: 'https://pdf.example.com' },
    { Origin: api.origin },
  ]) {
    const answer = await api.call('GET', SESSION, { headers: { ...headers, Cookie: cookie } });
    t.equal(answer.status, 200, `the control: ${JSON.stringify(headers)}`);
  }
  const { headers } = await api.call('GET', SESSION, { headers: ownPage() });
  t.equal(headers.get('x-ratelimit-remaining'), '3', 'only the sign-in and this were counted');
});

void test('a cookie, a refresh token and an access token are good in their places alone', async (t) => {
  const api = await startApi(t);
  const { email } = await api.newAccount();
  const { cookie, token, access } = await signIn(api, email);
  const pair = await api.call('POST', `${BASE}/auth/jwt/create/`, {
    body: { email, password: PASSWORD },
  });
  const { refresh, access: program } = pair.body as { access: string; refresh: string };
  for (const each of [refresh, access, program, 'x', `${token}x`, token.split('.')[0] ?? '']) {
    for (const method of ['GET', 'DELETE'] as const) {
      const headers = ownPage(`${NAME}=${each}`);
      t.strictSame(refusal(await api.call(method, SESSION, { headers })), unauthorized);
    }
  }
  const asBearer = ownPage();
  const elsewhere: Readonly<Record<string, string>>[] = [
    { Authorization: `Bearer ${token}` },
    { 'X-API-Key': token },
    { Cookie: cookie, ...asBearer },
  ];
  for (const headers of elsewhere) {
    t.strictSame(refusal(await api.call('GET', `${BASE}/account/`, { headers })), unauthorized);
  }
  for (const what of ['refresh', 'revoke']) {
    const answer = await api.call('POST', `${BASE}/auth/jwt/${what}/`, {
      body: { refresh: token },
    });
    t.strictSame(refusal(answer), unauthorized);
  }
  const bearer = { ...ownPage(), Authorization: `Bearer ${access}` };
  t.strictSame(refusal(await api.call('GET', SESSION, { headers: bearer })), unauthorized);
  t.equal((await api.call('GET', SESSION, { headers: ownPage(cookie) })).status, 200);
});

void test('a forged cookie is refused', async (t) => {
  const api = await startApi(t);
  const { email } = await api.newAccount();
  const { token } = await signIn(api, email);
  const secret = ed25519Key(deriveKey(MASTER_KEY, 'access tokens', 32));
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
  const claims = JSON.parse(payload) as Readonly<Record<string, unknown>>;
  const get = async (fields: object, typ = 'ct+jwt') => {
    const forged = await new SignJWT({ ...claims, ...fields })
      .setProtectedHeader({ alg: 'EdDSA', typ })
      .sign(secret);
    return await api.call('GET', SESSION, { headers: ownPage(`${NAME}=${forged}`) });
  };
  t.equal((await get({})).status, 200, 'the control');
  const changes = [
    { aud: 'pressledger:api' },
    { aud: 'pressledger:refresh' },
    { iss: 'x' },
    { exp: undefined },
    { sid: 'sess_00000000000000000000000000' },
    { sub: (await api.newAccount()).id },
  ];
  for (const fields of changes) {
    t.strictSame(refusal(await get(fields)), unauthorized, JSON.stringify(fields));
  }
  for (const typ of ['at+jwt', 'rt+jwt', 'JWT']) {
    t.strictSame(refusal(await get({}, typ)), unauthorized, typ);
  }
});

void test('a stolen cookie is worth nothing once its owner has signed out', async (t) => {
  const api = await startApi(t);
  const { email } = await api.newAccount();
  const owner = await signIn(api, email);
  const stolen = await api.call('GET', SESSION, { headers: ownPage(owner.cookie) });
  const thief = sessionCookie(stolen);
  t.equal((await api.call('DELETE', SESSION, { headers: ownPage(owner.cookie) })).status, 204);
  for (const cookie of [thief, owner.cookie]) {
    t.strictSame(
      refusal(await api.call('GET', SESSION, { headers: ownPage(cookie) })),
      unauthorized,
    );
  }
  for (const access of [String(stolen.body['access']), owner.access]) {
    const headers = { Authorization: `Bearer ${access}` };
    t.strictSame(refusal(await api.call('GET', `${BASE}/account/`, { headers })), unauthorized);
  }
});
