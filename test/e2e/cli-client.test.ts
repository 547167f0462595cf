/** The command line as a client of a service: signed in, and with what the environment says. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { cliJson, refuses, runCli } from '../support/cli.ts';
import { openPdf } from '../support/pdf.ts';
import { createPlace, LAUNCHER, type Place } from '../support/place.ts';
import { startService } from '../support/service.ts';

const WITHIN_MS = 60_000;
const LOCAL_TIME = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/;

const loginFileOf = (place: Place): string =>
  join(place.env['HOME'] ?? '', '.config/pressledger/login.json');
const fileLogin = (place: Place): unknown => JSON.parse(readFileSync(loginFileOf(place), 'utf8'));

/** Runs a command on a terminal, and types each answer as soon as its question is there. */
async function onTerminal(
  place: Place,
  line: string,
  dialogue: readonly (readonly [question: string, answer: string])[] = [],
): Promise<{ readonly code: unknown; readonly screen: string }> {
  const child = spawn('script', ['-qefc', `'${LAUNCHER}' ${line}`, '/dev/null'], {
    env: { ...place.env, SHELL: '/bin/sh', TERM: 'xterm' },
    stdio: 'pipe',
    timeout: WITHIN_MS,
  });
  const left = [...dialogue];
  let screen = '';
  let seen = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    const [question, answer] = left[0] ?? [];
    const at = question === undefined ? -1 : screen.indexOf(question, seen);
    if (question === undefined || at === -1) return;
    left.shift();
    seen = at + question.length;
    child.stdin.write(`${answer}\r`);
  });
  const [code] = await once(child, 'close');
  return { code, screen };
}

/** Puts a program of this name first in PATH. */
function withProgram(place: Place, name: string, body: string): Readonly<Record<string, string>> {
  const dir = join(place.tmpDir, `${name}-bin`);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return { PATH: `${dir}:${place.env['PATH'] ?? ''}` };
}

void test('a sign-in lets the commands of a client work, until it is ended', async (t) => {
  const service = await startService(t);
  const { email, password } = service.firstStart;
  const place = createPlace(t);
  const there = ['login', '--server', service.url, '--email', email, '--password-stdin'];
  const signedIn = (await cliJson(place, there, { input: `${password}\n` })) as { key_id: string };
  t.match(signedIn, { server: service.url, email, key_id: /^key_/, file: loginFileOf(place) });
  t.equal(statSync(loginFileOf(place)).mode & 0o777, 0o600);
  const kept = fileLogin(place) as { api_key: string };
  t.match(kept, { server: service.url, api_key: /^pk_live_/, key_id: signedIn.key_id });
  t.notMatch(readFileSync(loginFileOf(place), 'utf8'), password, 'no password is kept');

  const source = join(place.tmpDir, 'page.html');
  const target = join(place.tmpDir, 'page.pdf');
  writeFileSync(source, '<h1>Signed in</h1><p style="break-before: page">Two</p>');
  const converted = await runCli(place, ['convert', source, '-o', target]);
  t.equal(converted.code, 0, converted.stderr);
  t.match(converted.stderr, `is accepted; waiting for ${service.url}\n`);
  t.match(converted.stdout, /^conv_\w+ is in .*page\.pdf: 2 pages, \d+\.\d kB, in \d+\.\d s\.$/m);
  t.match((await openPdf(readFileSync(target))).text, /Signed in/);
  await cliJson(place, ['convert', source, '-o', target, '--page-ranges', '9']).catch(() => {});

  const list = (await cliJson(place, ['conversions', 'list'])) as { id: string }[];
  t.match(list, [{ status: 'failed' }, { status: 'completed' }]);
  const [failed, done] = list.map(({ id }) => id);
  const filter = ['--status', 'COMPLETED', '--limit', '1'];
  t.match(await cliJson(place, ['conversions', 'list', ...filter]), [{ id: done }]);
  const rows = await runCli(place, ['conversions', 'list']);
  t.match(
    rows.stdout,
    new RegExp(`^${failed}\tfailed\t[^\t]+Z\t\t.+\n${done}\tcompleted\t.*Z\t.*Z\t\n$`),
  );
  t.match(await cliJson(place, ['conversions', 'get', done ?? '']), { status: 'completed' });
  t.match((await runCli(place, ['conversions', 'get', done ?? ''])).stdout, /^status\tcompleted$/m);
  await refuses(t, place, ['conversions', 'get', 'conv_none'], 1, /no such/);

  const copy = join(place.tmpDir, 'copy.pdf');
  await cliJson(place, ['conversions', 'download', done ?? '', '-o', copy]);
  t.ok(readFileSync(copy).equals(readFileSync(target)));
  await refuses(t, place, ['conversions', 'download', failed ?? '', '-o', copy], 1, /failed: /);

  const viewer = withProgram(place, 'xdg-open', `echo "$1" > '${place.tmpDir}/shown'`);
  const opened = await runCli(place, ['conversions', 'open', done ?? ''], { env: viewer });
  t.equal(opened.code, 0, opened.stderr);
  const shown = readFileSync(join(place.tmpDir, 'shown'), 'utf8').trim();
  t.ok(readFileSync(shown).equals(readFileSync(target)));
  t.equal(statSync(shown).mode & 0o777, 0o600);
  const blind = await runCli(place, ['conversions', 'open', done ?? ''], {
    env: withProgram(place, 'xdg-open', 'exit 3'),
  });
  t.match(blind, { code: 1, stderr: /xdg-open cannot show the PDF, which is \/.*\.pdf/ });

  const made = (await cliJson(place, ['keys', 'create', '--name', 'ci'])) as { id: string };
  const keys = (await runCli(place, ['keys', 'list'])).stdout;
  t.match(keys, new RegExp(`^${made.id}\tpk_live_\\w+\t.*Z\t\tci$`, 'm'));
  t.match(keys, new RegExp(`^${signedIn.key_id}\t.*\t${hostname()}$`, 'm'));
  await cliJson(place, ['keys', 'revoke', made.id]);
  await refuses(t, place, ['keys', 'revoke', made.id], 1, /no such API key/);
  t.match(await cliJson(place, ['usage', '--limit', '2']), {
    server: service.url,
    account: { email, plan: 'pro', credits: 99 },
    rate_limit: { limit: 100, remaining: Number, reset_at: /Z$/ },
    ledger: [{ type: 'refund' }, { type: 'debit' }],
  });

  const elsewhere = ['usage', '--server', 'http://localhost:1'];
  await refuses(t, place, elsewhere, 2, /no key for http:\/\/localhost:1/);
  chmodSync(loginFileOf(place), 0o644);
  await refuses(t, place, ['usage'], 1, /open to other users: chmod 600/);
  chmodSync(loginFileOf(place), 0o600);

  t.match(await cliJson(place, ['logout']), { server: service.url, revoked: signedIn.key_id });
  t.notOk(existsSync(loginFileOf(place)));
  await t.rejects(service.client(kept.api_key).account(), { code: 'unauthorized' });
  await refuses(t, place, ['logout'], 1, /not signed in/);
  await refuses(t, place, ['usage'], 2, /pressledger login/);
});

