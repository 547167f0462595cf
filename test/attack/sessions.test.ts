/** A stolen session, and an account that makes keys and sessions without end. */
import { type Test, test } from 'tap';
import { endSessions } from '../../src/accounts/accounts.ts';
import { removeMember } from '../../src/accounts/members.ts';
import { createApiKey } from '../../src/accounts/api-keys.ts';
import { type Asker, Passwords } from '../../src/accounts/passwords.ts';
import { type Answer, type Api, BASE, PASSWORD, refusal, startApi } from '../support/api.ts';
import { accept, bearerOf, invite, joined } from '../support/every-people-answer.ts';
import { setPasswordOf } from '../support/operator.ts';
import { cliJson } from '../support/cli.ts';
import { readLog } from '../support/invariants.ts';
import { startService } from '../support/service.ts';

const CREATE = `${BASE}/auth/jwt/create/`;
const REFRESH = `${BASE}/auth/jwt/refresh/`;
const KEYS = `${BASE}/api-keys/`;
const NEW_PASSWORD = 'another long enough password';

interface Session {
  readonly access: string;
  readonly refresh: string;
}

const signIn = (api: Api, email: string, password = PASSWORD): Promise<Answer> =>
  api.call('POST', CREATE, { body: { email, password } });

async function sessionOf(api: Api, email: string, password?: string): Promise<Session> {
  const { status, body, text } = await signIn(api, email, password);
  if (status !== 200) throw new Error(text);
  return body as unknown as Session;
}

/** The statuses with the access token and with the refresh token. */
async function statuses(api: Api, { access, refresh }: Session): Promise<number[]> {
  const headers = { Authorization: `Bearer ${access}` };
  const answers = [
    await api.call('GET', `${BASE}/account/`, { headers }),
    await api.call('POST', REFRESH, { body: { refresh } }),
  ];
  return answers.map(({ status }) => status);
}

const GOOD = [200, 200];
const OVER = [401, 401];

void test('a changed password ends all sessions, and so does signing out everywhere', async (t) => {
  const api = await startApi(t);
  const { id, email, key } = await api.newAccount();
  const other = await api.newAccount();
  const bystander = await sessionOf(api, other.email);
  const stolen = await sessionOf(api, email);
  t.strictSame(await statuses(api, stolen), GOOD, 'the control');
  await setPasswordOf(api, id, NEW_PASSWORD);
  t.strictSame(await statuses(api, stolen), OVER, 'at the very next request');

  const next = await sessionOf(api, email, NEW_PASSWORD);
  const another = await sessionOf(api, email, NEW_PASSWORD);
  t.strictSame(await statuses(api, next), GOOD);
  t.equal(await endSessions(api, { accountId: id }, api.context()), 2);
  t.strictSame(await statuses(api, next), OVER);
  t.strictSame(await statuses(api, another), OVER);
  t.equal(await endSessions(api, { accountId: id }, api.context()), 0);
  t.strictSame(await statuses(api, await sessionOf(api, email, NEW_PASSWORD)), GOOD);
  t.strictSame(await statuses(api, bystander), GOOD, 'of another account');
  t.equal((await api.call('GET', `${BASE}/account/`, { key })).status, 200, 'keys stay');
});

/** Holds what it has found out about a password until it is told to go on. */
class SlowPasswords extends Passwords {
  readonly judged = Promise.withResolvers<void>();
  readonly goOn = Promise.withResolvers<void>();

  override async verify(hash: string, password: string, asker: Asker): Promise<boolean> {
    const right = await super.verify(hash, password, asker);
    this.judged.resolve();
    await this.goOn.promise;
    return right;
  }
}

async function openWhile(t: Test, change: (api: Api, id: string) => Promise<unknown>) {
  const made: SlowPasswords[] = [];
  const api = await startApi(t, {
    replace: ({ budgets }) => {
      const passwords = new SlowPasswords(budgets);
      made.push(passwords);
      return { passwords };
    },
  });
  const [passwords] = made;
  if (passwords === undefined) throw new Error('It was not replaced.');
  const { id, email } = await api.newAccount();
  const signingIn = sessionOf(api, email);
  await passwords.judged.promise;
  await change(api, id);
  passwords.goOn.resolve();
  return await statuses(api, await signingIn);
}

