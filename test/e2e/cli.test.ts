import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { cliJson, refuses, runCli } from '../support/cli.ts';
import { eventually } from '../support/deadline.ts';
import { readLog, violations } from '../support/invariants.ts';
import { openPdf } from '../support/pdf.ts';
import { createPlace } from '../support/place.ts';
import { processesOf } from '../support/processes.ts';
import { readModelRows } from '../support/read-model.ts';
import { startService } from '../support/service.ts';

const ANN = 'ann@example.com';
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

void test('accounts, credits, plans and keys without a service', async (t) => {
  const place = createPlace(t, { FREE_CREDITS: '7' });
  const opened = (await cliJson(place, ['account', 'create', '--email', ANN])) as object;
  t.match(opened, { id: /^acct_/, email: ANN, plan: 'free', credits: 7, password: /^\w{12,}$/ });
  t.strictSame(Object.keys(opened), ['id', 'email', 'plan', 'credits', 'password']);
  const bobs = 'bob@example.com';
  const create = ['account', 'create', '--email', bobs, '--plan', 'starter', '--credits', '0'];
  const bob = (await cliJson(place, [...create, '--password-stdin'], {
    input: 'correct horse battery\n',
  })) as object;
  t.strictSame(
    Object.keys(bob),
    ['id', 'email', 'plan', 'credits'],
    'a given password is not told',
  );
  t.match(bob, { plan: 'starter', credits: 0 });

  t.strictSame(await cliJson(place, ['credits', 'grant', ANN, '5']), { email: ANN, credits: 12 });
  t.strictSame(await cliJson(place, ['credits', ANN]), { email: ANN, credits: 12 });
  t.strictSame(await cliJson(place, ['plan', 'set', ANN, 'pro']), { email: ANN, plan: 'pro' });
  const shown = await cliJson(place, ['account', 'show', 'ANN@Example.com']);
  t.match(shown, { email: ANN, plan: 'pro', credits: 12, created_at: ISO, stored_bytes: 0 });
  t.strictSame(Object.keys(shown as object), [
    'id',
    'email',
    'plan',
    'credits',
    'operator',
    'suspended',
    'must_change_password',
    'created_at',
    'stored_bytes',
    'hold',
    'suspension',
  ]);
  const list = (await cliJson(place, ['account', 'list'])) as { email: string }[];
  t.strictSame(
    list.map(({ email }) => email),
    [ANN, bobs],
  );

  const key = (await cliJson(place, ['key', 'create', ANN, '--name', ' build  server '])) as {
    id: string;
    key: string;
  };
  t.match(key, {
    id: /^key_[0-9a-z]{26}$/,
    name: 'build  server',
    key: /^pk_live_[0-9A-Za-z]{24}$/,
    created_at: ISO,
  });
  t.strictSame(Object.keys(key), ['id', 'name', 'key', 'created_at']);
  const [listed] = (await cliJson(place, ['key', 'list', ANN])) as object[];
  t.match(listed, { id: key.id, prefix: key.key.slice(0, 12), last_used_at: null });
  const bounds = ['--rate-limit', '5', '--credit-limit', '1', '--address', '10.0.0.0/8'];
  const bound = await cliJson(place, ['key', 'create', ANN, '--name', 'bound', ...bounds]);
  const listing = await runCli(place, ['key', 'list', ANN]);
  t.match(listing.stdout, /\t5\/min, 1 credit\/month\t10\.0\.0\.0\/8\tbound\n/);
  await cliJson(place, ['key', 'revoke', (bound as { id: string }).id]);
  const piped = await runCli(place, ['account', 'keys', ANN, '--header']);
  t.match(piped.stdout, /^ID\tPREFIX\tCREATED\t.*\tNAME\nkey_/, 'columns are named on request');
  t.match((await runCli(place, ['account', 'keys', ANN])).stdout, /^key_/);
  await cliJson(place, ['key', 'revoke', key.id]);
  t.strictSame(await cliJson(place, ['key', 'list', ANN]), []);
  await refuses(t, place, ['key', 'revoke', key.id], 1, /no such API key/);

  const changed = await cliJson(place, ['account', 'password', ANN]);
  t.match(changed, { email: ANN, password: /^\w{24}$/ });
  const input = 'another long password\n';
  const given = await cliJson(place, ['account', 'password', bobs, '--password-stdin'], { input });
  t.strictSame(Object.keys(given as object), ['id', 'email'], 'a given password is not told');

  const invite = ['members', 'invite', ANN, 'carol@example.com', '--role', 'auditor'];
  const invited = (await cliJson(place, invite)) as { id: string; link: string };
  t.match(invited, { role: 'auditor', status: 'invited', documents: false });
  t.match(invited.link, /\/invitation#[0-9a-z]{26}-[\w-]{43}$/);
  const people = (await cliJson(place, ['members', 'list', ANN])) as { id: string }[];
  t.match(people, [{ id: invited.id }, { role: 'owner', email: ANN, status: 'active' }]);
  await refuses(t, place, ['members', 'remove', ANN, people[1]?.id ?? ''], 1, /at least one owner/);
  await cliJson(place, ['members', 'remove', ANN, invited.id]);
  await refuses(t, place, ['members', 'change', ANN, invited.id, '--role', 'owner'], 1, /no such/);
  await refuses(t, place, ['members', 'erase', 'carol@example.com', '--yes'], 1, /Nobody signs in/);

  const log = JSON.stringify(readLog(place.dataDir));
  for (const personal of ['carol@', 'ann@', 'bob@', 'correct horse', 'build  server', key.key]) {
    t.notOk(log.includes(personal), `${personal} is not in the log as it is`);
  }
  t.strictSame(violations(readLog(place.dataDir), { settled: true }), []);
});

void test('where there is no store, a command says so and makes none', async (t) => {
  const place = createPlace(t);
  for (const args of [
    ['account', 'list'],
    ['account', 'show', ANN],
    ['credits', 'grant', ANN, '5'],
    ['key', 'create', ANN, '--name', 'n'],
    ['projections', 'rebuild'],
    ['projections', 'list'],
    ['projections', 'verify'],
    ['projections', 'diff'],
    ['verify'],
    ['convert', 'https://example.com/', '-o', join(place.tmpDir, 'never.pdf')],
  ]) {
    await refuses(t, place, args, 1, /There is no store in \/.*\/data: set DATA_DIR/);
  }
  t.notOk(existsSync(place.dataDir));
});

void test('a data directory is for its user alone, and a PDF is as that user has files', async (t) => {
  const place = createPlace(t);
  const before = process.umask(0o022);
  t.teardown(() => process.umask(before));
  mkdirSync(place.dataDir, { mode: 0o755 });
  await cliJson(place, ['account', 'create', '--email', ANN]);
  const [source, target] = [join(place.tmpDir, 'a.html'), join(place.tmpDir, 'a.pdf')];
  writeFileSync(source, `<p>Large</p><!--${'x'.repeat(100_000)}-->`);
  await cliJson(place, ['convert', source, '-o', target]);
  const names = readdirSync(place.dataDir, { recursive: true, encoding: 'utf8' });
  const open = names.filter((name) => (statSync(join(place.dataDir, name)).mode & 0o077) !== 0);
  t.ok(names.length > 10);
  t.strictSame(open, []);
  t.equal(statSync(target).mode & 0o777, 0o644);
});

void test('for people: the same without --json', async (t) => {
  const place = createPlace(t);
  const created = await runCli(place, ['account', 'create', ANN]);
  t.equal(created.code, 0);
  t.match(created.stdout, /^Opened acct_\w+ for ann@example\.com: plan free, 100 credits\.$/m);
  t.match(created.stdout, /^Password \(shown only now\): \w+$/m);
  t.match((await runCli(place, ['--help'])).stdout, /account create .*\n[^]*projections rebuild/);
});

void test('the version is that of the package', async (t) => {
  const place = createPlace(t);
  const { name, version } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
  ) as { name: string; version: string };
  t.match(await runCli(place, ['-v']), { code: 0, stdout: `${name} ${version}\n`, stderr: '' });
  t.strictSame(await cliJson(place, ['--version']), { name, version });
});