void test('a key of the environment or of standard input does as well', async (t) => {
  const service = await startService(t);
  const { apiKey, email } = service.firstStart;
  const place = createPlace(t);
  const host = service.url.replace('http://', '');
  const named = { PRESSLEDGER_SERVER: host, PRESSLEDGER_KEY: apiKey };
  t.match(await cliJson(place, ['usage'], { env: named }), { account: { email } });
  t.strictSame(await cliJson(place, ['conversions', 'list'], { env: named }), []);
  const none = await runCli(place, ['conversions', 'list'], { env: named });
  t.match(none, { code: 0, stdout: '', stderr: 'There is no such conversion.\n' });
  const piped = ['usage', '--server', host, '--api-key-stdin'];
  t.match(await cliJson(place, piped, { input: apiKey }), { account: { email } });

  const login = ['login', '--server', host, '--api-key-stdin'];
  t.match(await cliJson(place, login, { input: apiKey }), { email, key_id: null });
  t.strictSame(fileLogin(place), { server: `http://${host}`, api_key: apiKey });
  t.match(await cliJson(place, ['logout']), { revoked: null });
  t.match(await service.client(apiKey).account(), { email }, 'a key that was given stays valid');
  const wrong = await runCli(place, login, { input: 'pk_live_wrong' });
  t.match(wrong, { code: 1, stderr: /credential/ });
  t.notOk(existsSync(loginFileOf(place)));
});

void test('on a terminal it asks, shows tables with heads, and counts the seconds', async (t: Test) => {
  const service = await startService(t);
  const { email, password } = service.firstStart;
  const place = createPlace(t);
  const asked = await onTerminal(place, 'login', [
    ['Server [http://localhost:8080]: ', service.url],
    ['instead): ', email],
    [`Password of ${email}: `, password],
  ]);
  t.equal(asked.code, 0, asked.screen);
  t.match(asked.screen, `Signed in to ${service.url} as ${email}.`);
  t.notMatch(asked.screen, password);
  const former = fileLogin(place) as { api_key: string };

  writeFileSync(join(place.tmpDir, 'a.html'), '<p>Hello</p>');
  const command = `convert '${place.tmpDir}/a.html' -o '${place.tmpDir}/a.pdf' --wait-for-delay-ms 2500`;
  const screen = (await onTerminal(place, command)).screen.replaceAll('\u001b[K', '');
  t.match(screen, /\rconv_\w+ is accepted; waiting for http\S+ \(2 s\)/);
  t.match(screen, /\rconv_\w+ is in .*a\.pdf: 1 page, /);
  const list = (await onTerminal(place, 'conversions list')).screen;
  t.match(list, /^ID +STATUS +CREATED +COMPLETED +REASON\r\nconv_\w+ +completed +\d/);
  t.match(list, LOCAL_TIME);
  t.match(
    (await onTerminal(place, 'usage')).screen,
    /AMOUNT +BALANCE +CONVERSION\r\n.* +-1 +99 +conv/,
  );

  const again = await onTerminal(place, `login --email ${email}`, [
    [`Server [${service.url}]: `, ''],
    ['Password', password],
  ]);
  t.equal(again.code, 0, again.screen);
  await t.rejects(service.client(former.api_key).account(), { code: 'unauthorized' }, 'replaced');
  const stopped = await onTerminal(place, 'login', [['Server', '\u0003']]);
  t.match(stopped, { code: 1, screen: /The sign-in was cancelled/ });
});
