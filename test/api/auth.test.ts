import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { test } from 'tap';
import { deriveKey } from '../../src/documents/keys/master-key.ts';
import { ed25519Key } from '../../src/transparency-log/signed-note.ts';
import { type Api, BASE, MASTER_KEY, PASSWORD, refusal, startApi } from '../support/api.ts';

const CREATE = `${BASE}/auth/jwt/create/`;
const REFRESH = `${BASE}/auth/jwt/refresh/`;
const REVOKE = `${BASE}/auth/jwt/revoke/`;
const ACCOUNT = `${BASE}/account/`;
const unauthorized = { status: 401, error: 'unauthorized' };

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
const post = (api: Api, path: string, body: unknown) => api.call('POST', path, { body });

async function signIn(api: Api, email: string) {
  const answer = await post(api, CREATE, { email, password: PASSWORD });
  return { answer, ...(answer.body as { access: string; refresh: string }) };
}

void test('signing in, refreshing and signing out', async (t) => {
  const api = await startApi(t);
  const account = await api.newAccount();
  const { answer, access, refresh } = await signIn(api, ` ${account.email.toUpperCase()}`);
  t.equal(answer.status, 200, answer.text);
  t.strictSame(Object.keys(answer.body), ['access', 'refresh']);
  t.match((await api.call('GET', ACCOUNT, bearer(access))).body, { id: account.id });
  const made = await api.call('POST', `${BASE}/api-keys/`, {
    ...bearer(access),
    body: { name: 'x' },
  });
  t.equal(made.status, 201);

  api.clock.time += 5 * 60 * 1000;
  t.strictSame(refusal(await api.call('GET', ACCOUNT, bearer(access))), unauthorized, 'expired');
  const renewed = await post(api, REFRESH, { refresh });
  t.equal(renewed.status, 200);
  t.equal(renewed.body['refresh'], refresh, 'the refresh token lives its whole day');
  const second = renewed.body['access'] as string;
  t.equal((await api.call('GET', ACCOUNT, bearer(second))).status, 200);

  const out = await post(api, REVOKE, { refresh });
  t.equal(out.status, 204);
  t.equal(out.text, '');
  t.strictSame(refusal(await api.call('GET', ACCOUNT, bearer(second))), unauthorized, 'at once');
  t.strictSame(refusal(await post(api, REFRESH, { refresh })), unauthorized);
  t.strictSame(refusal(await post(api, REVOKE, { refresh })), unauthorized);

  const other = await signIn(api, account.email);
  api.clock.time += 24 * 60 * 60 * 1000;
  t.strictSame(
    refusal(await post(api, REFRESH, { refresh: other.refresh })),
    unauthorized,
    'a day',
  );
});

void test('tokens that are not ours, or not of their kind', async (t) => {
  const api = await startApi(t);
  const account = await api.newAccount();
  const { access, refresh } = await signIn(api, account.email);
  const secret = ed25519Key(deriveKey(MASTER_KEY, 'access tokens', 32));
  const [header = '', payload = ''] = access.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<
    string,
    unknown
  >;
  const sign = (fields: object, head: object = {}, key = secret) =>
    new SignJWT({ ...claims, ...fields })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', ...head })
      .sign(key);
  const pem = createPublicKey(secret).export({ format: 'pem', type: 'spki' });
  const hs = `${encode({ alg: 'HS256', typ: 'at+jwt' })}.${payload}`;
  const foreign = generateKeyPairSync('ed25519');
  const jwk = foreign.publicKey.export({ format: 'jwk' });
  t.equal((await api.call('GET', ACCOUNT, bearer(await sign({})))).status, 200, 'the control');
  const forged: Record<string, string> = {
    'no signature': `${header}.${payload}.`,
    'algorithm none': `${encode({ alg: 'none', typ: 'at+jwt' })}.${payload}.`,
    'HS256 with the public key': `${hs}.${createHmac('sha256', pem).update(hs).digest('base64url')}`,
    'a key of its own': await sign({}, { jwk, kid: 'mine' }, foreign.privateKey),
    'a refresh token': refresh,
    'another type': await sign({}, { typ: 'JWT' }),
    'another issuer': await sign({ iss: 'x' }),
    'another audience': await sign({ aud: 'pressledger:refresh' }),
    'no expiry': await sign({ exp: undefined }),
    'another account': await sign({ sub: (await api.newAccount()).id }),
    'another session': await sign({ sid: 'sess_00000000000000000000000000' }),
    'no session': await sign({ sid: undefined }),
    'not yet valid': await sign({ nbf: Math.floor(api.clock.time / 1000) + 60 }),
    nonsense: 'x.y.z',
  };
  for (let at = 0; at < access.length; at += 15) {
    const letter = access[at] === 'A' ? 'B' : 'A';
    forged[`altered at ${at}`] = access.slice(0, at) + letter + access.slice(at + 1);
  }
  for (const [name, token] of Object.entries(forged)) {
    t.strictSame(refusal(await api.call('GET', ACCOUNT, bearer(token))), unauthorized, name);
  }
  for (const token of [access, 'x.y.z', `${refresh.slice(0, -4)}AAAA`]) {
    t.strictSame(refusal(await post(api, REFRESH, { refresh: token })), unauthorized);
    t.strictSame(refusal(await post(api, REVOKE, { refresh: token })), unauthorized);
  }
});

