/** Another address to sign in with: the link to it, who hears of it, and who cannot have it. */
import { type Test, test } from 'tap';
import { addressHmac } from '../../src/accounts/accounts.ts';
import { KeyHolders } from '../../src/archive/keys.ts';
import { emailAggregate } from '../../src/domain/email.ts';
import { founderOf } from '../../src/domain/members.ts';
import { type Api, BASE, PASSWORD, refusal, startApi } from '../support/api.ts';
import { eraseAccount } from '../support/erase-account.ts';
import { bearerOf, joined } from '../support/every-people-answer.ts';
import { eventually } from '../support/deadline.ts';
import { newOperator } from '../support/operator.ts';
import { linkIn, startMailApi } from '../support/mail.ts';

const CHANGE = `${BASE}/account/email/`;
const CONFIRM = `${BASE}/auth/email/confirm/`;
const GONE = { status: 410, error: 'gone' };
const HOUR_MS = 60 * 60 * 1000;
type Headers = Readonly<Record<string, string>>;

const CONFIRMS = /^Confirm your address/;
const CHANGED = /^Your sign-in address .* was changed$/;

/** The API, and what waits for a mail of a subject to an address. */
async function open(t: Test) {
  const { server, ...started } = await startMailApi(t);
  const mailTo = (address: string, subject = CONFIRMS, count = 1) =>
    eventually(`mail ${count} to ${address}`, () => {
      const come = server.received.filter(({ to }) => to.includes(address));
      return come.filter(({ mail }) => subject.test(mail.subject ?? ''))[count - 1];
    });
  return { ...started, mailTo };
}

async function ownerOf(api: Api) {
  const account = await api.newAccount();
  return { ...account, headers: await bearerOf(api, account.email) };
}

const ask = (api: Api, headers: Headers, email: string, password: string = PASSWORD) =>
  api.call('POST', CHANGE, { headers, body: { email, password } });
const confirm = (api: Api, headers: Headers, token: string) =>
  api.call('POST', CONFIRM, { headers, body: { token } });
const signsIn = async (api: Api, email: string) =>
  (await api.call('POST', `${BASE}/auth/jwt/create/`, { body: { email, password: PASSWORD } }))
    .status === 200;
const tokenIn = (mail: Parameters<typeof linkIn>[0]) => linkIn(mail).split('#')[1] ?? '';
const personOf = async (api: Api, headers: Headers) =>
  (await api.call('GET', `${BASE}/account/person/`, { headers })).body;
const invalid = (...details: string[]) => ({ status: 400, error: 'validation_error', details });

async function summaries(api: Api, key: string) {
  const { body } = await api.call('GET', `${BASE}/account/events/?page_size=100`, { key });
  return body as unknown as readonly {
    type: string;
    summary: string;
    actor: object;
    data: object;
  }[];
}

void test('the link in the mail changes the address of a founder, and the former one is told', async (t) => {
  const { api, mailTo, events, logged } = await open(t);
  const owner = await ownerOf(api);
  const { email: former, headers, key, id } = owner;
  const answer = await ask(api, headers, ' Ada@New.example.com ');
  t.same([answer.status, answer.body], [200, { sends_mail: true }]);
  const sent = await mailTo('Ada@New.example.com');
  t.match(linkIn(sent), `${api.publicUrl}/confirm-email#`);
  t.ok(await signsIn(api, former), 'nothing has changed');
  t.notOk(await signsIn(api, 'ada@new.example.com'));

  t.equal((await confirm(api, {}, tokenIn(sent))).status, 401, 'the link alone does nothing');
  const stranger = await ownerOf(api);
  t.equal((await confirm(api, stranger.headers, tokenIn(sent))).status, 403, 'nor for others');
  t.equal((await confirm(api, headers, tokenIn(sent))).status, 204);
  const after = await bearerOf(api, 'ada@new.example.com');
  t.strictSame(refusal(await confirm(api, after, tokenIn(sent))), GONE);
  t.equal((await api.call('GET', `${BASE}/account/`, { headers })).status, 401, 'sessions end');
  t.equal((await api.call('GET', `${BASE}/account/`, { key })).status, 200, 'API keys do not');
  t.notOk(await signsIn(api, former));
  t.ok(await signsIn(api, 'ada@new.example.com'));
  const told = await mailTo(former, CHANGED);
  t.match(told.mail.text, 'You sign in with another address from now on.');
  t.notMatch(told.raw, /new\.example\.com/i, 'it does not name the other address');

  t.equal((await personOf(api, after))['email'], 'Ada@New.example.com');
  const { body } = await api.call('GET', `${BASE}/account/`, { key });
  t.equal(body['email'], 'Ada@New.example.com');
  const history = await summaries(api, key);
  const offered = history.find(({ type }) => type === 'EmailChangeOffered');
  t.match(offered, { actor: { kind: 'session', person: founderOf(id) } });
  t.match(offered?.summary, /^A person asked to sign in with another address\. A link is sent/);
  const changed = history.find(({ type }) => type === 'EmailChanged');
  t.match(changed, {
    summary: /^A person signs in with another address from now on/,
    data: { email: 'Ada@New.example.com', formerEmail: former },
  });
  t.notMatch(JSON.stringify([offered, changed]), /Hash/, 'hashes help nobody');
  await logged('MailSent', 2);
  const log = await api.log();
  t.notMatch(JSON.stringify(log), /new\.example\.com/i, 'the log has it encrypted');
  t.equal((await events('EmailReserved')).length, 3);
  const holders = new KeyHolders();
  holders.take((await api.store.readAll()).map((event) => ({ event })));
  t.equal(holders.open.get(founderOf(id)), id, 'a backup of the keys has the key of the person');

  // Whoever opens an account with the former address gets it.
  const { headers: next } = await ownerOf(api);
  const take = await ask(api, next, former);
  t.equal(take.status, 200);
  t.equal((await confirm(api, next, tokenIn(await mailTo(former)))).status, 204);
  t.ok(await signsIn(api, former));
});