void test('refusals end with 1, wrong usage with 2', async (t) => {
  const place = createPlace(t);
  await cliJson(place, ['account', 'create', '--email', ANN]);
  const create = ['account', 'create', '--email'];
  const target = join(place.tmpDir, 'never.pdf');
  const elsewhere = ['--server', 'localhost:1', '--api-key', 'k'];
  const refused: readonly (readonly [args: readonly string[], line: RegExp, input?: string])[] = [
    [[...create, 'Ann@Example.com'], /already/],
    [['account', 'show', 'nobody@example.com'], /no account for nobody@example\.com/],
    [['account', 'password', ANN, '--password-stdin'], /at least 12 characters/, 'short\n'],
    [['credits', 'grant', ANN, '1000000000000'], /at most 1000000000000 credits/],
    [['key', 'revoke', 'key_00000000000000000000000000'], /no such API key/],
    // Without a scheme this machine is asked over http.
    [['convert', 'https://a/', '-o', target, ...elsewhere], /No answer from localhost:1/],
  ];
  const wrong: readonly (readonly [args: readonly string[], line: RegExp])[] = [
    [[], /No command/],
    [[...create, 'nonsense'], /--email: .*not an email address/],
    [['key', 'create', ANN, '--name', '  '], /--name: .*1 to 100 characters/],
  ];
  for (const [args, line, input] of refused) await refuses(t, place, args, 1, line, input);
  for (const [args, line] of wrong) await refuses(t, place, args, 2, line);
});

