/** Sign-ins in great number: what a stranger can do to the service, and to the owner of an account. */
import { type Test, test } from 'tap';
import { founderOf } from '../../src/domain/members.ts';
import { RIGHT_SIGN_INS } from '../../src/accounts/sign-in.ts';
import { WRONG_SIGN_INS } from '../../src/accounts/sign-in-tries.ts';
import { type Api, type ApiOptions, BASE, PASSWORD, refusal, startApi } from '../support/api.ts';
import { eventually } from '../support/deadline.ts';

const CREATE = `${BASE}/auth/jwt/create/`;
const WINDOW_MS = 15 * 60 * 1000;
/** Stored as a file, which needs a thread of those that hash passwords. */
const LARGE = `<p>${'x'.repeat(100_000)}</p>`;
const TOO_MANY = { status: 429, error: 'rate_limit_exceeded' };

/** Behind a proxy that says where each request comes from. */
const open = (t: Test, { env = {}, ...options }: ApiOptions = {}): Promise<Api> =>
  startApi(t, { ...options, env: { TRUST_PROXY: 'true', ...env } });

const signIn = (api: Api, from: string, email: string, password = 'a wrong guess') =>
  api.call('POST', CREATE, {
    body: { email, password },
    headers: { 'X-Forwarded-For': from },
  });

const in48 = (n: number): string => `2001:db8:7:${n.toString(16)}::1`;

const many = <T>(count: number, ask: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => ask(n)));

/** Each from a network of its own, so that no count of wrong ones stops them. */
const flood = (api: Api, count: number, see: () => void = () => {}) =>
  many(count, async (n) => {
    const from = `2001:db8:${n.toString(16)}::1`;
    const answer = await signIn(api, from, `user${n}@example.org`);
    see();
    return answer;
  });

void test('the rest of the service goes on while sign-ins wait', async (t) => {
  const api = await open(t, { env: { MAX_WAITING_SIGN_INS: '1000' } });
  const { key } = await api.newAccount();
  let judged = 0;
  const all = flood(api, 150, () => {
    judged += 1;
  });
  const others = Promise.all([
    api.call('GET', '/healthz'),
    api.call('POST', `${BASE}/pdf/`, { key, body: { html: LARGE } }),
  ]);
  t.match(await Promise.race([others, all]), [{ status: 200 }, { status: 202 }], 'first');
  t.ok(judged < 150, `when ${judged} of 150 sign-ins had their answer`);
  t.strictSame(
    (await all).map(({ status }) => status),
    Array.from({ length: 150 }, () => 401),
  );
});

void test('so many sign-ins are hashed and wait, and the others are told to come again', async (t) => {
  const api = await open(t);
  const { email } = await api.newAccount();
  const home = '192.0.2.1';
  t.equal((await signIn(api, home, email, PASSWORD)).status, 200);
  const [hashes, waiting] = [
    api.budgets.get('maxPasswordHashes'),
    api.budgets.get('maxWaitingSignIns'),
  ];
  const peak = { hashes: 0, waiting: 0 };
  const all = flood(api, 300, () => {
    peak.hashes = Math.max(peak.hashes, hashes.count().used);
    peak.waiting = Math.max(peak.waiting, waiting.count().used);
  });
  await eventually('the queue to be full', () => waiting.count().refused > 0 || undefined);
  // In the place of a stranger.
  t.equal((await signIn(api, home, email, PASSWORD)).status, 200, 'the owner signs in meanwhile');

  const refused = (await all).filter(({ status }) => status === 503);
  t.equal((await all).filter(({ status }) => status === 401).length, 300 - refused.length);
  t.ok(refused.length > 0, `${refused.length} of 300`);
  for (const each of refused) t.ok(Number(each.headers.get('retry-after')) > 0);
  t.ok(peak.hashes <= 2, `${peak.hashes} hashed at a time`);
  t.ok(peak.waiting <= 50, `${peak.waiting} waited`);
  t.equal(hashes.count().used + waiting.count().used, 0, 'all places are free again');
});

void test('a try that was not judged for want of a place counts as none', async (t) => {
  const api = await open(t, { env: { MAX_WAITING_SIGN_INS: '1', MAX_PASSWORD_HASHES: '1' } });
  const answers = await many(30, (n) => signIn(api, '192.0.2.1', `user${n}@example.org`));
  const judged = answers.filter(({ status }) => status === 401).length;
  t.ok(judged >= 2 && judged < 30, `${judged} of 30 were judged`);
  let more = 0;
  for (; (await signIn(api, '192.0.2.1', `next${more}@example.org`)).status === 401; more += 1);
  t.equal(judged + more, WRONG_SIGN_INS.address);
});