void test('a session that is being opened with the old password is over, too', async (t) => {
  const changed = await openWhile(t, (api, id) => setPasswordOf(api, id, NEW_PASSWORD));
  t.strictSame(changed, OVER);
  t.strictSame(
    await openWhile(t, (api, id) => endSessions(api, { accountId: id }, api.context())),
    OVER,
  );
  t.strictSame(await openWhile(t, async () => {}), GOOD, 'the control');
});

void test('a further sign-in ends the oldest session, also when many come at once', async (t) => {
  const api = await startApi(t, { env: { MAX_ACCOUNT_SESSIONS: '3' } });
  const { email } = await api.newAccount();
  const other = await sessionOf(api, (await api.newAccount()).email);
  const inTurn: Session[] = [];
  for (let n = 0; n < 5; n += 1) inTurn.push(await sessionOf(api, email));
  const found = await Promise.all(inTurn.map((each) => statuses(api, each)));
  t.strictSame(found, [OVER, OVER, GOOD, GOOD, GOOD]);
  const atOnce = await Promise.all(Array.from({ length: 8 }, () => sessionOf(api, email)));
  const open = await Promise.all([...inTurn, ...atOnce].map((each) => statuses(api, each)));
  t.equal(open.filter(([status]) => status === 200).length, 3);
  t.strictSame(await statuses(api, other), GOOD, 'another account has its own');
});

void test('an account has so many keys, also when many are wanted at once', async (t) => {
  const api = await startApi(t, { env: { MAX_ACCOUNT_KEYS: '5' } });
  const { key, keyId } = await api.newAccount();
  const other = await api.newAccount();
  const make = () => api.call('POST', KEYS, { key, body: { name: 'one more' } });
  const inForce = async () => (await api.call('GET', KEYS, { key })).headers.get('x-total-count');
  const answers = await Promise.all(Array.from({ length: 12 }, make));
  const made = answers.filter(({ status }) => status === 201);
  t.equal(made.length, 4);
  t.equal(await inForce(), '5');
  for (const each of answers.filter(({ status }) => status !== 201)) {
    t.strictSame(refusal(each), { status: 429, error: 'rate_limit_exceeded' });
    t.match(each.body['message'], /at most 5 API keys.* Revoke one/);
    t.ok(Number(each.headers.get('retry-after')) > 0);
  }
  t.equal(api.budgets.get('maxAccountKeys').count().refused, 8);
  const before = (await api.log()).length;
  t.equal((await make()).status, 429);
  t.equal((await api.log()).length, before, 'what is refused then writes nothing');

  for (const each of made) {
    const own = { key: each.body['key'] as string };
    t.equal((await api.call('GET', `${BASE}/account/`, own)).status, 200, 'those made are good');
  }
  const revoked = made[0]?.body['id'] as string;
  t.equal((await api.call('DELETE', `${KEYS}${revoked}/`, { key })).status, 204);
  t.equal((await make()).status, 201, 'one was revoked');
  const more = await api.call('POST', KEYS, { key: other.key, body: { name: 'mine' } });
  t.equal(more.status, 201, 'another account has its own');
  t.equal((await api.call('DELETE', `${KEYS}${keyId}/`, { key })).status, 204);
});

void test('an expired key is listed, and takes no place of another', async (t) => {
  const api = await startApi(t, { env: { MAX_ACCOUNT_KEYS: '2' } });
  const { key } = await api.newAccount();
  const expires_at = new Date(api.clock.time + 60_000).toISOString();
  const short = await api.call('POST', KEYS, { key, body: { name: 'short', expires_at } });
  t.equal(short.status, 201);
  const make = async () => (await api.call('POST', KEYS, { key, body: { name: 'more' } })).status;
  t.equal(await make(), 429);
  api.clock.time += 60_000;
  t.equal(await make(), 201);
  t.equal(await make(), 429);
  t.equal((await api.call('GET', KEYS, { key })).headers.get('x-total-count'), '3');
});

