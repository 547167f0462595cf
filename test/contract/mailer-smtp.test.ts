import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { parseSmtpUrl, type SmtpServer } from '../../src/mail/address.ts';
import { createSmtpMailer } from '../../src/mail/smtp.ts';
import { testDirectory } from '../support/directory.ts';
import { freePort } from '../support/free-port.ts';
import {
  MAIL_FROM,
  type MailServerOptions,
  type Step,
  STEPS,
  startMailServer,
  startScriptedServer,
} from '../support/mail-server.ts';
import { MAIL, runMailerContract } from './mailer-contract.ts';

const USER = { user: 'me', password: 'pa:ss@wörd' };

/** A certificate for 127.0.0.1, and its key. It is its own authority. */
function certificate(t: Test, name = 'IP:127.0.0.1') {
  const directory = testDirectory(t);
  const [key, cert] = ['key.pem', 'cert.pem'].map((file) => join(directory, file));
  const request = `req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256 -keyout ${key} -out ${cert} -days 2`;
  const names = ['-subj', '/CN=mail', '-addext', `subjectAltName=${name}`];
  execFileSync('openssl', [...request.split(' '), ...names], { stdio: 'pipe' });
  return { key: readFileSync(String(key)), cert: readFileSync(String(cert)) };
}

async function open(t: Test, encryption: SmtpServer['encryption'], more: MailServerOptions = {}) {
  const tls = encryption === 'none' ? undefined : certificate(t);
  const server = await startMailServer(t, {
    ...USER,
    ...tls,
    secure: encryption === 'TLS',
    offersTls: encryption === 'STARTTLS',
    ...more,
  });
  const at = { host: '127.0.0.1', port: server.port, encryption, ...USER };
  const mailer = createSmtpMailer({
    server: at,
    from: MAIL_FROM,
    ...(tls && { ca: tls.cert.toString() }),
  });
  return { server, mailer };
}

runMailerContract({ name: 'SMTP without encryption', open: (t) => open(t, 'none') });
runMailerContract({ name: 'SMTP with STARTTLS', open: (t) => open(t, 'STARTTLS') });
runMailerContract({ name: 'SMTP over TLS', open: (t) => open(t, 'TLS') });

const signal = new AbortController().signal;

void test('a server that takes no mail at all is told from one that refuses a mail', async (t) => {
  const send = async (server: SmtpServer, ca?: string) => {
    const mailer = createSmtpMailer({ server, from: MAIL_FROM, ...(ca && { ca }) });
    const answer = await mailer.send(MAIL, signal);
    t.equal(answer.outcome, 'unavailable');
    const checked = await mailer.check().then(
      () => 'nothing wrong',
      (error: unknown) => String(error),
    );
    return [answer.outcome === 'unavailable' ? answer.reason : '', checked].join(' / ');
  };
  const { server } = await open(t, 'none');
  const at = { host: '127.0.0.1', port: server.port, encryption: 'none' } as const;
  t.match(await send({ ...at, user: 'me', password: 'wrong' }), /535.*535/s);
  t.match(
    await send({ ...at, ...USER, encryption: 'STARTTLS' }),
    /STARTTLS|TLS/,
    'a server without STARTTLS gets neither the password nor a mail',
  );
  t.match(await send({ ...at, port: await freePort() }), /ECONNREFUSED/);
  t.match(await send({ ...at, host: 'name.invalid' }), /ENOTFOUND|EAI_AGAIN|EDNS/);
  for (const encryption of ['TLS', 'STARTTLS'] as const) {
    const tls = certificate(t);
    const other = certificate(t, 'DNS:elsewhere.example');
    const options = { secure: encryption === 'TLS', offersTls: true };
    const unknown = await startMailServer(t, { ...tls, ...options });
    t.match(await send({ ...at, port: unknown.port, encryption }), /self-signed/);
    const misnamed = await startMailServer(t, { ...other, ...options });
    const ca = other.cert.toString();
    t.match(await send({ ...at, port: misnamed.port, encryption }, ca), /altnames/);
    t.same([...unknown.received, ...misnamed.received], []);
  }
  t.same(server.received, []);
});

/** What a failure of the server at a step is to a mail: one about all mails, or one about this one. */
const WAYS = ['hang', 'close', '421 going', 'nonsense', '554 no', '451 later'] as const;
const OF_A_MAIL: Readonly<Record<(typeof WAYS)[number], string>> = {
  hang: 'unanswered',
  close: 'unanswered',
  '421 going': 'unavailable',
  nonsense: 'unanswered',
  '554 no': 'refused',
  '451 later': 'deferred',
};

void test('a server that hangs, closes or lies at a step costs one try', async (t) => {
  const tryAt = async (at: Step, does: (typeof WAYS)[number]): Promise<void> => {
    const scripted = await startScriptedServer(t);
    const server = parseSmtpUrl(scripted.url);
    const impatience = does === 'hang' ? { answerMs: 8000 } : {};
    const mailer = createSmtpMailer({ server, from: MAIL_FROM, ...impatience });
    t.same(await mailer.send(MAIL, signal), { outcome: 'accepted' });
    Object.assign(scripted.behaviour, { at, does });
    const answer = await mailer.send(MAIL, signal);
    const told = `${does} at ${at}: ${JSON.stringify(answer)}`;
    if (['RCPT TO', 'DATA', 'message'].includes(at)) t.equal(answer.outcome, OF_A_MAIL[does], told);
    // Where the sender is judged, a mail may have been taken up already.
    else if (at === 'MAIL FROM') t.match(answer.outcome, /^una/, told);
    else t.equal(answer.outcome, 'unavailable', told);
  };
  await Promise.all(STEPS.flatMap((at) => WAYS.map((does) => tryAt(at, does))));
});

void test('the reason for the log does not name who the mail is for', async (t) => {
  const scripted = await startScriptedServer(t);
  Object.assign(scripted.behaviour, { at: 'RCPT TO', does: `421 <${MAIL.to}> try later` });
  const mailer = createSmtpMailer({ server: parseSmtpUrl(scripted.url), from: MAIL_FROM });
  const answer = await mailer.send(MAIL, signal);
  if (answer.outcome !== 'unavailable') throw new Error(answer.outcome);
  t.match(answer.reason, '421 <…> try later');
});

void test('a server that answers without an end, or always a little, does not hold a mail up', async (t) => {
  const scripted = await startScriptedServer(t);
  Object.assign(scripted.behaviour, { at: 'EHLO', does: '250-more' });
  const mailer = createSmtpMailer({
    server: parseSmtpUrl(scripted.url),
    from: MAIL_FROM,
    mailMs: 8000,
  });
  t.equal((await mailer.send(MAIL, signal)).outcome, 'unavailable');
  Object.assign(scripted.behaviour, { at: 'DATA', does: '354-more' });
  t.same(await mailer.send(MAIL, signal), { outcome: 'unanswered', failure: 'timeout' });
});