void test('what a sign-in must look like', async (t) => {
  const api = await startApi(t);
  const cases: [string, unknown, string[]][] = [
    [CREATE, {}, ['email', 'password']],
    [CREATE, { email: 1, password: null }, ['email', 'password']],
    [CREATE, { email: '', password: '' }, ['email', 'password']],
    [CREATE, { email: 'x'.repeat(321), password: 'x'.repeat(1025) }, ['email', 'password']],
    [CREATE, { email: 'a@b.c', password: 'p', otp: '' }, ['otp']],
    [CREATE, { email: 'a@b.c', password: 'p', pin: '1' }, ['pin']],
    [REFRESH, {}, ['refresh']],
    [REFRESH, { refresh: 5, access: 'x' }, ['access', 'refresh']],
    [REVOKE, { refresh: '' }, ['refresh']],
    [REVOKE, { refresh: 'x'.repeat(4097) }, ['refresh']],
  ];
  for (const [path, body, details] of cases) {
    const expected = { status: 400, error: 'validation_error', details };
    t.strictSame(refusal(await post(api, path, body)), expected, JSON.stringify(body).slice(0, 80));
  }
});

void test('a wrong pair says nothing, and too many of them are stopped', async (t) => {
  const api = await startApi(t);
  const { email } = await api.newAccount();
  const known = await post(api, CREATE, { email, password: 'wrong' });
  const unknown = await post(api, CREATE, { email: 'nobody@example.com', password: 'wrong' });
  t.strictSame(refusal(known), unauthorized);
  t.equal(known.text, unknown.text, 'the same for a known and an unknown address');

  const guesses = await Promise.all(
    Array.from({ length: 20 }, () => post(api, CREATE, { email, password: 'guess' })),
  );
  const judged = guesses.filter(({ status }) => status === 401);
  t.equal(judged.length, 9, 'ten wrong ones, those at the same time included');
  const stopped = await signIn(api, email);
  t.strictSame(refusal(stopped.answer), { status: 429, error: 'rate_limit_exceeded' });
  t.match(stopped.answer.body['message'], /too many wrong tries to sign in with this email/);
  t.ok(Number(stopped.answer.headers.get('retry-after')) > 0, 'even with the right password');
  api.clock.time += 15 * 60 * 1000;
  for (let n = 0; n < 12; n += 1) t.equal((await signIn(api, email)).answer.status, 200);
  t.pass('right ones count for nothing');

  const spread = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      post(api, CREATE, { email: `user${n}@example.org`, password: 'x' }),
    ),
  );
  t.equal(spread.filter(({ status }) => status === 401).length, 30, 'thirty from one address');
});

const judged = (all: readonly number[]) => all.filter((status) => status === 401).length;

void test('tries that are not judged cost their address nothing', async (t) => {
  const api = await startApi(t);
  const statuses = (email: string, count: number) =>
    Promise.all(
      Array.from(
        { length: count },
        async () => (await post(api, CREATE, { email, password: 'guess' })).status,
      ),
    );
  t.equal(judged(await statuses('one@example.com', 25)), 10, 'stopped by the account');
  t.equal(judged(await statuses('two@example.com', 25)), 10);
  t.equal(judged(await statuses('three@example.com', 25)), 10, 'thirty from one address, judged');
  t.equal(judged(await statuses('four@example.com', 1)), 0, 'and no more');
});
