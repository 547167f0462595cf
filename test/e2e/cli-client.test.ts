/** The command line as a client of a service; and `convert` where neither a service nor a store is named. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { allCommands } from '../../src/commands/all.ts';
import { parseLine } from '../../src/commands/cli.ts';
import type { Cell, Output } from '../../src/commands/command.ts';
import { createOutput } from '../../src/commands/output.ts';
import type { ClientConfig } from '../../src/config/client-config.ts';
import { cliJson, runCli, runCommand } from '../support/cli.ts';
import { commandContext } from '../support/command-context.ts';
import { eventually } from '../support/deadline.ts';
import { openPdf } from '../support/pdf.ts';
import { createPlace, LAUNCHER, type Place } from '../support/place.ts';
import { startService } from '../support/service.ts';
import { onTerminal, onTerminals } from '../support/terminal.ts';

const loginFileOf = (place: Place): string =>
  join(place.env['HOME'] ?? '', '.config/pressledger/login.json');
const fileLogin = (place: Place): unknown => JSON.parse(readFileSync(loginFileOf(place), 'utf8'));

/** Puts a program of this name first in PATH. */
function withProgram(place: Place, name: string, body: string): Readonly<Record<string, string>> {
  const dir = join(place.tmpDir, `${name}-bin`);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return { PATH: `${dir}:${place.env['PATH'] ?? ''}` };
}

/** Runs a command in this process; what it prints with `--json` and without. */
async function ask(client: ClientConfig, ...args: readonly string[]) {
  const parsed = parseLine(args, allCommands);
  if (parsed.type !== 'run') throw new Error(`'${args.join(' ')}' asks for help`);
  const printed: { json?: unknown; rows: readonly (readonly Cell[])[] } = { rows: [] };
  const output: Output = {
    ...createOutput(true),
    json: (value) => {
      printed.json = value;
    },
    table: (_, rows) => {
      printed.rows = [...printed.rows, ...rows];
    },
    note: () => {},
    waiting: () => {},
  };
  await parsed.command.run(parsed.invocation, commandContext({ client, output }));
  return printed;
}

