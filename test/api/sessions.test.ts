/** An account lists and ends its sessions, and changes its password. */
import { test } from 'tap';
import { setPasswordOf } from '../support/operator.ts';
import { Passwords } from '../../src/accounts/passwords.ts';
import { type Api, BASE, PASSWORD, refusal, startApi } from '../support/api.ts';
import { ownPage, SESSION, sessionCookie } from '../support/dashboard.ts';

const SESSIONS = `${BASE}/sessions/`;
const CHANGE = `${BASE}/account/password/`;
const NEW_PASSWORD = 'another long enough password';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0';
const unauthorized = { status: 401, error: 'unauthorized' };
const DAY_MS = 24 * 60 * 60 * 1000;

type Headers = Readonly<Record<string, string>>;

async function signIn(api: Api, email: string, userAgent = FIREFOX): Promise<Headers> {
  const body = { email, password: PASSWORD };
  const headers = { 'User-Agent': userAgent };
  const { text, body: pair } = await api.call('POST', `${BASE}/auth/jwt/create/`, {
    headers,
    body,
  });
  if (!('access' in pair)) throw new Error(text);
  return { Authorization: `Bearer ${String(pair['access'])}` };
}

async function signInToDashboard(api: Api, email: string): Promise<Headers> {
  const body = { email, password: PASSWORD };
  const answer = await api.call('POST', SESSION, { headers: ownPage(), body });
  return {
    ...ownPage(sessionCookie(answer)),
    Authorization: `Bearer ${String(answer.body['access'])}`,
  };
}

interface Listed {
  readonly id: string;
  readonly current: boolean;
  readonly kind: string;
  readonly client: { readonly user_agent: string | null } | null;
}

async function list(api: Api, headers: Headers): Promise<readonly Listed[]> {
  const answer = await api.call('GET', SESSIONS, { headers });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body as unknown as readonly Listed[];
}

const isOpen = async (api: Api, headers: Headers): Promise<boolean> =>
  (await api.call('GET', `${BASE}/account/`, { headers })).status === 200;

void test('the list says which client opened each session, under the key of the account', async (t) => {
  const api = await startApi(t);
  const { id, email } = await api.newAccount();
  await signIn(api, (await api.newAccount()).email);
  const program = await signIn(api, email);
  api.clock.time += 1000;
  const browser = await signInToDashboard(api, email);
  const at = (ms: number) => new Date(api.clock.time + ms).toISOString();
  const [newest, oldest, ...others] = await list(api, browser);
  t.strictSame(others, []);
  t.match(newest, {
    id: /^sess_/,
    kind: 'dashboard',
    methods: ['password'],
    opened_at: at(0),
    expires_at: at(7 * DAY_MS),
    current: true,
    client: { user_agent: 'node', address: '127.0.0.1' },
  });
  t.match(oldest, {
    kind: 'api',
    opened_at: at(-1000),
    expires_at: at(DAY_MS - 1000),
    current: false,
    client: { user_agent: FIREFOX, address: '127.0.0.1' },
  });
  t.match(await list(api, program), [{ current: false }, { current: true }]);
  const second = await api.call('GET', `${SESSIONS}?page=2&page_size=1`, { headers: program });
  t.equal(second.headers.get('x-total-count'), '2');
  t.match(second.body, [{ id: oldest?.id }]);

  const events = await api.call('GET', `${BASE}/account/events/?type=SessionOpened`, {
    headers: browser,
  });
  t.match(events.body, [
    {
      summary: 'A session of the dashboard was opened by signing in with the password.',
      data: { kind: 'dashboard', methods: ['password'], userAgent: 'node' },
    },
    { data: { kind: 'api', userAgent: FIREFOX } },
  ]);
  const stored = (await api.store.readAll()).filter(({ type }) => type === 'SessionOpened');
  const texts = JSON.stringify(stored.map(({ data, metadata }) => [data, metadata]));
  t.notMatch(texts, /Firefox|127\.0\.0\.1/, 'readable with the key alone');
  const { userAgent = '' } = { ...stored.at(-1)?.data } as { readonly userAgent?: string };
  t.equal(await api.vault.unseal(id, userAgent), 'node');
  await api.vault.erase(id);
  await t.rejects(api.vault.unseal(id, userAgent), 'not once the account is erased');
});

void test('a long User-Agent is cut, and its control characters are shown as such', async (t) => {
  const api = await startApi(t);
  const { email } = await api.newAccount();
  const headers = await signIn(api, email, `\x9b2J${'x'.repeat(2000)}`);
  const [own] = await list(api, headers);
  t.equal(own?.client?.user_agent, `\\u009b2J${'x'.repeat(248)}`);
});

