/** Opening accounts by links: by an operator's invitation, and by an address that is confirmed by mail. */
import { test } from 'tap';
import { forgetEnded } from '../../src/accounts/erase-people.ts';
import { BASE, PASSWORD, refusal, startApi } from '../support/api.ts';
import { founderOf } from '../../src/domain/members.ts';
import { linkIn, startMailApi } from '../support/mail.ts';
import { newOperator } from '../support/operator.ts';

const SIGN_UP = `${BASE}/sign-up/`;
const tokenIn = (link: unknown): string => String(link).split('#').at(-1) ?? '';

type Caller = Pick<Awaited<ReturnType<typeof startApi>>, 'call'>;
const open = (api: Caller, token: string, password = PASSWORD) =>
  api.call('POST', `${SIGN_UP}${token}/accept/`, { body: { password } });
const signIn = (api: Caller, email: string) =>
  api.call('POST', `${BASE}/auth/jwt/create/`, { body: { email, password: PASSWORD } });

async function invite(api: Awaited<ReturnType<typeof startApi>>, body: object) {
  const response = await api.fetchAsOperator(`http://localhost${BASE}/operator/sign-ups/`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

void test('an operator’s link opens an account once, with the password of whoever has it', async (t) => {
  const api = await startApi(t, { env: { SIGN_UP: 'invitation' } });
  const made = await invite(api, { email: 'ann@example.com', plan: 'pro', credits: 7 });
  t.match(made, { status: 201, body: { link: /\/sign-up#[0-9a-z]{26}-[\w-]{43}$/ } });
  const token = tokenIn(made.body['link']);
  t.match(await api.call('GET', `${SIGN_UP}${token}/`), { body: { email: 'ann@example.com' } });
  t.match(refusal(await open(api, token, 'short')), { status: 400, details: ['password'] });
  t.equal((await signIn(api, 'ann@example.com')).status, 401, 'nothing is open before');
  const both = await Promise.all([open(api, token), open(api, token)]);
  t.equal(both.filter(({ status }) => status === 201).length, 1, 'one of two at once');
  t.match(
    both.find(({ status }) => status === 201),
    { body: { plan: 'pro', credits: 7 } },
  );
  const session = await signIn(api, 'ann@example.com');
  const headers = { Authorization: `Bearer ${String(session.body['access'])}` };
  const history = await api.call('GET', `${BASE}/account/events/?type=SignUpOffered`, { headers });
  t.match(history.body, [
    { actor: { kind: 'operator' }, summary: /^A link that opens an account/ },
  ]);
  t.equal((await open(api, token)).status, 410, 'used');
  for (const wrong of ['x', token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))]) {
    t.equal((await open(api, wrong)).status, 410, wrong);
  }
  t.match(refusal(await api.call('POST', SIGN_UP, { body: { email: 'b@example.com' } })), {
    status: 403,
  });
});

void test('an operator lists the links that nobody has used, and revokes them', async (t) => {
  const { api, mailNumber } = await startMailApi(t, { SIGN_UP: 'open' });
  const operator = await newOperator(api);
  const made = await invite(api, { email: 'ann@example.com', plan: 'pro', credits: 7 });
  api.clock.time += 1;
  await invite(api, { email: 'bob@example.com' });
  await api.call('POST', SIGN_UP, { body: { email: 'carol@example.com' } });
  const mailed = tokenIn(linkIn(await mailNumber(1)));
  const list = async () => (await operator.call('GET', '/sign-ups/')).body as unknown as object[];
  t.match(await list(), [
    { email: 'bob@example.com', plan: 'free' },
    { id: made.body['id'], email: 'ann@example.com', plan: 'pro', credits: 7 },
  ]);
  t.equal((await list()).length, 2, 'who asked by mail is not listed');
  t.notMatch(JSON.stringify(await list()), tokenIn(made.body['link']).split('-')[1]);
  const revoke = (id: string) => operator.call('DELETE', `/sign-ups/${id}/`);
  const id = String(made.body['id']);
  const both = await Promise.all([revoke(id), revoke(id)]);
  t.ok(both.some(({ status }) => status === 204));
  t.equal((await revoke(id)).status, 404);
  t.equal((await revoke(`acct_${mailed.slice(0, 26)}`)).status, 404);
  t.match(await list(), [{ email: 'bob@example.com' }]);
  const token = tokenIn(made.body['link']);
  t.equal((await open(api, token)).status, 410);
  await t.rejects(api.vault.dataKey(founderOf(id)), 'nothing is left of the address');
  const ended = (await api.log()).findLast(({ type }) => type === 'SignUpEnded');
  t.match(ended?.metadata, new RegExp(operator.id), 'the log says who it was');
  t.equal((await open(api, mailed)).status, 201);
  api.clock.time += 7 * 24 * 60 * 60 * 1000;
  t.strictSame((await operator.call('GET', '/sign-ups/')).status, 401, 'the session has ended');
});

void test('a link that is revoked while somebody opens an account with it opens none', async (t) => {
  let whileHashing: (() => Promise<unknown>) | undefined;
  const api = await startApi(t, {
    env: { SIGN_UP: 'invitation' },
    replace: ({ passwords }) => {
      const hash = passwords.hash.bind(passwords);
      passwords.hash = async (...given) => {
        await whileHashing?.();
        return await hash(...given);
      };
      return { passwords };
    },
  });
  const operator = await newOperator(api);
  const { body } = await invite(api, { email: 'ann@example.com' });
  whileHashing = () => operator.call('DELETE', `/sign-ups/${String(body['id'])}/`);
  t.equal((await open(api, tokenIn(body['link']))).status, 410);
  whileHashing = undefined;
  const again = await invite(api, { email: 'ann@example.com' });
  t.equal((await open(api, tokenIn(again.body['link']))).status, 201, 'the address is free');
});

void test('a link ends after its time, and nothing of it is left', async (t) => {
  const api = await startApi(t, { env: { SIGN_UP: 'invitation' } });
  const { body } = await invite(api, { email: 'ann@example.com' });
  api.clock.time += 7 * 24 * 60 * 60 * 1000;
  const token = tokenIn(body['link']);
  t.equal((await open(api, token)).status, 410);
  api.clock.time += 60 * 60 * 1000;
  await forgetEnded(api, (error) => t.fail(String(error)));
  const offered = (await api.log()).find(({ type }) => type === 'SignUpOffered');
  const { personId } = JSON.parse(offered?.data ?? '{}') as { personId: string };
  await t.rejects(api.vault.dataKey(personId), 'the key that sealed the address is destroyed');
  const again = await invite(api, { email: 'ann@example.com' });
  t.equal((await open(api, tokenIn(again.body['link']))).status, 201, 'another one can be made');
});

void test('an account is opened by an address that was confirmed, and no other is told of', async (t) => {
  const { api, server, mailNumber, logged } = await startMailApi(t, {
    SIGN_UP: 'open',
    FREE_CREDITS: '5',
  });
  const ada = await api.newAccount();
  const ask = (email: string) => api.call('POST', SIGN_UP, { body: { email } });
  const fresh = await ask('ann@example.com');
  const first = await mailNumber(1);
  const known = await ask(ada.email);
  const second = await mailNumber(2);
  t.strictSame([known.status, known.text], [fresh.status, fresh.text], 'the answers are the same');
  t.equal(fresh.status, 202);
  t.match(second.mail.text, /has a sign-in already/);
  t.notMatch(second.mail.text, /sign-up#/, 'no link opens a second account');
  const token = tokenIn(linkIn(first));
  t.match(await open(api, token), { status: 201, body: { credits: 5, plan: 'free' } });
  t.equal((await signIn(api, 'ann@example.com')).status, 200);

  await ask('bob@example.com');
  await ask('bob@example.com');
  t.equal((await ask('bob@example.com')).status, 202, 'a third is answered as the others');
  await logged('MailSent', 4);
  t.equal(server.received.length, 4, 'and sends nothing');
  const more = await Promise.all(Array.from({ length: 8 }, (_, n) => ask(`c${n}@example.com`)));
  t.ok(
    more.some(({ status }) => status === 429),
    'one client cannot go on',
  );
});
