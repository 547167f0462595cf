/** Mails: what goes out, to whom, what the log says of it, and what no server can make of it. */
import type { Database } from 'better-sqlite3';
import { test } from 'tap';
import { sendToAccount } from '../../src/accounts/accounts.ts';
import {
  askForReset,
  loginByAddress,
  offerPasswordReset,
} from '../../src/accounts/password-reset.ts';
import { type MailQueries, mailQueries } from '../../projections/mail-queries.ts';
import { KEY_WARNING_MS } from '../../projections/mails.ts';
import { GIVEN_UP_AFTER_MS } from '../../src/domain/mail.ts';
import type { ActorSystem } from '../../src/actors/system.ts';
import { startPasswordResets } from '../../src/process-managers/password-resets.ts';
import { EventStoreUnavailable } from '../../src/event-store/port.ts';
import { webhooksAggregate } from '../../src/domain/webhooks.ts';
import { type Api, BASE, PASSWORD, startApi } from '../support/api.ts';
import { eraseAccount } from '../support/erase-account.ts';
import { accept, bearerOf, invitedToken } from '../support/every-people-answer.ts';
import { linkIn, mailTools, startMailApi, startMailing } from '../support/mail.ts';
import { startMailServer, startScriptedServer } from '../support/mail-server.ts';

const MEMBERS = `${BASE}/account/members/`;
const FORGOTTEN = `${BASE}/auth/password/forgot/`;
const RESET = `${BASE}/auth/password/reset/`;
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

async function ownerOf(api: Api) {
  const account = await api.newAccount();
  return { ...account, headers: await bearerOf(api, account.email) };
}

const invite = (api: Api, headers: Readonly<Record<string, string>>, email: string) =>
  api.call('POST', MEMBERS, { headers, body: { email, role: 'member' } });

/** The summaries of the account's events of mails, newest first. */
async function history(api: Api, key: string): Promise<readonly string[]> {
  const { body } = await api.call('GET', `${BASE}/account/events/?page_size=100`, { key });
  const entries = body as unknown as readonly { type: string; summary: string }[];
  return entries.filter(({ type }) => /^Mail(Sent|Failed)$/.test(type)).map((each) => each.summary);
}