void test('the command line is a client of a running service', async (whole) => {
  const service = await startService(whole);
  const { apiKey, email, password } = service.firstStart;
  const host = service.url.replace('http://', '');

  await whole.test('a sign-in lets commands work until it is ended', async (t) => {
    const place = createPlace(t);
    const login = ['login', '--server', host, '--email', email, '--password-stdin'];
    const signedIn = await cliJson(place, login, { input: `${password}\n` });
    const { key_id: keyId } = signedIn as { key_id: string };
    const loginFile = loginFileOf(place);
    t.match(signedIn, { server: service.url, email, key_id: /^key_/, file: loginFile });
    t.equal(statSync(loginFile).mode & 0o777, 0o600);
    const kept = fileLogin(place) as { api_key: string };
    t.match(kept, { server: service.url, api_key: /^pk_live_/, key_id: keyId });
    t.notMatch(readFileSync(loginFile, 'utf8'), password, 'no password is kept');

    const source = join(place.tmpDir, 'page.html');
    const target = join(place.tmpDir, 'page.pdf');
    writeFileSync(source, '<h1>Signed in</h1><p style="break-before: page">Two</p>');
    const converted = await runCli(place, ['convert', source, '-o', target]);
    t.equal(converted.code, 0, converted.stderr);
    t.match(converted.stderr, `is accepted; waiting for ${service.url}\n`);
    t.match(converted.stdout, /^conv_\w+ is in .*page\.pdf: 2 pages, \d+\.\d kB, in \d+\.\d s\.$/m);
    t.match((await openPdf(readFileSync(target))).text, /Signed in/);

    const client: ClientConfig = { server: undefined, apiKey: undefined, loginFile };
    const again = ['convert', source, '-o', target, '--page-ranges', '9'];
    await t.rejects(ask(client, ...again), /^Conversion conv_\w+ failed: /);
    const named = ['convert', source, '-o', `${target}.pdf`, '--filename', 'Invoice 4320'];
    await ask(client, ...named, '--tag', 'kind:invoice', '--tag', 'month:2026-11');
    const rows = await runCli(place, ['conversions', 'list']);
    const [invoice, failed, done] = [...rows.stdout.matchAll(/^conv_\w+/gm)].map(([id]) => id);
    t.match(
      rows.stdout,
      new RegExp(
        `^${invoice}\tcompleted\t[^\t]+Z\t2\t[0-9.]+ kB\tInvoice 4320\\.pdf\t\n` +
          `${failed}\tfailed\t[^\t]+Z\t\t\t\t.+\n` +
          `${done}\tcompleted\t[^\t]+Z\t2\t[0-9.]+ kB\tSigned in\t\n$`,
      ),
    );
    const listed = await ask(
      client,
      'conversions',
      'list',
      '--status',
      'COMPLETED',
      '--limit',
      '1',
    );
    t.match(listed, {
      json: [{ id: invoice, name: 'Invoice 4320.pdf', filename: 'Invoice 4320.pdf' }],
      rows: [[invoice, 'completed', Date, 2, /kB$/, 'Invoice 4320.pdf', undefined]],
    });
    const find = (...filters: string[]) => ask(client, 'conversions', 'list', ...filters);
    t.match(await find('--q', 'invo 43', '--source', 'html', '--key', keyId), {
      json: { length: 1, 0: { id: invoice, name: 'Invoice 4320.pdf' } },
    });
    t.match(await find('--tag', 'none:x', '--warnings'), { json: { length: 0 } });
    t.match(await find('--tag', 'kind', '--tag', 'month:2026-11'), { json: { length: 1 } });
    t.match(await find('--tag', 'kind', '--tag', 'month:2026-12'), { json: { length: 0 } });
    const idsIn = ({ json }: Awaited<ReturnType<typeof find>>) =>
      (json as readonly { readonly id: string }[]).map(({ id }) => id);
    const newest = idsIn(await find());
    t.ok(newest.length > 1);
    t.strictSame(idsIn(await find('--order', 'oldest')), newest.toReversed());
    await t.rejects(find('--tag', 'No:x'), { code: 'validation_error' });
    const got = await ask(client, 'conversions', 'get', done ?? '');
    t.match(got, {
      json: { id: done, file_url: /^http/ },
      rows: [
        ['id', done],
        ['status', 'completed'],
      ],
    });
    await t.rejects(ask(client, 'conversions', 'get', 'conv_none'), { code: 'not_found' });

    const copy = join(place.tmpDir, 'copy.pdf');
    await ask(client, 'conversions', 'download', done ?? '', '-o', copy);
    t.ok(readFileSync(copy).equals(readFileSync(target)));
    await t.rejects(ask(client, 'conversions', 'download', failed ?? '', '-o', copy), /failed: /);
    const zip = join(place.tmpDir, 'chosen.zip');
    const chosen = [done ?? '', failed ?? ''];
    const zipped = await ask(client, 'conversions', 'zip', ...chosen, '-o', zip);
    t.match(zipped.json, { ids: chosen, path: zip });
    t.equal(readFileSync(zip).subarray(0, 2).toString(), 'PK');
    const open = ['conversions', 'open', done ?? ''];
    const viewer = withProgram(place, 'xdg-open', `echo "$1" > '${place.tmpDir}/shown'`);
    const opened = await runCli(place, open, { env: viewer });
    t.equal(opened.code, 0, opened.stderr);
    const shown = readFileSync(join(place.tmpDir, 'shown'), 'utf8').trim();
    t.ok(readFileSync(shown).equals(readFileSync(target)));
    t.equal(statSync(shown).mode & 0o777, 0o600);
    const blind = await runCli(place, open, { env: withProgram(place, 'xdg-open', 'exit 3') });
    t.match(blind, { code: 1, stderr: /xdg-open cannot show the PDF, which is \/.*\.pdf/ });

    const scopes = ['--scope', 'read', '--scope', 'convert', '--expires', '2100-01-01'];
    const limits = ['--address', '127.0.0.0/8', '--rate-limit', '9', '--credit-limit', '7'];
    const bounds = [...scopes, ...limits, '--test'];
    const { json: made } = await ask(client, 'keys', 'create', '--name', 'ci', ...bounds);
    t.match(made, {
      key: /^pk_test_/,
      scopes: ['convert', 'read'],
      expires_at: '2100-01-01T00:00:00.000Z',
      addresses: ['127.0.0.0/8'],
      rate_limit: 9,
      credit_limit: 7,
      test: true,
    });
    const { id: madeId } = made as { id: string };
    t.match((await ask(client, 'keys', 'list')).rows.slice(0, 2), [
      [
        madeId,
        /^pk_test_/,
        Date,
        undefined,
        Date,
        'convert,read',
        '9/min, 7 credits/month',
        '127.0.0.0/8',
        'ci',
      ],
      [keyId, /^pk_live_/, Date, Date, undefined, 'all', '', undefined, hostname()],
    ]);
    await ask(client, 'keys', 'revoke', madeId);
    await t.rejects(ask(client, 'keys', 'revoke', madeId), { code: 'not_found' });
    const hook = (...args: readonly string[]) => ask(client, 'webhooks', ...args);
    const { json: endpoint } = await hook('create', 'https://example.com/', '--description', 'd');
    const { id: hookId, secret } = endpoint as { id: string; secret: string };
    t.match((await hook('list')).rows, [
      [hookId, 'on', Date, /^whsec_/, /batch.ended/, 'https://example.com/', 'd'],
    ]);
    t.not(((await hook('rotate', hookId)).json as { secret: string }).secret, secret);
    t.match((await hook('rotate')).json, { secret: /^whsec_/ });
    const off = await hook('update', hookId, '--disable', '--types', 'credits.low');
    t.match(off.json, { enabled: false, types: ['credits.low'], disabled_reason: 'owner' });
    const since = ['--since', '2026-01-01T00:00:00Z'];
    await t.rejects(hook('redeliver', hookId, ...since), /switched off. Switch it on first/);
    await t.rejects(hook('redeliver', hookId), /Give --since/);
    await hook('update', hookId, '--enable');
    t.match((await hook('redeliver', hookId, ...since)).json, { deliveries: 0 });
    t.strictSame((await hook('deliveries', '--webhook', hookId)).json, []);
    await hook('delete', hookId);
    await t.rejects(hook('test', hookId), { code: 'not_found' });
    t.match((await ask(client, 'usage', '--limit', '2')).json, {
      server: service.url,
      account: { email, plan: 'pro', credits: 98 },
      rate_limit: { limit: 100, remaining: Number, reset_at: /Z$/ },
      ledger: [{ type: 'debit' }, { type: 'refund' }],
    });

    const file = (name: string, content: string): string => {
      const path = join(place.tmpDir, name);
      writeFileSync(path, content);
      return path;
    };
    const template = (...args: readonly string[]) => ask(client, 'templates', ...args);
    const page = file('invoice.html', '<h1>Invoice {{ number }}</h1>');
    const sample = ['--sample', file('sample.json', '{"number":"1"}')];
    const schema = ['--schema', file('schema.json', '{"required":["number"]}')];
    const stored = await template('save', page, '--name', 'Invoice', ...sample, ...schema);
    const { id: templateId } = stored.json as { id: string };
    const saved = await template('save', file('b.html', '<p>{{ number }}</p>'), '--id', templateId);
    t.match(saved.json, { version: 2 });
    t.match((await template('list')).rows, [[templateId, 2, Date, 'Invoice']]);
    t.match((await template('show', templateId)).rows, [
      [2, Date, Number],
      [1, Date, Number],
    ]);
    const first = await template('show', templateId, '--version', '1');
    t.match(first.json, { html: '<h1>Invoice {{ number }}</h1>', sample: { number: '1' } });
    const data = ['--data', file('data.json', '{"number":"4711"}')];
    const preview = await template('preview', templateId, '--version', '1', ...data);
    t.strictSame(preview.json, { html: '<h1>Invoice 4711</h1>' });
    const filled = join(place.tmpDir, 'filled.pdf');
    await ask(client, 'convert', '--template', `${templateId}@1`, ...data, '-o', filled);
    t.match((await openPdf(readFileSync(filled))).text, /Invoice 4711/);
    const lacking = ['--data', file('none.json', '{}')];
    await t.rejects(
      ask(client, 'convert', '--template', `${templateId}@1`, ...lacking, '-o', filled),
      /data.number: Is required/,
    );
    t.match((await template('rename', templateId, 'Bill')).json, { name: 'Bill' });
    await template('delete', templateId);
    t.strictSame((await template('list')).json, []);
    const shared = await ask(client, 'conversions', 'share', done ?? '', '--expires-in', '3600');
    const link = shared.json as { id: string; url: string };
    t.equal((await fetch(link.url)).status, 200);
    const links = await ask(client, 'conversions', 'links', done ?? '');
    t.match(links.json, [{ id: link.id, expires_at: /Z$/ }]);
    await ask(client, 'conversions', 'unshare', done ?? '', link.id);
    t.equal((await fetch(link.url)).status, 403);
    const { json } = await ask(client, 'conversions', 'retry', done ?? '');
    const { id: retried } = json as { id: string };
    const retry = join(place.tmpDir, 'retry.pdf');
    const fetched = await ask(client, 'conversions', 'download', retried, '-o', retry);
    t.match(fetched.json, { id: retried, retry_of: done });
    const compared = await ask(client, 'conversions', 'rerender', done ?? '', '--wait');
    t.match(compared.json, {
      status: 'completed',
      rerender_of: done,
      rerender: { equal: Boolean },
    });
    const later = await ask(client, 'conversions', 'rerender', done ?? '');
    t.match(later.json, { status: 'pending' });
    const deleted = await ask(client, 'conversions', 'delete', retried);
    t.strictSame(deleted.json, { id: retried, status: 'completed' });
    await t.rejects(ask(client, 'conversions', 'retry', retried), { code: 'gone' });
    const picture = join(place.tmpDir, 'page.jpg');
    await ask(client, 'conversions', 'picture', failed ?? '', '-o', picture);
    t.equal(readFileSync(picture).subarray(0, 2).toString('hex'), 'ffd8', 'a JPEG');
    const several = ['conversions', 'delete', retried, failed ?? '', failed ?? '', 'conv_none'];
    t.match(await runCli(place, several), {
      code: 1,
      stdout: '3 conversions: 0 cancelled, 2 deleted, 1 refused.\n',
      stderr: /^conv_none: There is no such conversion\.$/m,
    });
    await t.rejects(ask(client, 'conversions', 'picture', failed ?? ''), { code: 'gone' });

    const elsewhere = ask(client, 'usage', '--server', 'http://localhost:1');
    await t.rejects(
      elsewhere,
      /no key for http:\/\/localhost:1/,
      'a key goes to its service alone',
    );
    chmodSync(loginFile, 0o644);
    await t.rejects(ask(client, 'usage'), /open to other users: chmod 600/);
    chmodSync(loginFile, 0o600);

    t.match((await ask(client, 'logout')).json, { server: service.url, revoked: keyId });
    t.notOk(existsSync(loginFile));
    await t.rejects(service.client(kept.api_key).account(), { code: 'unauthorized' });
    await t.rejects(ask(client, 'logout'), /not signed in/);
  });

  await whole.test('a key of the environment or of standard input does as well', async (t) => {
    const place = createPlace(t);
    const named = { PRESSLEDGER_SERVER: host, PRESSLEDGER_KEY: apiKey };
    const none = await runCli(place, ['conversions', 'list', '--status', 'pending'], {
      env: named,
    });
    t.match(none, { code: 0, stdout: '', stderr: 'No conversion matches.\n' });
    const piped = ['usage', '--server', host, '--api-key-stdin'];
    t.match(await cliJson(place, piped, { input: apiKey }), { account: { email } });

    const login = ['login', '--server', host, '--api-key-stdin'];
    t.match(await cliJson(place, login, { input: `${apiKey}\n` }), { email, key_id: null });
    t.strictSame(fileLogin(place), { server: service.url, api_key: apiKey });
    const loginFile = loginFileOf(place);
    const client: ClientConfig = { server: undefined, apiKey: undefined, loginFile };
    t.match((await ask(client, 'logout')).json, { revoked: null });
    t.match(await service.client(apiKey).account(), { email }, 'a key that was given stays valid');
    const wrong = await runCli(place, login, { input: 'pk_live_wrong' });
    t.match(wrong, { code: 1, stderr: /credential/ });
    t.notOk(existsSync(loginFile));
  });

  await whole.test('a terminal has questions, heads and elapsed time', onTerminals, async (t) => {
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
    const paths = `'${place.tmpDir}/a.html' -o '${place.tmpDir}/a.pdf'`;
    const converted = await onTerminal(place, `convert ${paths} --wait-for-delay-ms 2500`);
    const screen = converted.screen.replaceAll('\u001b[K', '');
    t.match(screen, /\rconv_\w+ is accepted; waiting for http\S+ \(\d+ s\)/);
    t.match(screen, /\rconv_\w+ is in .*a\.pdf: 1 page, /);
    const list = (await onTerminal(place, 'usage')).screen;
    t.match(list, /^server +http/);
    t.match(list, /\nTIME +TYPE +AMOUNT +BALANCE +CONVERSION\r\n/);
    t.match(list, /\n\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ +debit +-1 +97 +conv_/);

    const again = await onTerminal(place, `login --email ${email}`, [
      [`Server [${service.url}]: `, ''],
      ['Password', password],
    ]);
    t.equal(again.code, 0, again.screen);
    await t.rejects(service.client(former.api_key).account(), { code: 'unauthorized' }, 'replaced');
    const stopped = await onTerminal(place, 'login', [['Server', '\u0003']]);
    t.match(stopped, { code: 1, screen: /The sign-in was cancelled/ });
  });

  await whole.test('a batch is listed, fetched, and followed to its delivery', async (t) => {
    const place = createPlace(t);
    const client: ClientConfig = { server: service.url, apiKey, loginFile: loginFileOf(place) };
    // The batch must not have ended when a command has started, which takes seconds on a busy machine.
    const slow = { html: '<p>One</p>', wait_for: { delay_ms: 10_000 } };
    const requests = [slow, { html: '<p>Two</p>', filename: 'Two' }];
    const api = service.client(apiKey);
    await ask(client, 'webhooks', 'create', 'https://hooks.invalid/', '--types', 'batch.ended');
    const { id } = await api.batches.create(requests, { reference: 'Letters' });
    const zip = join(place.tmpDir, 'letters.zip');
    await t.rejects(
      ask(client, 'batches', 'zip', id, '-o', zip),
      /has not ended: [12] of 2 conversions are unfinished\. .* with --partial\./,
    );
    await eventually('its end', async () => (await api.batches.get(id)).ended_at);
    const counts = { status: 'ended', total: 2, pending: 0, completed: 2, failed: 0 };
    t.match(await ask(client, 'batches', 'list'), {
      json: [{ id, ...counts, reference: 'Letters' }],
      rows: [[id, 'ended', Date, 2, 0, 2, 0, 'Letters']],
    });
    t.match((await ask(client, 'batches', 'get', id)).json, { id, conversions: { length: 2 } });
    t.match((await ask(client, 'batches', 'zip', id, '-o', zip)).json, { id, path: zip });
    t.equal(readFileSync(zip).subarray(0, 2).toString(), 'PK');
    t.strictSame((await ask(client, 'batches', 'cancel', id)).json, { id });
    await t.rejects(ask(client, 'batches', 'get', `batch_${'0'.repeat(26)}`), {
      code: 'not_found',
    });
    const { json } = await eventually('a delivery', async () => {
      const found = await ask(client, 'webhooks', 'deliveries', '--limit', '1');
      const [{ tries } = { tries: 0 }] = found.json as readonly { tries: number }[];
      return tries > 0 ? found : undefined;
    });
    const [{ id: deliveryId }] = json as [{ id: string }];
    t.match((await ask(client, 'webhooks', 'deliveries', deliveryId)).json, {
      id: deliveryId,
      type: 'batch.ended',
    });
    const told = await runCli(service.place, ['history', id]);
    t.match(told.stdout, new RegExp(`The batch ${id} of 2 PDFs was requested\\. .*\\n`));
    t.match(told.stdout, `The batch ${id} ended: 2 completed, 0 failed.`);
    t.match(told.stdout, /Try 1 to deliver batch\.ended to webhook_/);
    t.match(told.stdout, /in the batch batch_\w+\.  conv_\w+ "Two\.pdf"/);
    t.match(await runCli(service.place, ['history', 'batch_none']), {
      code: 1,
      stderr: /There is no batch batch_none/,
    });
  });
});

void test('where no store is named, convert needs none and leaves none behind', async (t) => {
  const place = createPlace(t);
  const { DATA_DIR: _, ...env } = place.env;
  const cwd = t.testdir({ 'page.html': '<h1>Just once</h1>' });
  const args = ['convert', 'page.html', '-o', 'page.pdf'];
  const converted = await runCommand(LAUNCHER, args, { ...env, LOG_LEVEL: 'warn' }, '', cwd);
  t.equal(converted.code, 0, converted.stderr);
  t.match(converted.stderr, /^There is no store in this directory: .* no record is kept\.$/m);
  t.match((await openPdf(readFileSync(join(cwd, 'page.pdf')))).text, /Just once/);
  t.strictSame(readdirSync(cwd).toSorted(), ['page.html', 'page.pdf']);
  t.strictSame(readdirSync(place.tmpDir), []);
  const others = await runCommand(
    LAUNCHER,
    [...args, '--account', 'ann@example.com'],
    env,
    '',
    cwd,
  );
  t.match(others, { code: 1, stderr: /There is no store in / });
});
