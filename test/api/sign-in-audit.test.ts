import { test } from 'tap';
import { recordRefusal } from '../../src/accounts/sign-in-tries.ts';
import { RECORDED_AN_HOUR } from '../../src/domain/sign-in-trail.ts';
import { type Api, BASE, PASSWORD, refusal, startApi } from '../support/api.ts';
import { eventually } from '../support/deadline.ts';
import { HOUR_MS } from '../support/samples.ts';

const signIn = (api: Api, email: string, password: string) =>
  api.call('POST', `${BASE}/auth/jwt/create/`, { body: { email, password } });

const streamOf = (api: Api, name: string) => api.store.readStream(`signins-${name}`);
const unknownTrail = (api: Api) => `unknown-${new Date(api.clock.time).toISOString().slice(0, 10)}`;

async function trail(api: Api, name: string, length: number) {
  return await eventually(`${length} events`, async () => {
    const events = await streamOf(api, name);
    return events.length >= length ? events : undefined;
  });
}

void test('wrong sign-ins leave a trail that names nobody', async (t) => {
  const api = await startApi(t);
  const { id, email } = await api.newAccount();
  const balance = (await api.store.readStream(`account-${id}`)).length;
  t.equal((await signIn(api, email, 'wrong')).status, 401);
  t.equal((await signIn(api, 'Nobody@example.com', 'wrong')).status, 401);
  t.equal((await signIn(api, 'nobody@example.com ', 'wrong')).status, 401);
  t.equal((await signIn(api, email, PASSWORD)).status, 200);
  t.equal((await api.call('POST', `${BASE}/auth/jwt/create/`, { body: { email } })).status, 400);

  const known = await trail(api, id, 1);
  t.match(known, [{ type: 'SignInRefused', data: { accountId: id, refusedAt: api.clock.time } }]);
  const unknown = await trail(api, unknownTrail(api), 2);
  t.strictSame(
    unknown.map(({ type }) => type),
    ['UnknownSignInRefused', 'UnknownSignInRefused'],
  );
  const [first, second] = unknown.map(({ data }) => data as { address: string; client: string });
  t.strictSame(first, second, 'one address, however it is spelt, and one client');
  t.not(first?.address, first?.client);
  t.strictSame(Object.keys(unknown[0]?.metadata ?? {}).toSorted(), [
    'actor',
    'causationId',
    'correlationId',
    'requestId',
    'schemaVersion',
    'time',
  ]);
  const text = JSON.stringify([...known, ...unknown].map(({ data, metadata }) => [data, metadata]));
  t.notMatch(text, /example|127\.0\.0\.1/i);
  t.equal((await api.store.readStream(`account-${id}`)).length, balance, 'money is left alone');
});

void test('an attacker cannot fill the disk', async (t) => {
  const api = await startApi(t);
  const { id } = await api.newAccount();
  const attack = (accountId: string | undefined, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        recordRefusal(
          api,
          {
            email: `user${n}@example.org`,
            clientAddress: `192.0.2.${n % 250}`,
            requestId: `r-${n}`,
            loggedId: `l-${n}`,
          },
          accountId,
        ),
      ),
    );
  for (let round = 0; round < 4; round += 1) {
    await attack(id, 500);
    await attack(undefined, 500);
  }
  const counts = async (name: string) => {
    const events = await streamOf(api, name);
    const notes = events.filter(({ type }) => type === 'SignInsLeftOut');
    const last = notes.at(-1)?.data as { count: number } | undefined;
    return { one: events.length - notes.length, notes: notes.length, last: last?.count };
  };
  t.strictSame(await counts(id), { one: RECORDED_AN_HOUR.account, notes: 1, last: 1 });
  const unknown = unknownTrail(api);
  t.strictSame(await counts(unknown), { one: RECORDED_AN_HOUR.unknown, notes: 1, last: 1 });

  api.clock.time += HOUR_MS;
  await attack(id, 1);
  t.match(await counts(id), { one: RECORDED_AN_HOUR.account + 1, notes: 1 }, 'a new hour');
});

void test('a trail that cannot be written does not let anybody in or out', async (t) => {
  const api = await startApi(t, {
    replace: ({ vault }) => ({
      vault: {
        ...vault,
        seal: async (account, text) =>
          text === '127.0.0.1'
            ? Promise.reject(new Error('no keyring'))
            : vault.seal(account, text),
      },
    }),
  });
  const { email } = await api.newAccount();
  const wrong = await signIn(api, email, 'wrong');
  t.strictSame(refusal(wrong), { status: 401, error: 'unauthorized' });
  await eventually('the log line', () =>
    api.logged.some((line) => line.includes('is not recorded')) ? true : undefined,
  );
});
