/** Mails: what goes out, to whom, what the log says of it, and what no server can make of it. */
import { test } from 'tap';
import { GIVEN_UP_AFTER_MS } from '../../src/domain/mail.ts';
import { type Api, BASE, PASSWORD, startApi } from '../support/api.ts';
import { eraseAccount } from '../support/erase-account.ts';
import { accept, bearerOf } from '../support/every-people-answer.ts';
import { linkIn, mailTools, startMailApi, startMailing } from '../support/mail.ts';
import { startMailServer, startScriptedServer } from '../support/mail-server.ts';

const MEMBERS = `${BASE}/account/members/`;
const HOUR_MS = 60 * 60 * 1000;

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

void test('an invitation comes with the link of the answer, and works', async (t) => {
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
  t.equal(linkIn(received), invited.body['link']);
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

void test('without a mail server nothing is promised, and nothing follows when there is one', async (t) => {
  const api = await startApi(t);
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
  const [one, other] = [await ownerOf(api), await ownerOf(api)];
  const sends = async ({ headers }: typeof one, email: string) =>
    (await invite(api, headers, email)).body['sends_mail'];
  t.same([await sends(one, 'a@b.example'), await sends(other, 'A@b.example')], [true, true]);
  t.equal(await sends(other, 'a@b.example'), false);
  for (let n = 2; n <= 20; n += 1) t.equal(await sends(one, `n${n}@b.example`), true);
  t.equal(await sends(one, 'one-more@b.example'), false);
  t.equal(await sends(other, 'one-more@b.example'), true);
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
  const [put] = (await logged('MailFailed', 4)).toReversed();
  await api.call('DELETE', `${MEMBERS}${String(revoked.body['id'])}/`, { headers: owner.headers });
  await accept(api, String(accepted.body['link']).split('#')[1] ?? '', {
    name: 'Bob',
    password: PASSWORD,
  });
  await eraseAccount(api, other.id, api.context());
  server.answers.recipient = () => undefined;
  api.clock.time = Number(put?.facts['nextAt']) + 1;
  await invite(api, owner.headers, 'last@example.com');
  sender.wake();
  const to = [(await mailNumber(1)).to, (await mailNumber(2)).to].flat();
  t.same(to.toSorted(), ['expired@example.com', 'last@example.com']);
  await logged('MailSent', 2);
});
