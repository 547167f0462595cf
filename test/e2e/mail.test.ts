/** The service as a user starts it, with a mail server: what is sent when it is killed at the worst moment, and stopped. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'tap';
import { runCli } from '../support/cli.ts';
import { eventually } from '../support/deadline.ts';
import { readLog } from '../support/invariants.ts';
import { linkIn } from '../support/mail.ts';
import { startMailServer, startScriptedServer } from '../support/mail-server.ts';
import { createService } from '../support/service.ts';

const EMAIL = 'admin@localhost';

void test('a service that is killed between sending and recording sends the same mail again', async (t) => {
  const server = await startMailServer(t);
  const service = createService(t);
  const { place } = service;
  const control = join(place.tmpDir, 'control');
  mkdirSync(control, { recursive: true });
  const env = { SMTP_URL: server.url, MAIL_FROM: 'pdf@example.com' };
  const preload = pathToFileURL(join(import.meta.dirname, '../crash/preload.ts')).href;
  const killable = { ...env, NODE_OPTIONS: `--import=${preload}`, CRASH_CONTROL: control };
  await service.start(killable);
  writeFileSync(join(control, 'before MailSent'), '1');
  const args = ['members', 'invite', EMAIL, 'bob@example.com', '--role', 'auditor'];
  const invited = await runCli(place, [...args, '--json'], { env });
  t.match(JSON.parse(invited.stdout), { link: null, sends_mail: true });
  t.equal((await service.end()).signal, 'SIGKILL');
  t.equal(server.received.length, 1);
  t.same(
    readLog(place.dataDir).filter(({ type }) => type === 'MailSent'),
    [],
  );

  await service.start(env);
  await eventually('MailSent', () =>
    readLog(place.dataDir).some(({ type }) => type === 'MailSent') ? true : undefined,
  );
  t.equal(server.received.length, 2);
  const [first, second] = server.received.map(({ mail }) => mail);
  t.equal(first?.messageId, second?.messageId);
  // Its port is another one after the start.
  const [token = '', again] = server.received.map((mail) => linkIn(mail).split('#')[1]);
  t.match(token, /^\S{20,}$/);
  t.equal(again, token);
  const { stdout } = await runCli(place, ['status'], { env });
  t.match(stdout, /^Mail +0 waiting, last sent \d+ s ago, 0 not sent in all$/m);
  const verified = await runCli(place, ['verify'], { env });
  t.equal(verified.code, 0, verified.stdout + verified.stderr);
  t.notMatch(JSON.stringify(readLog(place.dataDir)), token);
  await service.stop();
});

void test('a mail server that hangs holds up neither a stop nor a start', async (t) => {
  const server = await startScriptedServer(t);
  Object.assign(server.behaviour, { at: 'message', does: 'hang' });
  const service = createService(t);
  const env = { SMTP_URL: server.url, MAIL_FROM: 'pdf@example.com' };
  await service.start(env);
  const args = ['members', 'invite', EMAIL, 'bob@example.com', '--role', 'member'];
  t.equal((await runCli(service.place, args, { env })).code, 0);
  await eventually('a message', () => server.messages[0]);
  t.match(await service.stop(), { code: 0 });
  Object.assign(server.behaviour, { at: undefined });
  await service.start(env);
  await eventually('the message again', () => server.messages[1]);
  t.equal(new Set(server.messages).size, 1);
  await service.stop();
});
