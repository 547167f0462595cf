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

void test('a server that hangs, closes or lies at a step costs one try', async (t) => {
  const scripted = await startScriptedServer(t);
  const mailer = createSmtpMailer({
    server: parseSmtpUrl(scripted.url),
    from: MAIL_FROM,
    answerMs: 150,
  });
  t.same(await mailer.send(MAIL, signal), { outcome: 'accepted' });
  for (const at of STEPS) {
    for (const does of ['hang', 'close', '421 going', 'nonsense', '554 no', '451 later']) {
      Object.assign(scripted.behaviour, { at, does });
      const answer = await mailer.send(MAIL, signal);
      const isOfMail = ['RCPT TO', 'DATA', 'message'].includes(at);
      const outcome = !isOfMail
        ? answer.outcome === 'unanswered'
          ? 'unanswered'
          : 'unavailable'
        : ({
            '421 going': 'unavailable',
            '554 no': 'refused',
            '451 later': 'deferred',
          }[does] ?? 'unanswered');
      t.equal(answer.outcome, outcome, `${does} at ${at}: ${JSON.stringify(answer)}`);
      // The step before the recipient: a server may hang there, too.
      if (!isOfMail && at !== 'MAIL FROM') t.not(answer.outcome, 'unanswered', at);
    }
  }
});

void test('a server that answers without an end, or always a little, does not hold a mail up', async (t) => {
  const scripted = await startScriptedServer(t);
  Object.assign(scripted.behaviour, { at: 'EHLO', does: '250-more' });
  const mailer = createSmtpMailer({
    server: parseSmtpUrl(scripted.url),
    from: MAIL_FROM,
    answerMs: 10_000,
    mailMs: 300,
  });
  t.equal((await mailer.send(MAIL, signal)).outcome, 'unavailable');
  Object.assign(scripted.behaviour, { at: 'DATA', does: '354-more' });
  t.same(await mailer.send(MAIL, signal), { outcome: 'unanswered', failure: 'timeout' });
});