void test('strangers cannot lock the owner out', async (t) => {
  const api = await open(t);
  const { email } = await api.newAccount();
  const [home, abroad] = ['198.51.100.7', '203.0.113.50'];
  const owners = async (from: string) => (await signIn(api, from, email, PASSWORD)).status;
  t.equal(await owners(home), 200);
  t.equal(await owners('2001:db8:1:2:aaaa::1'), 200);
  const judged = (await many(12, (n) => signIn(api, `192.0.2.${n}`, email))).filter(
    ({ status }) => status === 401,
  );
  t.equal(judged.length, WRONG_SIGN_INS.account, 'then its password is judged for no stranger');
  t.strictSame(refusal(await signIn(api, '192.0.2.99', email)), TOO_MANY);
  t.equal(await owners(abroad), 429, 'the right one neither');
  t.equal(await owners(home), 200, 'the owner signs in where the owner did before');
  t.equal(await owners('2001:db8:1:2:bbbb::2'), 200, 'from the same /64 as well');
  t.equal(await owners('2001:db8:1:3::1'), 429);

  t.equal((await signIn(api, home, email)).status, 401);
  const own = await many(12, () => signIn(api, home, email));
  t.equal(own.filter(({ status }) => status === 401).length, WRONG_SIGN_INS.knownClient - 1);
  t.equal(await owners(home), 429, 'who guesses from there has a count of the same size');
  const { email: other } = await api.newAccount();
  t.equal((await signIn(api, home, other, PASSWORD)).status, 200, 'for this account alone');

  api.clock.time += WINDOW_MS;
  t.equal(await owners(abroad), 200);
  api.clock.time += 91 * 24 * 60 * 60 * 1000;
  await many(10, (n) => signIn(api, `192.0.2.${n}`, email));
  t.equal(await owners(abroad), 429, 'a client is not known for ever');
});

void test('an address of another account is not the owner’s', async (t) => {
  const api = await open(t);
  const [victim, attacker] = [await api.newAccount(), await api.newAccount()];
  const from = '192.0.2.66';
  t.equal((await signIn(api, from, attacker.email, PASSWORD)).status, 200);
  await many(10, (n) => signIn(api, `192.0.2.${n}`, victim.email));
  t.strictSame(refusal(await signIn(api, from, victim.email, PASSWORD)), TOO_MANY);
});

void test('failures count for a network, and in all', async (t) => {
  const api = await open(t, { env: { MAX_WAITING_SIGN_INS: '100000' } });
  const { email } = await api.newAccount();
  const home = '198.51.100.7';
  t.equal((await signIn(api, home, email, PASSWORD)).status, 200);
  const judged = async (count: number, from: (n: number) => string): Promise<number> => {
    const answers = await many(count, (n) => signIn(api, from(n), `${from(n)}@example.org`));
    return answers.filter(({ status }) => status === 401).length;
  };
  t.equal(await judged(120, (n) => `192.0.2.${n}`), WRONG_SIGN_INS.network, 'an IPv4 /24');
  t.equal(await judged(1, () => '192.0.3.1'), 1);
  t.equal(await judged(120, in48), WRONG_SIGN_INS.network, 'an IPv6 /48');
  t.equal(await judged(1, () => '2001:db8:8::1'), 1);

  // What other nodes, or other strangers before, have counted.
  const { all, windowMs } = WRONG_SIGN_INS;
  for (let n = 0; n < all; n += 1)
    await api.rateLimiter.consume('sign-in:all', { limit: all, windowMs });
  t.equal(await judged(1, () => '203.0.113.1'), 0, 'all strangers together');
  t.strictSame(refusal(await signIn(api, '203.0.113.1', email, PASSWORD)), TOO_MANY);
  t.equal((await signIn(api, home, email, PASSWORD)).status, 200, 'owners still get in');
});

void test('the owner cannot fill the log with sign-ins from many networks', async (t) => {
  const api = await open(t);
  const [{ id, email }, other] = [await api.newAccount(), await api.newAccount()];
  // But for two, they came before, perhaps over other nodes.
  for (let n = 2; n < RIGHT_SIGN_INS.limit; n += 1)
    await api.rateLimiter.consume(`sign-in:right:${founderOf(id)}`, RIGHT_SIGN_INS);
  const before = await api.store.head();
  const answers = await many(10, (n) => signIn(api, in48(n), email, PASSWORD));
  t.equal(answers.filter(({ status }) => status === 200).length, 2);
  t.equal(answers.filter(({ status }) => status === 429).length, 8);
  t.equal((await api.store.head()) - before, 2n, 'the others left nothing in the log');
  t.equal((await signIn(api, in48(1), email)).status, 401, 'who guesses learns nothing of it');
  t.equal((await signIn(api, in48(1), other.email, PASSWORD)).status, 200);
  api.clock.time += WINDOW_MS;
  t.equal((await signIn(api, in48(1), email, PASSWORD)).status, 200);
});

void test('a known client is known to no reader of the log', async (t) => {
  const api = await open(t);
  const { email } = await api.newAccount();
  t.equal((await signIn(api, '198.51.100.7', email, PASSWORD)).status, 200);
  const [opened] = (await api.log()).filter(({ type }) => type === 'SessionOpened');
  t.notMatch(`${opened?.data}${opened?.metadata}`, /198\.51|example\.com/);
  t.match(opened?.data, /"client":"[0-9a-f]{64}"/);
});