void test('a member changes theirs, and a link to set a password that went to the former address ends', async (t) => {
  const { api, mailTo } = await open(t);
  const owner = await ownerOf(api);
  const bob = await joined(api, owner.headers, 'bob@example.com', 'auditor');
  const body = { email: 'bob@example.com' };
  t.equal((await api.call('POST', `${BASE}/auth/password/forgot/`, { body })).status, 202);
  const reset = tokenIn(await mailTo('bob@example.com', /^Set another password/));
  t.equal((await ask(api, bob.headers, 'robert@example.com')).status, 200);
  const token = tokenIn(await mailTo('robert@example.com'));
  t.equal((await confirm(api, bob.headers, token)).status, 204);
  const set = { token: reset, password: 'staple battery horse' };
  t.strictSame(
    refusal(await api.call('POST', `${BASE}/auth/password/reset/`, { body: set })),
    GONE,
  );
  t.equal((await api.call('GET', `${BASE}/sessions/`, { headers: bob.headers })).status, 401);
  const members = await api.call('GET', `${BASE}/account/members/`, { headers: owner.headers });
  t.match(members.text, '"robert@example.com"');
  t.notMatch(members.text, '"bob@example.com"');
  t.match(
    (await summaries(api, owner.key)).find(({ type }) => type === 'PersonEmailChanged'),
    { actor: { kind: 'session' }, data: { personId: bob.id, email: 'robert@example.com' } },
  );
});

void test('an address that somebody has is not disclosed, and of two who want one, one gets it', async (t) => {
  const { api, mailTo } = await open(t);
  const [one, two] = [await ownerOf(api), await ownerOf(api)];
  const taken = await ask(api, one.headers, two.email);
  t.same(taken.body, { sends_mail: true }, 'the same answer');
  const told = await mailTo(two.email, /./);
  t.match(told.mail.text, 'Your address has a sign-in already, so nothing was changed.');
  t.match(linkIn(told), /\/sign-in$/);

  const both = 'both@example.com';
  for (const { headers } of [one, two]) t.equal((await ask(api, headers, both)).status, 200);
  const mails = await Promise.all([1, 2].map((count) => mailTo(both, CONFIRMS, count)));
  const tokens = mails.map(tokenIn);
  const ofPerson = ({ id }: { id: string }) =>
    tokens.find((token) => token.startsWith(`email_${id.replace('acct_', '')}_`)) ?? '';
  const swapped = [
    [one, ofPerson(two)],
    [two, ofPerson(one)],
  ] as const;
  for (const [{ headers }, token] of swapped) {
    t.equal((await confirm(api, headers, token)).status, 403, 'the link of somebody else');
  }
  const used = await Promise.all(
    [one, two].map((owner) => confirm(api, owner.headers, ofPerson(owner))),
  );
  t.same(new Set(used.map(({ status }) => status)), new Set([204, 410]));
  t.ok(await signsIn(api, 'both@example.com'));
  const stays = await Promise.all([one, two].map(({ email }) => signsIn(api, email)));
  t.same(new Set(stays), new Set([false, true]), 'the other one signs in as before');
});