void test('every setting that cannot be used is told, a line each', async (t) => {
  const place = createPlace(t, { PORT: 'x', LOG_LEVEL: 'loud', PRESSLEDGER_DATADIR: 'd' });
  for (const args of [['start'], ['account', 'list', '--json']]) {
    const { code, stdout, stderr } = await runCli(place, args, { env: { LOG_LEVEL: 'loud' } });
    t.match({ code, stdout }, { code: 1, stdout: '' });
    t.match(
      stderr,
      /^pressledger: PRESSLEDGER_DATADIR is .*\n.*: PORT must .*\n.*: LOG_LEVEL must .*\n$/,
    );
  }
  t.match(await runCli(place, ['start', '--help']), { code: 0 }, 'help needs no settings');
});

void test('convert without a service renders here', async (t) => {
  const place = createPlace(t);
  await cliJson(place, ['account', 'create', '--email', ANN, '--credits', '2']);
  const source = join(place.dataDir, 'letter.html');
  writeFileSync(source, '<h1>A letter</h1>');
  const target = join(place.dataDir, 'letter.pdf');
  const convert = ['convert', source, '-o', target];
  const options = ['--landscape', '--page-size', 'A5', '--wait-for-delay-ms', '1'];
  const record = await cliJson(place, [...convert, ...options]);
  t.match(record, { id: /^conv_/, status: 'completed', created_at: ISO, completed_at: ISO });
  t.match((await openPdf(readFileSync(target))).text, /A letter/);

  const { id } = record as { id: string };
  t.match(await cliJson(place, ['manifest', id]), {
    conversion_id: id,
    document: { bytes: readFileSync(target).length, pages: 1 },
    fonts: [/Bold/],
    options: { landscape: true, page_size: 'A5', wait_for: { delay_ms: 1 } },
  });
  const shown = await runCli(place, ['manifest', id]);
  t.match(shown.stdout, /chrome +\S*Chrome\/.*\n.*times +queue \d+, start \d+/);
  await refuses(t, place, ['manifest', 'conv_none'], 1, /no manifest of conv_none/);

  const told = await runCli(place, ['history', id]);
  t.match(told.stdout, /A PDF was requested, from HTML\. .*\n(.*\n)*.*The file was stored: 1 page/);
  const opening = await cliJson(place, ['history', ANN, '--type', 'AccountOpened']);
  t.match(opening, [{ actor: { kind: 'operator' }, data: { email: ANN, plan: 'free' } }]);
  const ofAccount = await runCli(place, ['history', ANN]);
  t.match(ofAccount.stdout, `A PDF was requested, from HTML.  ${id} "A letter"  (operator)\n`);
  await refuses(t, place, ['history', 'conv_none'], 1, /There is no conversion conv_none/);
  await refuses(t, place, ['history', id, '--type', 'Nothing'], 2, /--type is one of /);

  await refuses(t, place, [...convert, '--scale', '9'], 2, /--scale: /);
  const slips = await runCli(place, [
    ...convert,
    '--wait-for-delay-ms',
    '99999',
    '--margin-top',
    '3',
  ]);
  t.match(slips.stderr, /^pressledger: --wait-for-delay-ms: .+$/m);
  t.match(slips.stderr, /^pressledger: --margin-top: .+$/m);
  const failed = await runCli(place, [...convert, '--page-ranges', '5', '--json']);
  t.equal(failed.code, 1);
  t.match(JSON.parse(failed.stdout), { status: 'failed', error_message: /./ });
  t.match(await cliJson(place, ['account', 'show', ANN]), { credits: 1 }, 'refunded');
  const asPdf = ['convert', target, '-o', join(place.dataDir, 'again.pdf')];
  await refuses(t, place, asPdf, 2, /letter\.pdf is a PDF already/);
  const withKey = await runCli(place, convert, { env: { PRESSLEDGER_API_KEY: 'k' } });
  t.equal(withKey.code, 0, withKey.stderr);
  t.match(withKey.stderr, /^The API key of the environment is not used, .* give --server/m);
  await refuses(
    t,
    place,
    convert,
    1,
    new RegExp(`no credits left: .DATA_DIR=${place.dataDir} bin/pressledger credits grant ann@`),
  );
  t.strictSame(violations(readLog(place.dataDir), { settled: true }), []);
  t.strictSame(processesOf(place.tmpDir), [], 'no Chrome is left');
});

