import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { cliJson, runCommand } from '../support/cli.ts';
import { openPdf } from '../support/pdf.ts';
import { createService, startService } from '../support/service.ts';

const REPOSITORY = join(import.meta.dirname, '../..');

void test('what the first start prints works when pasted', async (t) => {
  const service = await startService(t);
  const { email, password, apiKey, convert } = service.firstStart;
  t.equal(email, 'admin@localhost');
  t.match(password, /^[0-9A-Za-z]{12,}$/);
  t.match(apiKey, /^pk_live_[0-9A-Za-z]{24}$/);
  t.match(service.url, /^http:\/\/localhost:[0-9]+$/);

  const cwd = service.place.dataDir;
  const converted = await runCommand('/bin/sh', ['-c', convert], service.place.env, '', cwd);
  t.equal(converted.code, 0, converted.stderr);
  t.equal(converted.stdout + converted.stderr, '');
  const pdf = await openPdf(readFileSync(join(cwd, 'hello.pdf')));
  t.match(pdf.text, /Hello from Pressledger/);
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
    readonly info: { readonly description: string };
  };
  const [, sample = ''] = /^[^#]*```sh\n(.*?)```/s.exec(document.info.description) ?? [];
  const env = { ...service.place.env, PRESSLEDGER_API_KEY: apiKey };
  const sampled = await runCommand(
    '/bin/sh',
    ['-c', sample.replace('hello.pdf', 'sample.pdf')],
    env,
    '',
    cwd,
  );
  t.equal(sampled.code, 0, `the sample at the beginning of the reference: ${sampled.stderr}`);
  t.match((await openPdf(readFileSync(join(cwd, 'sample.pdf')))).text, /Hello/);
  const unusable = convert.replace('"html":', '"wait_for":{"selector":":::"},"html":');
  const failed = await runCommand('/bin/sh', ['-c', unusable], service.place.env, '', cwd);
  t.equal(failed.code, 22, 'a failure has a status of its own');
  t.match(failed.stderr, /422/);

  const [, keyCreate = ''] = /Another API key: +(.*)\n/.exec(service.output.stdout) ?? [];
  const { DATA_DIR: _, ...elsewhere } = service.place.env;
  const made = await runCommand('/bin/sh', ['-c', keyCreate], elsewhere, '', REPOSITORY);
  t.equal(made.code, 0, `the same data without DATA_DIR in the environment: ${made.stderr}`);

  t.match(service.output.stdout, /First change the password, in the dashboard under Account\./);
  t.match(service.output.stdout, 'bin/pressledger credits grant admin@localhost 1000\n');
  t.match(service.output.stdout, 'bin/pressledger account create EMAIL\n');

  t.notMatch(service.output.stderr, password, 'no secret in the log');
  t.notMatch(service.output.stderr, apiKey.slice(12), 'no secret in the log');
  t.match(await service.restart(), { code: 0, signal: null });
  const { stdout } = service.output;
  t.match(stdout, `Pressledger is ready at ${service.url}\n`);
  t.match(stdout, `${service.url}/docs\n`);
  t.match(stdout, `${cwd}\n`);
  t.match(stdout, 'bin/pressledger account create-key EMAIL --name NAME\n');
  t.notMatch(stdout, /Sign-in|pk_live_/, 'shown once');
  t.match(await service.stop(), { code: 0, signal: null });
  t.strictSame(await service.leftovers(), []);
});

void test('who has no account by the settings gets none', async (t) => {
  const service = await startService(t, { FIRST_ACCOUNT_EMAIL: '' });
  t.notMatch(service.output.stdout, /Sign-in|pk_live_/);
});

void test('settings that cannot be used are told all at once, and leave nothing behind', async (t) => {
  const service = createService(t);
  const bad = {
    PORT: '80x',
    EVENT_STORE_URL: 'postgres://u:secret@db/x',
    NATS_URL: 'http://u:secret@host',
    BLOB_STORE_URL: 'ftp://u:secret@x/y',
  };
  t.match(await service.startInVain(bad), { code: 1, signal: null });
  const { stdout, stderr } = service.output;
  t.equal(stdout, '');
  const lines = stderr.trimEnd().split('\n');
  t.equal(lines.length, 5);
  for (const name of Object.keys(bad)) t.match(stderr, new RegExp(`^pressledger: ${name} `, 'm'));
  t.match(stderr, /^pressledger: BLOB_STORE_URL .*MASTER_KEY is needed/m);
  t.notMatch(stderr, 'secret');
  t.notOk(existsSync(service.place.dataDir));
});

void test('the printed address answers, whatever HOST is', async (t) => {
  const service = createService(t);
  await service.start({ HOST: '127.0.0.2' });
  t.match(service.url, /^http:\/\/127\.0\.0\.2:/);
  t.notMatch(service.output.stderr, 'PUBLIC_URL');
  await service.restart({ HOST: '0.0.0.0' });
  t.match(service.url, /^http:\/\/localhost:/);
  t.match(service.output.stderr, /PUBLIC_URL is not set.*http:\/\/localhost:.*set it to/);
});

void test('a first start that fails does not lose the sign-in', async (t) => {
  const service = createService(t);
  const { code } = await service.startInVain({ CHROME_PATH: '/nonexistent/chrome' });
  t.equal(code, 1);
  await service.start();
  t.match(service.firstStart.apiKey, /^pk_live_/);
  const { status } = await fetch(`${service.url}/api/v1/conversions/conv_1/`, {
    headers: { 'X-API-Key': service.firstStart.apiKey },
  });
  t.equal(status, 404, 'the key is good');
});

void test('health and readiness', async (t) => {
  const service = await startService(t);
  for (const path of ['/healthz', '/readyz']) {
    const answer = await fetch(service.url + path);
    t.equal(answer.status, 200, path);
    t.match(answer.headers.get('content-type'), /^application\/json/);
    t.type(await answer.json(), 'object');
  }
});

void test('where the first sign-in was lost, the start says how to make another', async (t) => {
  const service = createService(t);
  const { place } = service;
  const email = 'ann@example.com';
  const passwordOf = async (...args: readonly string[]): Promise<string> =>
    ((await cliJson(place, args)) as { password: string }).password;
  const lost = await passwordOf('account', 'create', '--email', email);
  await service.start();
  t.match(service.output.stderr, /no API key: .*account create-key EMAIL.*account password EMAIL/);
  const password = await passwordOf('account', 'password', email);
  const signIn = async (tried: string): Promise<number> => {
    const answer = await fetch(`${service.url}/api/v1/auth/jwt/create/`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email, password: tried }),
    });
    return answer.status;
  };
  t.equal(await signIn(password), 200);
  t.equal(await signIn(lost), 401);
  await cliJson(place, ['key', 'create', email, '--name', 'one']);
  await service.restart();
  t.notMatch(service.output.stderr, /no API key/);
});