void test('who asks proves who they are, and what they ask for is an address', async (t) => {
  const { api, mailTo } = await open(t);
  const { headers, email, key } = await ownerOf(api);
  const wrong = await ask(api, headers, 'new@example.com', 'not the password');
  t.strictSame(refusal(wrong), invalid('password'));
  const without = await api.call('POST', CHANGE, { headers, body: { email: 'new@example.com' } });
  t.strictSame(refusal(without), invalid('password'));
  for (const each of ['nobody', email.toUpperCase()]) {
    t.strictSame(refusal(await ask(api, headers, each)), invalid('email'), each);
  }
  const byKey = await api.call('POST', CHANGE, { key, body: { email: 'n@example.com' } });
  t.equal(byKey.status, 403);
  t.equal((await ask(api, headers, 'first@example.com')).status, 200);
  const first = tokenIn(await mailTo('first@example.com'));
  t.equal((await ask(api, headers, 'second@example.com')).status, 200);
  const second = tokenIn(await mailTo('second@example.com'));
  const unknown = `email_${'0'.repeat(26)}_${'a'.repeat(43)}`;
  t.equal((await confirm(api, headers, unknown)).status, 403);
  for (const token of ['x', first, second.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))]) {
    t.strictSame(refusal(await confirm(api, headers, token)), GONE);
  }
  for (let times = 0; times < 3; times += 1) await ask(api, headers, `n${times}@example.com`);
  t.equal((await ask(api, headers, 'one-more@example.com')).status, 429);
  api.clock.time += HOUR_MS;
  const later = await bearerOf(api, email);
  t.strictSame(refusal(await confirm(api, later, second)), GONE, 'its hour is over');
});

void test('an address that a change has reserved and not taken is free once the link ends', async (t) => {
  const { api, mailTo } = await open(t);
  const [one, two] = [await ownerOf(api), await ownerOf(api)];
  const wanted = 'wanted@example.com';
  t.equal((await ask(api, one.headers, wanted)).status, 200);
  await mailTo(wanted);
  // What is left by a process that ended between its two events.
  const reserve = { type: 'ReserveEmail', accountId: one.id, forChange: true } as const;
  await api.actors.send(emailAggregate, addressHmac(api, wanted), reserve, api.context());
  t.notOk(await signsIn(api, wanted), 'it does not sign in');
  t.equal((await ask(api, two.headers, wanted)).status, 200);
  const token = tokenIn(await mailTo(wanted, CONFIRMS, 2));
  const early = await confirm(api, two.headers, token);
  t.strictSame(refusal(early), GONE, 'the first may use the link yet');
  api.clock.time += 2 * HOUR_MS;
  const { email } = two;
  const later = await bearerOf(api, email);
  t.equal((await ask(api, later, wanted)).status, 200);
  const third = tokenIn(await mailTo(wanted, CONFIRMS, 3));
  t.equal((await confirm(api, later, third)).status, 204);
  t.ok(await signsIn(api, wanted));
});

void test('an erased person has no address any more, and others can have it', async (t) => {
  const { api, mailTo, events } = await open(t);
  const [one, two] = [await ownerOf(api), await ownerOf(api)];
  t.equal((await ask(api, one.headers, 'one@example.com')).status, 200);
  const first = tokenIn(await mailTo('one@example.com'));
  t.equal((await confirm(api, one.headers, first)).status, 204);
  const [changed] = await events('EmailChanged');
  const { email, formerEmail } = changed?.facts ?? {};
  t.equal(await api.vault.unsealExactly(one.id, String(formerEmail)), one.email);
  await mailTo(one.email, CHANGED);
  await eraseAccount(api, one.id, api.context());
  for (const sealed of [email, formerEmail]) {
    await t.rejects(api.vault.unsealExactly(one.id, String(sealed)), { name: 'KeyErased' });
  }
  t.equal((await ask(api, two.headers, 'one@example.com')).status, 200);
  const second = tokenIn(await mailTo('one@example.com', CONFIRMS, 2));
  t.equal((await confirm(api, two.headers, second)).status, 204);
  t.ok(await signsIn(api, 'one@example.com'));
});

void test('without a mail server an operator changes it, and nobody else', async (t) => {
  const api = await startApi(t, { env: { SMTP_URL: '', OIDC_ISSUER: '' } });
  const [one, two, operator] = [await ownerOf(api), await ownerOf(api), await newOperator(api)];
  const refused = await ask(api, one.headers, 'new@example.com');
  t.same([refused.status, refused.body['error']], [403, 'forbidden']);
  t.match(refused.body['message'], /An operator of the service can change it: .*account prove/);
  const said = { email: one.email, reason: 'She called.', password: PASSWORD };
  const change = (email: string) =>
    operator.call('POST', '/addresses/prove/', { body: { ...said, new_email: email } });
  for (const taken of [two.email, one.email, 'nobody']) {
    t.strictSame(refusal(await change(taken)), invalid('new_email'), taken);
  }
  const present = await operator.call('POST', '/addresses/prove/', { body: said });
  t.strictSame(refusal(present), invalid('email'), 'that of a founder is proven');
  t.ok(await signsIn(api, one.email));
  t.match(await change('one@example.com'), { status: 200, body: { email: 'one@example.com' } });
  t.notOk(await signsIn(api, one.email));
  t.ok(await signsIn(api, 'one@example.com'));
  t.equal((await api.call('GET', `${BASE}/account/`, { headers: one.headers })).status, 401);
  t.match(
    (await summaries(api, one.key)).find(({ type }) => type === 'EmailChanged'),
    { actor: { kind: 'operator' }, data: { provenBy: 'operator' }, reason: 'She called.' },
  );
});