void test('a session is ended from another one of its account', async (t) => {
  const api = await startApi(t);
  const { email } = await api.newAccount();
  const stranger = await signIn(api, (await api.newAccount()).email);
  const lost = await signInToDashboard(api, email);
  const own = await signIn(api, email);
  const [, other] = await list(api, own);
  const end = (headers: Headers, id = other?.id) =>
    api.call('DELETE', `${SESSIONS}${id}/`, { headers });
  const notFound = { status: 404, error: 'not_found' };
  t.strictSame(refusal(await end(stranger)), notFound);
  t.equal(await isOpen(api, lost), true);
  t.equal((await end(own)).status, 204);
  t.equal(await isOpen(api, lost), false);
  t.strictSame(refusal(await api.call('GET', SESSION, { headers: lost })), unauthorized);
  t.strictSame(refusal(await end(own)), notFound, 'ended before');
  for (const id of ['sess_00000000000000000000000000', 'x', '..%2fx']) {
    t.strictSame(refusal(await end(own, id)), notFound);
  }
  t.equal((await list(api, own)).length, 1);
  const third = await signIn(api, email);
  t.equal((await api.call('DELETE', SESSIONS, { headers: own })).status, 204);
  t.strictSame([await isOpen(api, own), await isOpen(api, third)], [false, false]);
  t.equal(await isOpen(api, stranger), true);
  const again = await signIn(api, email);
  t.strictSame(refusal(await end(again)), notFound, 'ended with all others');
});

void test('API keys neither list nor end sessions, nor change the password', async (t) => {
  const api = await startApi(t);
  const { email, key } = await api.newAccount();
  const headers = await signIn(api, email);
  const [own] = await list(api, headers);
  const body = { current_password: PASSWORD, new_password: NEW_PASSWORD };
  const answers = [
    await api.call('GET', SESSIONS, { key }),
    await api.call('DELETE', SESSIONS, { key }),
    await api.call('DELETE', `${SESSIONS}${own?.id}/`, { key }),
    await api.call('POST', CHANGE, { key, body }),
  ];
  for (const answer of answers) {
    t.strictSame(refusal(answer), { status: 403, error: 'forbidden' });
    t.match(answer.body['message'], /An API key may not do this/);
  }
  t.equal(await isOpen(api, headers), true);
});

void test('another password takes the present one, and ends all sessions', async (t) => {
  const api = await startApi(t);
  const { email, key } = await api.newAccount();
  const browser = await signInToDashboard(api, email);
  const headers = await signIn(api, email);
  const change = (given: object) => api.call('POST', CHANGE, { headers, body: given });
  const cases: [object, string[]][] = [
    [{}, ['current_password', 'new_password']],
    [{ current_password: '', new_password: 1, x: 1 }, ['current_password', 'new_password', 'x']],
    [{ current_password: 'wrong', new_password: 'too short' }, ['new_password']],
    [{ current_password: PASSWORD, new_password: 'x'.repeat(1025) }, ['new_password']],
    [{ current_password: 'wrong', new_password: NEW_PASSWORD }, ['current_password']],
  ];
  for (const [given, details] of cases) {
    const expected = { status: 400, error: 'validation_error', details };
    t.strictSame(refusal(await change(given)), expected);
  }
  t.equal(await isOpen(api, headers), true);
  const body = { current_password: PASSWORD, new_password: NEW_PASSWORD };
  t.equal((await change(body)).status, 204);
  t.strictSame([await isOpen(api, headers), await isOpen(api, browser)], [false, false]);
  t.strictSame(refusal(await api.call('GET', SESSION, { headers: browser })), unauthorized);
  t.equal((await api.call('GET', `${BASE}/account/`, { key })).status, 200, 'keys stay');
  const signInWith = (password: string) =>
    api.call('POST', `${BASE}/auth/jwt/create/`, { body: { email, password } });
  t.strictSame(refusal(await signInWith(PASSWORD)), unauthorized);
  t.equal((await signInWith(NEW_PASSWORD)).status, 200);
});

void test('a stolen session gives no further guesses at the password', async (t) => {
  const api = await startApi(t);
  const { email } = await api.newAccount();
  const headers = await signIn(api, email);
  const guess = (password: string) =>
    api.call('POST', CHANGE, {
      headers,
      body: { current_password: password, new_password: NEW_PASSWORD },
    });
  const guesses = await Promise.all(Array.from({ length: 20 }, () => guess('guess')));
  t.equal(guesses.filter(({ status }) => status === 400).length, 10);
  t.strictSame(refusal(await guess(PASSWORD)), { status: 429, error: 'rate_limit_exceeded' });
  const body = { email, password: PASSWORD };
  const answer = await api.call('POST', `${BASE}/auth/jwt/create/`, { body });
  t.strictSame(refusal(answer), { status: 429, error: 'rate_limit_exceeded' }, 'the same count');
  const refused = await api.call('GET', `${BASE}/account/events/?type=SignInRefused`, { headers });
  t.match(refused.body, [
    { summary: 'A wrong password or passkey was refused.', actor: { kind: 'session' } },
  ]);
});

void test('a password that the operator changes meanwhile is not changed back', async (t) => {
  let meanwhile: (() => Promise<unknown>) | undefined;
  const api = await startApi(t, {
    replace: ({ budgets }) => {
      const passwords = new Passwords(budgets);
      const hash = passwords.hash.bind(passwords);
      passwords.hash = async (...given) => {
        await meanwhile?.();
        return await hash(...given);
      };
      return { passwords };
    },
  });
  const { id, email } = await api.newAccount();
  const headers = await signIn(api, email);
  meanwhile = () => setPasswordOf(api, id, 'the password of the operator');
  const body = { current_password: PASSWORD, new_password: NEW_PASSWORD };
  t.strictSame(refusal(await api.call('POST', CHANGE, { headers, body })), unauthorized);
  const password = 'the password of the operator';
  const pair = { body: { email, password } };
  t.equal((await api.call('POST', `${BASE}/auth/jwt/create/`, pair)).status, 200);
});