void test('beside a running service each sees at once what the other wrote', async (t) => {
  // No checkpoint comes between two looks at the log.
  const service = await startService(t, { CHECKPOINT_SECONDS: '86400' });
  const { place } = service;
  const admin = service.firstStart.email;
  const made = (await cliJson(place, ['key', 'create', admin, '--name', 'cli'])) as {
    id: string;
    key: string;
  };
  t.equal(statSync(join(place.dataDir, 'operator.sock')).mode & 0o777, 0o600);
  // Log lines are written in the background.
  await eventually(
    'the request by the socket',
    () => /POST \/api\/v1\/api-keys\/ 201/.test(service.output.stderr) || undefined,
  );
  const client = service.client(made.key);
  const { id } = await client.create({ html: '<h1>With the new key</h1>' });
  t.match(await cliJson(place, ['account', 'show', admin]), { credits: 99 }, 'its debit is seen');
  t.equal((await client.wait(id)).status, 'completed');
  const [key] = (await cliJson(place, ['key', 'list', admin])) as { last_used_at: unknown }[];
  t.match(key?.last_used_at, ISO, 'its use is seen');

  const source = join(place.dataDir, 'page.html');
  writeFileSync(source, '<h1>By the service</h1>');
  const target = join(place.dataDir, 'page.pdf');
  const here = (await cliJson(place, ['convert', source, '-o', target])) as { id: string };
  t.match((await openPdf(readFileSync(target))).text, /By the service/);
  t.equal((await client.get(here.id)).status, 'completed', 'the service knows it');
  const there = ['--server', service.url, '--api-key', made.key];
  const record = await cliJson(place, ['convert', source, '-o', target, ...there]);
  t.match(record, { status: 'completed', file_url: /^http/ });

  const before = readModelRows(place.dataDir);
  const rebuilt = await runCli(place, ['projections', 'rebuild', '--json']);
  t.equal(rebuilt.code, 0, rebuilt.stderr);
  t.match(JSON.parse(rebuilt.stdout), { events: readLog(place.dataDir).length });
  t.match(rebuilt.stderr, /\d+ of \d+ events/, 'with progress');
  t.strictSame(readModelRows(place.dataDir), before);
  t.equal((await client.get(id)).status, 'completed', 'the service goes on with the new one');

  await cliJson(place, ['key', 'revoke', made.id]);
  const history = await runCli(place, ['history', admin]);
  const actor = `key "cli" ${made.key.slice(0, 12)}… of ${admin} (owner), from 127.0.0.1`;
  const byKey = `${id} "With the new key"  (${actor})\n`;
  t.match(history.stdout, `A PDF was requested, from HTML.  ${byKey}`, 'named after its end, too');
  await t.rejects(client.get(id), { code: 'unauthorized' }, 'revoked on the very next request');
  await refuses(
    t,
    place,
    ['convert', source, '-o', target, ...there],
    1,
    /does not accept the API key/,
  );
});