void test('a key that is recorded after its maker was removed is not listed', async (t) => {
  const api = await startApi(t);
  const { id, key, email } = await api.newAccount();
  const bob = await joined(api, await bearerOf(api, email), 'bob@example.com', 'member');
  const send = api.actors.send.bind(api.actors);
  const late: typeof send = async (type, of, command, context) => {
    // He is removed when his request has passed all checks.
    if ((command as { readonly type: string }).type === 'CreateKey') {
      api.actors.send = send;
      await removeMember(api, id, bob.id, undefined, api.context());
    }
    return await send(type, of, command, context);
  };
  api.actors.send = late;
  const made = await api.call('POST', KEYS, { headers: bob.headers, body: { name: 'late' } });
  const dead = { key: String(made.body['key']) };
  t.equal((await api.call('GET', `${BASE}/account/`, dead)).status, 401);
  const listed = async () => JSON.parse((await api.call('GET', KEYS, { key })).text) as unknown[];
  t.equal((await listed()).length, 1, 'the account key alone');

  // Once he belongs to it again, his keys count.
  const again = await invite(api, await bearerOf(api, email), 'bob@example.com', 'member');
  t.equal((await accept(api, again)).status, 200);
  const { Authorization } = await bearerOf(api, 'bob@example.com', { account: id });
  const headers = { Authorization };
  t.equal((await api.call('POST', KEYS, { headers, body: { name: 'new' } })).status, 201);
  t.equal((await listed()).length, 2);
});

void test('keys that are too many once they are in the log are revoked', async (t) => {
  const api = await startApi(t, { env: { MAX_ACCOUNT_KEYS: '5' } });
  const { id } = await api.newAccount();
  // All of them count before one of them is in the log.
  const making = Array.from({ length: 12 }, () => createApiKey(api, id, 'one more', api.context()));
  const made = (await Promise.allSettled(making)).filter(({ status }) => status === 'fulfilled');
  t.equal(made.length, 4);
  const log = await api.log();
  t.equal(log.filter(({ type }) => type === 'KeyRevoked').length, 8);
  t.equal(
    new Set(log.map((event) => event.id)).size,
    log.length,
    'every event has an id of its own',
  );
});

void test('sign-out and a new password by the command line hold at once and after a restart', async (t) => {
  const service = await startService(t);
  const { place } = service;
  const { email, password } = service.firstStart;
  const post = (path: string, body: object) =>
    fetch(service.url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  const open = async (secret: string) =>
    (await (await post(CREATE, { email, password: secret })).json()) as Session;
  const state = async ({ access, refresh }: Session): Promise<number[]> => {
    const headers = { Authorization: `Bearer ${access}` };
    const { status } = await fetch(`${service.url}${BASE}/account/`, { headers });
    return [status, (await post(REFRESH, { refresh })).status];
  };
  const first = await open(password);
  const log = readLog(place.dataDir);
  const origin = (JSON.parse(log[0]?.data ?? '{}') as { origin?: string }).origin;
  const payload = Buffer.from(first.access.split('.')[1] ?? '', 'base64url').toString();
  t.match(origin, /^pressledger\/[0-9a-f]{16}$/, 'the log begins with its origin');
  t.match(JSON.parse(payload), { iss: origin });
  t.strictSame(await state(first), GOOD);

  const out = await cliJson(place, ['account', 'sign-out', email]);
  t.match(out, { email, sessions_ended: 1 });
  t.strictSame(await state(first), OVER);
  const second = await open(password);
  t.strictSame(await state(second), GOOD);
  const changed = await cliJson(place, ['account', 'password', email]);
  t.strictSame(await state(second), OVER);
  const third = await open((changed as { password: string }).password);
  await service.restart();
  t.strictSame(await state(first), OVER);
  t.strictSame(await state(second), OVER);
  t.strictSame(await state(third), GOOD, 'sessions outlive a restart');
});
