/** The erasure of an account beside a running service, its hold and its export. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { test } from 'tap';
import { cliJson, refuses, runCli } from '../support/cli.ts';
import { eventually } from '../support/deadline.ts';
import { EMAIL, eraseAndSearch, SETTINGS, TEXTS, useAccount } from '../support/erasure.ts';
import { readLog } from '../support/invariants.ts';
import { createPlace } from '../support/place.ts';
import { startService } from '../support/service.ts';
import { filesBelow, findTexts } from '../support/telling-texts.ts';
import { onTerminal, onTerminals } from '../support/terminal.ts';

void test('the search finds a text in each of its forms', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'pressledger-texts-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const [text, other] = [TEXTS.html, TEXTS.header];
  for (const [n, encoding] of (
    ['utf8', 'utf16le', 'hex', 'base64', 'base64url'] as const
  ).entries()) {
    const content = Buffer.from(`${'~'.repeat(n)}${text}~`).toString(
      encoding === 'utf8' ? 'utf8' : 'latin1',
    );
    const bytes = Buffer.from(content, encoding === 'utf16le' ? 'utf16le' : 'latin1');
    const written =
      encoding === 'hex' || encoding.startsWith('base64') ? bytes.toString(encoding) : bytes;
    writeFileSync(join(directory, `${n}`), written);
  }
  const found = findTexts(filesBelow(directory), { text, other }).map((each) => each.split(':')[0]);
  for (const form of ['plain', 'UTF-16LE', 'hex', 'base64 0', 'base64url 1']) {
    t.ok(found.includes(`text, ${form}`), form);
  }
  t.notOk(found.some((each) => each?.startsWith('other')));
  t.end();
});

void test('nothing of an erased account is found, in one process', {
  timeout: 240_000,
}, async (t) => {
  const api = await startService(t, SETTINGS);
  const { dataDir, tmpDir } = api.place;
  const stored = () => filesBelow(dataDir, tmpDir);
  const deployment = { api, processes: [api], stored };
  await eraseAndSearch(t, deployment);
});

void test('a hold, an export, and what the operator must confirm', {
  timeout: 240_000,
}, async (t) => {
  const api = await startService(t, SETTINGS);
  const { place } = api;
  const { id, completed } = await useAccount(t, { api, processes: [api], stored: () => new Map() });
  // Held, they would stay beyond the release for up to a minute.
  await eventually('the deletion of both failed requests', () => {
    const expired = readLog(place.dataDir).filter(({ type }) => type === 'ConversionExpired');
    return expired.length === 2 ? true : undefined;
  });
  const until = '2100-01-01T00:00:00.000Z';
  t.match(await cliJson(place, ['account', 'hold', EMAIL, '--until', until]), { hold: { until } });
  t.match(await cliJson(place, ['account', 'show', EMAIL]), { hold: { until, placed_at: /Z$/ } });
  const erase = ['account', 'erase', EMAIL];
  const remedy =
    /under a hold.*ends 2100-.*`DATA_DIR=.* bin\/pressledger account hold zerlina.* --release`/;
  for (const named of [EMAIL, id]) {
    await refuses(t, place, ['account', 'erase', named, '--yes'], 1, remedy);
  }
  t.match(await cliJson(place, ['account', 'hold', EMAIL, '--release']), { hold: null });
  t.match(await cliJson(place, ['account', 'show', EMAIL]), { hold: null });
  await refuses(t, place, ['account', 'hold', EMAIL, '--release'], 1, /under no hold/);
  await refuses(
    t,
    place,
    ['account', 'hold', EMAIL, '--until', '2001-01-01T00:00:00Z'],
    1,
    /future/,
  );
  await refuses(t, place, erase, 2, /no terminal to ask at: give --yes/);
  await refuses(t, place, ['account', 'erase', 'nobody@example.com', '--yes'], 1, /no account/);

  const file = join(place.tmpDir, 'export.zip');
  const told = await cliJson(place, ['account', 'export', EMAIL, '-o', file]);
  t.equal(statSync(file).mode & 0o077, 0, 'for the owner only');
  const files = unzipSync(readFileSync(file));
  t.match(told, { id, email: EMAIL, files: [file], entries: Object.keys(files).length });
  const text = (name: string): string => Buffer.from(files[name] ?? '').toString();
  const again = ['account', 'export', EMAIL, '-o', join(place.tmpDir, 'again.zip')];
  await cliJson(place, again);
  const looks = readLog(place.dataDir).filter(({ type }) => type === 'AccountInspected');
  const exports = looks.filter(({ data }) => data.includes('"what":"export"'));
  t.equal(exports.length, 2, 'each export leaves an event');
  const folder = `documents/${completed.id}`;
  t.strictSame(Object.keys(files).toSorted(), [
    'README.txt',
    'account.json',
    'batches.jsonl',
    'conversions.jsonl',
    `${folder}/document.pdf`,
    `${folder}/manifest.json`,
    `${folder}/request.json`,
    'events/000000001.jsonl',
    'index.html',
    'keys.json',
    'ledger.jsonl',
    'members.json',
    'sessions.json',
    'webhooks.json',
  ]);
  t.match(text(`${folder}/document.pdf`), /^%PDF-/);
  t.match(JSON.parse(text(`${folder}/request.json`)), { metadata: { title: TEXTS.title } });
  t.match(JSON.parse(text(`${folder}/manifest.json`)), { version: Number });
  t.match(JSON.parse(text('account.json')), { id, email: EMAIL, plan: 'pro', hold: null });
  t.match(JSON.parse(text('members.json')), [{ email: EMAIL, role: 'owner', status: 'active' }]);
  t.match(JSON.parse(text('keys.json')), [{ name: TEXTS.keyName }]);
  const lines = (name: string) =>
    text(name)
      .trim()
      .split('\n')
      .map((each) => JSON.parse(each));
  t.match(lines('ledger.jsonl').at(-1), { type: 'grant' });
  t.equal(lines('ledger.jsonl').length, 6);
  const events = lines('events/000000001.jsonl');
  const requested = events.find(({ type }) => type === 'ConversionRequested');
  t.match(requested, { request_id: TEXTS.requestId, client_address: TEXTS.clientAddress });
  t.match(events[0], { type: 'EmailReserved' });
  t.match(lines('conversions.jsonl').at(-1), { id: completed.id, filename: TEXTS.filename });
  t.match(text('index.html'), `href="${folder}/document.pdf"`);
  t.strictSame(
    readdirSync(place.tmpDir).filter((name) => name.endsWith('.part')),
    [],
  );
  await refuses(t, place, ['account', 'export', EMAIL], 2, /--output is needed/);
});

void test('a hold that takes the place of another says which', async (t) => {
  const place = createPlace(t);
  await cliJson(place, ['account', 'create', EMAIL]);
  const endless = ['account', 'hold', EMAIL];
  const ending = [...endless, '--until', '2100-01-01T00:00:00Z'];
  const told = async (args: readonly string[]) => (await runCli(place, args)).stderr;
  t.equal(await told(endless), '', 'the first');
  t.match(await told(ending), /hold before is no longer in force: since .*, without an end/);
  t.equal(await told(ending), '', 'the same');
  t.match(await told(endless), /hold before is no longer in force: since .*, until 2100-01-01/);
});

void test('on a terminal, the address is asked for again', onTerminals, async (t) => {
  const place = createPlace(t);
  await cliJson(place, ['account', 'create', EMAIL]);
  const question = 'Type the address again to confirm: ';
  for (const [answer, told] of [
    ['somebody@else.example', /That is another address\. Nothing was erased\./],
    ['\u0003', /Nothing was erased\./],
  ] as const) {
    const { code, screen } = await onTerminal(place, `account erase ${EMAIL}`, [
      [question, answer],
    ]);
    t.equal(code, 1);
    t.match(screen, told);
    t.match(await cliJson(place, ['account', 'show', EMAIL]), { email: EMAIL });
  }
  const line = `account erase ${EMAIL}`;
  const { code, screen } = await onTerminal(place, line, [[question, ` ${EMAIL.toUpperCase()}`]]);
  t.equal(code, 0, screen);
  t.match(screen, /Erased acct_\w+: its key is destroyed/);
  await refuses(t, place, ['account', 'show', EMAIL], 1, /no account/);
});