void test('an invitation brings the link, and works', async (t) => {
  const { api, mailNumber, logged, events } = await startMailApi(t);
  const owner = await ownerOf(api);
  await api.call('PATCH', `${BASE}/account/person/`, {
    headers: owner.headers,
    body: { name: '<b>Ada</b> & Söhne' },
  });
  const invited = await invite(api, owner.headers, 'Bob@example.com');
  t.equal(invited.body['sends_mail'], true);
  const received = await mailNumber(1);
  const { from, to, mail, raw } = received;
  t.same([from, to], ['pdf@example.com', ['Bob@example.com']]);
  t.equal(invited.body['link'], null, 'the mail alone has it');
  t.match(mail.text, '<b>Ada</b> & Söhne invites you');
  t.match(mail.html, '&#60;b&#62;Ada&#60;/b&#62; &#38; Söhne invites you');
  t.notMatch(mail.html, /<(img|script|link|iframe)|url\(|@import|https?:\/\/(?!127)/i);
  t.match(raw, /^auto-submitted: auto-generated\r$/im);
  const [sent] = await logged('MailSent');
  t.match(sent?.facts, { kind: 'invitation', accountId: owner.id, personId: invited.body['id'] });
  t.equal(mail.messageId, `<${String(sent?.facts['mailId'])}@example.com>`);
  t.same(await history(api, owner.key), [
    'A mail with an invitation was handed to the mail server.',
  ]);

  const token = linkIn(received).split('#')[1] ?? '';
  const log = JSON.stringify(await api.log());
  t.notMatch(log, token, 'the log has the hash of the secret alone');
  t.notMatch(log, /bob@example/i);
  t.equal((await events('MailSwitched')).length, 1);

  t.equal((await accept(api, token)).status, 200);
  t.equal((await accept(api, token)).status, 410);
});

void test('a stranger gets no link but that of the service, whatever the inviter is called', async (t) => {
  const { api, mailNumber } = await startMailApi(t);
  const owner = await ownerOf(api);
  const person = `${BASE}/account/person/`;
  const name = 'Urgent: pay at https://evil.example, www.evil.example or me@evil.example.';
  await api.call('PATCH', person, { headers: owner.headers, body: { name } });
  await invite(api, owner.headers, 'bob@example.com');
  const { mail } = await mailNumber(1);
  t.match(mail.text, 'Urgent: pay at https evil example, www evil example or me e… invites you');
  for (const shown of [mail.text, mail.html]) t.notMatch(shown, /evil\.|www\.|@evil|\/evil/);
});

void test('without a mail server nothing is promised, and nothing follows when there is one', async (t) => {
  const api = await startApi(t, { env: { SMTP_URL: '' } });
  const owner = await ownerOf(api);
  t.equal((await invite(api, owner.headers, 'bob@example.com')).body['sends_mail'], false);
  const server = await startMailServer(t);
  startMailing(t, api, server.url);
  const { logged } = mailTools(api, server.received);
  await logged('MailSwitched');
  t.same(server.received, []);
});

void test('an address gets two invitations in a quarter of an hour, and an account sends twenty', async (t) => {
  const { api } = await startMailApi(t);
  api.clock.time = Math.ceil(api.clock.time / (HOUR_MS / 4)) * (HOUR_MS / 4) + 1;
  const [one, other] = [await ownerOf(api), await ownerOf(api)];
  const status = async ({ headers }: typeof one, email: string) =>
    (await invite(api, headers, email)).status;
  t.same([await status(one, 'a@b.example'), await status(other, 'A@b.example')], [201, 201]);
  t.equal(await status(other, 'a@b.example'), 429);
  for (let n = 2; n <= 20; n += 1) t.equal(await status(one, `n${n}@b.example`), 201);
  t.match(await invite(api, one.headers, 'one-more@b.example'), {
    status: 429,
    body: { message: /too many invitations by mail\. Try again in \d+ seconds/ },
  });
  t.equal(await status(other, 'one-more@b.example'), 201);
});

void test('invitations to an address do not keep away the mail that sets a password, nor the reverse', async (t) => {
  const { api, mailNumber } = await startMailApi(t);
  api.clock.time = Math.ceil(api.clock.time / (HOUR_MS / 4)) * (HOUR_MS / 4) + 1;
  const [ada, eve] = [await ownerOf(api), await ownerOf(api)];
  const forget = (email: string) => api.call('POST', FORGOTTEN, { body: { email } });
  const statuses = [];
  for (let n = 0; n < 3; n += 1) statuses.push((await invite(api, eve.headers, ada.email)).status);
  t.same(statuses, [201, 201, 429], 'the invitations are used up');
  await mailNumber(2);
  t.equal((await forget(ada.email)).status, 202);
  const reset = await mailNumber(3);
  t.match([reset.to, reset.mail.subject], [[ada.email], 'Set another password for Pressledger']);
  await forget(eve.email);
  await mailNumber(4);
  await forget(eve.email);
  await mailNumber(5);
  t.equal((await invite(api, ada.headers, eve.email)).status, 201);
  t.match((await mailNumber(6)).mail.subject, /^You are invited/);
});

void test('what could not be recorded uses up no mails', async (t) => {
  let isAway = true;
  const { api, mailNumber } = await startMailApi(t, {}, ({ actors }) => ({
    actors: Object.assign(Object.create(actors) as ActorSystem, {
      read: (...of: Parameters<ActorSystem['read']>) => actors.read(...of),
      send: async (...of: Parameters<ActorSystem['send']>) => {
        const { type } = of[2] as { readonly type: string };
        const asks = type === 'AskReset' || type === 'InviteMember';
        if (isAway && asks) throw new EventStoreUnavailable('away');
        return await actors.send(...of);
      },
    }),
  }));
  const owner = await ownerOf(api);
  const ask = async () => [
    (await api.call('POST', FORGOTTEN, { body: { email: owner.email } })).status,
    (await invite(api, owner.headers, 'a@b.example')).status,
  ];
  for (let n = 0; n < 3; n += 1) t.same(await ask(), [503, 503]);
  isAway = false;
  t.same(await ask(), [202, 201]);
  const sent = [await mailNumber(1), await mailNumber(2)];
  t.same(sent.flatMap(({ to }) => to).toSorted(), ['a@b.example', owner.email].toSorted());
});

void test('a mail that becomes due while others are looked for is sent at once', async (t) => {
  const { api, mailNumber, server, sender } = await startMailApi(t);
  await sender.stop();
  const { key } = await api.newAccount();
  const since = api.clock.time + HOUR_MS;
  const body = { name: 'ends', expires_at: new Date(since + KEY_WARNING_MS).toISOString() };
  t.equal((await api.call('POST', `${BASE}/api-keys/`, { key, body })).status, 201);
  let time = since - 1;
  const query = (factory: (db: Database) => unknown): unknown => {
    const queries = api.readModel.query(factory);
    if (factory !== mailQueries) return queries;
    const mails = queries as MailQueries;
    const due: MailQueries['due'] = (...of) => {
      const rows = mails.due(...of);
      time = since;
      return rows;
    };
    return { ...mails, due };
  };
  const readModel = new Proxy(api.readModel, {
    get: (target, name) => (name === 'query' ? query : Reflect.get(target, name, target)),
  });
  startMailing(t, { ...api, readModel, clock: { ...api.clock, now: () => time } }, server.url);
  t.equal((await mailNumber(1)).mail.subject, 'An API key expires soon');
});

void test('a mail is sent at once although the clock was ahead when it was asked for', async (t) => {
  const { api, mailNumber, server, sender } = await startMailApi(t);
  await sender.stop();
  const now = api.clock.time;
  api.clock.time = now + HOUR_MS;
  const owner = await ownerOf(api);
  t.equal((await invite(api, owner.headers, 'bob@example.com')).status, 201);
  api.clock.time = now;
  startMailing(t, api, server.url);
  t.same((await mailNumber(1)).to, ['bob@example.com']);
});

void test('a mail that is put off is sent later, and one that is refused never', async (t) => {
  const { api, server, sender, logged, mailNumber } = await startMailApi(t);
  const owner = await ownerOf(api);
  server.answers.recipient = (address) => (address.startsWith('never') ? 550 : 451);
  await invite(api, owner.headers, 'later@example.com');
  const [put] = await logged('MailFailed');
  t.match(put?.facts, { failure: 'deferred', status: 451, attempt: 1 });
  await invite(api, owner.headers, 'never@example.com');
  const refusal = (await logged('MailFailed', 2))[1]?.facts;
  t.match(refusal, { failure: 'refused', status: 550 });
  t.equal(refusal?.['nextAt'], undefined);
  server.answers.recipient = () => undefined;
  api.clock.time = Number(put?.facts['nextAt']) + 1;
  sender.wake();
  t.same((await mailNumber(1)).to, ['later@example.com']);
  await logged('MailSent');
  const [sent, never, later] = await history(api, owner.key);
  t.equal(sent, 'A mail with an invitation was handed to the mail server.');
  t.match(never, /^A mail with an invitation was not sent: the mail server answered with 550\.$/);
  t.match(later, /answered with 451\. The next try is at /);
});

void test('mails wait while the server takes none, and are given up after three days', async (t) => {
  const scripted = await startScriptedServer(t);
  const settings = { SMTP_URL: scripted.url, MAIL_FROM: 'pdf@example.com' };
  const api = await startApi(t, { env: settings });
  const { events, logged } = mailTools(api, []);
  Object.assign(scripted.behaviour, { at: 'greeting', does: '554 not now' });
  const owner = await ownerOf(api);
  await invite(api, owner.headers, 'bob@example.com');
  const sender = startMailing(t, api, scripted.url);
  await logged('MailSwitched');
  api.clock.time += GIVEN_UP_AFTER_MS - HOUR_MS;
  sender.wake();
  t.same(await events('MailFailed'), [], 'a server that is away costs no try');
  api.clock.time += 2 * HOUR_MS;
  sender.wake();
  const [failed] = await logged('MailFailed');
  t.match(failed?.facts, { failure: 'given_up' });
  t.same(scripted.messages, []);
  t.match((await history(api, owner.key)).join(), /there was no way to send it for three days\.$/);
});

void test('a mail whose answer was lost comes again under the same Message-ID', async (t) => {
  const scripted = await startScriptedServer(t);
  const settings = { SMTP_URL: scripted.url, MAIL_FROM: 'pdf@example.com' };
  const api = await startApi(t, { env: settings });
  const { logged } = mailTools(api, []);
  Object.assign(scripted.behaviour, { at: 'message', does: 'close' });
  const owner = await ownerOf(api);
  await invite(api, owner.headers, 'bob@example.com');
  const first = startMailing(t, api, scripted.url);
  const [failed] = await logged('MailFailed');
  t.match(failed?.facts, { failure: 'connection_failed', attempt: 1 });
  await first.stop();
  Object.assign(scripted.behaviour, { at: undefined });
  // Another process: what was tried, and when it is next, is in the log.
  api.clock.time = Number(failed?.facts['nextAt']) + 1;
  startMailing(t, api, scripted.url);
  const [sent] = await logged('MailSent');
  t.match(sent?.facts, { attempt: 2 });
  t.equal(scripted.messages.length, 2);
  t.equal(new Set(scripted.messages).size, 1);
});

void test('what waits is dropped when its invitation, its person or its account ends', async (t) => {
  const { api, server, sender, logged, mailNumber } = await startMailApi(t);
  const [owner, other] = [await ownerOf(api), await ownerOf(api)];
  server.answers.recipient = () => 451;
  const revoked = await invite(api, owner.headers, 'revoked@example.com');
  const accepted = await invite(api, owner.headers, 'accepted@example.com');
  await invite(api, other.headers, 'erased@example.com');
  await invite(api, owner.headers, 'expired@example.com');
  const tries = await logged('MailFailed', 4);
  const next = Math.max(...tries.map(({ facts }) => Number(facts['nextAt'])));
  await api.call('DELETE', `${MEMBERS}${String(revoked.body['id'])}/`, { headers: owner.headers });
  await accept(api, await invitedToken(api, accepted), {
    name: 'Bob',
    password: PASSWORD,
  });
  await eraseAccount(api, other.id, api.context());
  server.answers.recipient = () => undefined;
  api.clock.time = next + 1;
  await invite(api, owner.headers, 'last@example.com');
  sender.wake();
  const to = [(await mailNumber(1)).to, (await mailNumber(2)).to].flat();
  t.same(to.toSorted(), ['expired@example.com', 'last@example.com']);
  await logged('MailSent', 2);
});

/** Ends what was sent so far, so that what follows is counted from here. */
async function session(api: Api, email: string, headers: Readonly<Record<string, string>> = {}) {
  const body = { email, password: PASSWORD };
  const answer = await api.call('POST', `${BASE}/auth/jwt/create/`, { body, headers });
  return { Authorization: `Bearer ${String(answer.body['access'])}` };
}

void test('a forgotten password is set by a link that is mailed, once', async (t) => {
  const { api, mailNumber, logged } = await startMailApi(t);
  const owner = await ownerOf(api);
  const bob = await accept(
    api,
    await invitedToken(api, await invite(api, owner.headers, 'bob@example.com')),
  );
  t.equal(bob.status, 200);
  // The invitation.
  let sent = (await logged('MailSent')).length;
  for (const email of [owner.email.toUpperCase(), 'bob@example.com']) {
    const before = await api.log();
    const asked = await api.call('POST', FORGOTTEN, { body: { email } });
    t.equal(asked.status, 202);
    sent = (await logged('MailSent', sent + 1)).length;
    const received = await mailNumber(sent);
    t.match(received.mail.subject, /^Set another password/);
    const token = linkIn(received).split('#')[1] ?? '';
    t.match(linkIn(received), /\/reset-password#reset_/);
    const after = await api.log();
    t.notMatch(JSON.stringify(after), token);
    t.ok(after.length > before.length);
    const reset = { body: { token, password: 'quite another password' } };
    t.equal((await api.call('POST', RESET, reset)).status, 204);
    t.equal((await api.call('POST', RESET, reset)).status, 410);
    const again = { email, password: 'quite another password' };
    t.equal((await api.call('POST', `${BASE}/auth/jwt/create/`, { body: again })).status, 200);
  }
  const [last] = await history(api, owner.key);
  t.match(last, /^A mail with a link to set a password was handed to the mail server\./);
});

void test('a stranger who asks for links learns nothing, and ends none', async (t) => {
  const { api, mailNumber, logged, server, events } = await startMailApi(t);
  // Quarters of an hour begin with those of the clock.
  api.clock.time = Math.ceil(api.clock.time / (HOUR_MS / 4)) * (HOUR_MS / 4) + 1;
  const owner = await ownerOf(api);
  const ask = (email: string) => api.call('POST', FORGOTTEN, { body: { email } });
  const [known, unknown] = [await ask(owner.email), await ask('nobody@example.com')];
  t.same([known.status, known.text], [unknown.status, unknown.text]);
  const first = linkIn(await mailNumber(1));
  // Another one to the same address: the first link still works, because it is the same.
  api.clock.time += 10 * 60 * 1000;
  await ask(owner.email);
  await logged('MailSent', 2);
  t.equal(linkIn(await mailNumber(2)), first);
  // The third in a quarter of an hour has the same answer, and is not sent.
  const third = await ask(owner.email);
  t.same([third.status, third.text], [known.status, known.text]);
  await ask('somebody-else@example.com');
  api.clock.time += 60 * 60 * 1000;
  const body = { token: first.split('#')[1], password: 'quite another password' };
  t.equal((await api.call('POST', RESET, { body })).status, 410, 'after an hour');
  await ask(owner.email);
  await logged('MailSent', 3);
  t.not(linkIn(await mailNumber(3)), first, 'a link that has ended never comes back');
  t.equal(server.received.length, 3);
  t.equal((await events('PasswordResetOffered')).length, 3);
  for (let n = 0; n < 10; n += 1) await ask(`n${n}@example.com`);
  const refused = await ask('n11@example.com');
  t.equal(refused.status, 429);
  t.same(await ask(owner.email).then(({ status }) => status), 429);
});

void test('the answer to a forgotten password does not wait for what is known of the address', async (t) => {
  let isHeld = false;
  const never = new Promise<never>(() => {});
  const api = await startApi(t, {
    replace: ({ actors }) => ({
      actors: Object.assign(Object.create(actors) as ActorSystem, {
        read: (...given: Parameters<ActorSystem['read']>) =>
          isHeld ? never : actors.read(...given),
        // What is recorded of the request knows nothing of who has the address.
        send: (...given: Parameters<ActorSystem['send']>) =>
          isHeld && given[0].name !== 'reset-ask' ? never : actors.send(...given),
      }),
    }),
  });
  const { email } = await api.newAccount();
  isHeld = true;
  t.equal((await api.call('POST', FORGOTTEN, { body: { email } })).status, 202);
});

void test('a link that was asked for is mailed, also where the process ended right after its answer', async (t) => {
  const { api, logged, mailNumber, server } = await startMailApi(t);
  const { email } = await api.newAccount();
  // What the API records before it answers, and nothing of what follows.
  for (const each of ['nobody@example.com', email, 'nobody-else@example.com']) {
    t.ok(await askForReset(api, each, api.clock.now()));
  }
  const asks = (await api.log()).filter(({ type }) => type === 'PasswordResetAsked');
  t.same(
    asks.map(({ metadata, data }) => [Object.keys(JSON.parse(data)), JSON.parse(metadata).actor]),
    Array.from({ length: 3 }, () => [['address', 'askedAt'], { kind: 'anonymous' }]),
    'the same for all',
  );
  api.clock.time += 31_000;
  // The first request fails once: it neither holds up the others, nor is it forgotten.
  let isFirst = true;
  const send: typeof api.actors.send = (aggregate, id, ...rest) => {
    if (!isFirst || aggregate.name !== 'reset-ask') return api.actors.send(aggregate, id, ...rest);
    isFirst = false;
    return Promise.reject(new Error('a fault'));
  };
  const actors = new Proxy(api.actors, {
    get: (target, name) => {
      const value: unknown = name === 'send' ? send : Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const follower = startPasswordResets({ ...api, actors, restMs: 1 });
  t.teardown(() => follower.stop());
  await logged('PasswordResetAnswered', 3);
  await logged('MailSent', 1);
  const token = linkIn(await mailNumber(1)).split('#')[1];
  const body = { token, password: 'quite another password' };
  t.equal((await api.call('POST', RESET, { body })).status, 204);
  follower.wake();
  await follower.stop();
  t.equal(server.received.length, 1);
});

void test('a request that cannot be followed holds up no other, and is given up after an hour', async (t) => {
  const { api, logged, mailNumber, events } = await startMailApi(t);
  const [broken, other] = [await api.newAccount(), await api.newAccount()];
  for (const { email } of [broken, other]) t.ok(await askForReset(api, email, api.clock.now()));
  api.clock.time += 31_000;
  const failures: unknown[] = [];
  const vault = Object.assign(Object.create(api.vault) as typeof api.vault, {
    linkSecret: (...given: Parameters<typeof api.vault.linkSecret>) =>
      given[0] === broken.id
        ? Promise.reject(new Error('its key cannot be read'))
        : api.vault.linkSecret(...given),
  });
  const logger = Object.assign(Object.create(api.logger) as typeof api.logger, {
    error: ({ address }: { readonly address: unknown }) => failures.push(address),
  });
  const follower = startPasswordResets({ ...api, vault, logger, restMs: 1 });
  t.teardown(() => follower.stop());
  t.same((await mailNumber(1)).to, [other.email]);
  await logged('PasswordResetAnswered', 1);
  t.ok(failures.length > 0);
  t.equal(new Set(failures).size, 1, 'one failed');
  api.clock.time += HOUR_MS;
  follower.wake();
  const [, ended] = await logged('PasswordResetAnswered', 2);
  t.match(ended?.facts, { address: failures[0], givenUp: true });
  await api.runner.waitFor(await api.store.head());
  const queries = api.readModel.query(mailQueries);
  t.same(queries.resetAsks(api.clock.now(), 10), []);
  t.match(queries.totals(api.clock.now()), { failed: 1, lastFailedAt: api.clock.now() });
  t.equal((await events('PasswordResetOffered')).length, 1);
});

void test('the link of an operator stays when a stranger asks for a mail', async (t) => {
  const { api, logged } = await startMailApi(t);
  const account = await api.newAccount();
  const login = await loginByAddress(api, account.email);
  const offered = await offerPasswordReset(api, login, api.clock.now(), async () => api.context());
  await api.call('POST', FORGOTTEN, { body: { email: account.email } });
  await logged('MailSent');
  const body = { token: offered.token, password: 'quite another password' };
  t.equal((await api.call('POST', RESET, { body })).status, 204);
});

void test('a sign-in from another address is told to its person, the first one is not', async (t) => {
  const { api, mailNumber, logged, server } = await startMailApi(t, { TRUST_PROXY: 'true' });
  const { email, key } = await api.newAccount();
  const from = (address: string) => session(api, email, { 'X-Forwarded-For': address });
  await from('192.0.2.1');
  await from('192.0.2.1');
  await from('192.0.2.2');
  await logged('MailSent');
  const { to, mail } = await mailNumber(1);
  t.same(to, [email]);
  t.match(mail.text, /from an address that you have not signed in from/);
  t.match(mail.text, 'Address: 192.0.2.2');
  t.match(mail.text, 'Program: ');
  t.match((await history(api, key))[0], /^A mail about a sign-in from a new place was handed/);
  // Programs that come from everywhere: ten in a day, and no more.
  for (let n = 3; n <= 20; n += 1) await from(`198.51.100.${n}`);
  await logged('MailSent', 10);
  await api.call('POST', FORGOTTEN, { body: { email } });
  await logged('MailSent', 11);
  t.equal(server.received.filter((each) => /sign-in/.test(each.mail.subject ?? '')).length, 10);
});

void test('owners are told once each time that credits fall below the limit', async (t) => {
  const { api, logged, server } = await startMailApi(t);
  const account = await api.newAccount({ credits: 5 });
  const { id, key, email } = account;
  const headers = await bearerOf(api, email);
  const low = `${BASE}/account/low-credits/`;
  t.same((await api.call('GET', low, { key })).body, { below: null });
  t.same((await api.call('PUT', low, { key, body: { below: 4 } })).body, { below: 4 });
  const convert = () => api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  await convert();
  await convert();
  await convert();
  await logged('MailSent', 1);
  t.match(server.received[0]?.mail.text, 'Fewer than 4 credits of the account are left.');
  t.match(server.received[0]?.mail.text, 'Left then: 3');
  const grant = (amount: number) =>
    sendToAccount(
      api,
      { type: 'GrantCredits', accountId: id, amount, now: api.clock.now() },
      api.context(),
    );
  await grant(2);
  await convert();
  await logged('MailSent', 2);
  t.equal((await invite(api, headers, 'last@example.com')).body['sends_mail'], true);
  await logged('MailSent', 3);
  const kinds = server.received.map(({ mail }) => mail.subject?.split(' ')[0]);
  t.same(kinds, ['Credits', 'Credits', 'You']);

  t.same((await api.call('PUT', low, { key, body: { below: 0 } })).body, { below: 0 });
  await grant(5);
  for (let n = 0; n < 8; n += 1) await convert();
  t.equal((await api.call('DELETE', low, { key })).status, 204);
  t.same((await api.call('GET', low, { key })).body, { below: null });
  const mails = `${BASE}/account/mails/`;
  const off = { headers, body: { credits_low: false } };
  t.match((await api.call('PATCH', mails, off)).body, { credits_low: false, key_expiring: true });
  await grant(100);
  for (let n = 0; n < 95; n += 1) await convert();
  await invite(api, headers, 'very-last@example.com');
  await logged('MailSent', 4);
  t.equal(server.received.length, 4, 'nothing that is switched off');
  t.match((await api.call('GET', mails, { headers })).body, {
    sends_mail: true,
    credits_low: false,
  });
});

void test('owners are told of an endpoint that was switched off', async (t) => {
  const { api, logged, server } = await startMailApi(t);
  const account = await api.newAccount();
  const { key, id } = account;
  const url = 'https://example.com/<script>?a=1&b="2"';
  const made = await api.call('POST', `${BASE}/webhooks/`, { key, body: { url } });
  const webhookId = String(made.body['id']);
  const now = api.clock.now();
  const command = {
    type: 'DisableWebhook',
    accountId: id,
    webhookId,
    reason: 'failing',
    since: now,
    now,
  } as const;
  await api.actors.send(webhooksAggregate, id, command, api.context());
  await logged('MailSent');
  const { mail, to } = server.received[0] ?? {};
  t.same(to, [account.email]);
  t.match(mail?.text, 'Every try since ');
  t.match(mail?.text, new URL(url).href);
  t.notMatch(mail?.html, '<script>');
});

void test('the maker of a key is told of its end 7 days before, unless it was revoked', async (t) => {
  const { api, logged, sender, server } = await startMailApi(t);
  const owner = await ownerOf(api);
  const expires_at = new Date(api.clock.now() + 30 * DAY_MS).toISOString();
  const make = async (name: string, at = expires_at) => {
    const { body } = await api.call('POST', `${BASE}/api-keys/`, {
      headers: owner.headers,
      body: { name, expires_at: at },
    });
    return String(body['id']);
  };
  await make('the <b>one</b>');
  const revoked = await make('revoked');
  await make('short', new Date(api.clock.now() + 5 * DAY_MS).toISOString());
  await api.call('DELETE', `${BASE}/api-keys/${revoked}/`, { headers: owner.headers });
  api.clock.time += 22 * DAY_MS;
  sender.wake();
  const headers = await bearerOf(api, owner.email);
  await invite(api, headers, 'first@example.com');
  await logged('MailSent');
  t.same(
    server.received.map(({ mail }) => mail.subject?.split(' ')[0]),
    ['You'],
  );
  api.clock.time += 2 * DAY_MS;
  sender.wake();
  await logged('MailSent', 2);
  const { mail, to } = server.received[1] ?? {};
  t.same(to, [owner.email]);
  t.match(mail?.text, /Key: the <b>one<\/b> \(pk_live_\w{4}…\)/);
  t.match(mail?.html, '&#60;b&#62;one');
  api.clock.time += DAY_MS;
  sender.wake();
  await invite(api, await bearerOf(api, owner.email), 'second@example.com');
  await logged('MailSent', 3);
  t.equal(server.received.length, 3, 'once');
});
