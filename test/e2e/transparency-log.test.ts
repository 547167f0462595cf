/** The signed log as an operator and an auditor meet it: the command line, the guide's own commands, a restore. */
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { test } from 'tap';
import { verifiedBy } from '../../src/transparency-log/signed-note.ts';
import { cliJson, runCli, runCommand } from '../support/cli.ts';
import { testDirectory } from '../support/directory.ts';
import { guideBlocks } from '../support/guide.ts';
import { createPlace, type Place } from '../support/place.ts';
import { startService } from '../support/service.ts';

const EMAIL = 'ann@example.com';

async function withAccount(place: Place): Promise<Place> {
  await cliJson(place, ['account', 'create', '--email', EMAIL]);
  return place;
}

const grant = (place: Place) => cliJson(place, ['credits', 'grant', EMAIL, '1']);

const lacking = ['sh', 'curl', 'openssl', 'python3'].filter(
  (program) => spawnSync(program, ['--help']).error !== undefined,
);

const needsPrograms = lacking.length > 0 ? { skip: `not installed: ${lacking.join(', ')}` } : {};

void test('the commands of the guide check what a service serves', needsPrograms, async (t) => {
  const service = await startService(t);
  const { place } = service;
  const { id } = await service.client().create({ html: '<h1>A document</h1>' });
  await service.client().wait(id);
  const proof = await service.client().proof(id);
  const directory = testDirectory(t, { 'proof.json': JSON.stringify(proof) });
  const run = (program: string, args: string[]) =>
    runCommand(program, args, { ...place.env, URL: service.url }, '', directory);

  const shell = guideBlocks('audit.md', 'sh').find((block) => block.includes('pkeyutl')) ?? '';
  const checked = await run('sh', ['-euc', shell]);
  t.match(checked.stdout, /^Signature Verified Successfully$/m, checked.stderr);
  writeFileSync(join(directory, 'text'), `${readFileSync(join(directory, 'text'), 'utf8')}x`);
  const altered = await run('sh', ['-euc', shell.split('\n').at(-2) ?? '']);
  t.not(altered.code, 0, 'an altered text is found');

  const [python = ''] = guideBlocks('audit.md', 'python');
  const proven = await run('python3', ['-c', python]);
  t.equal(proven.code, 0, proven.stderr);
  t.equal(proven.stdout.trimEnd().split('\n').length, proof.entries.length);
  t.match(proven.stdout, /ConversionCompleted is proven/);
  const [first, ...rest] = proof.entries;
  const entries = [{ ...first, event: first?.event.replace('"amount":1', '"amount":0') }, ...rest];
  writeFileSync(join(directory, 'proof.json'), JSON.stringify({ ...proof, entries }));
  t.match((await run('python3', ['-c', python])).stderr, /AssertionError: event \d+ is not proven/);
  const shown = await cliJson(place, ['proof', id]);
  t.match(shown, { origin: proof.origin, key: proof.key });
});

void test('the command line shows keys and checkpoints, and rotates', async (t) => {
  const place = await withAccount(createPlace(t, { LOG_ORIGIN: 'pdf.example.com/tlog' }));
  const first = (await cliJson(place, ['tlog', 'key'])) as { keys: string[] };
  t.match(first.keys, [/^pdf\.example\.com\/tlog\+[0-9a-f]{8}\+A/]);
  const checkpoint = async () =>
    (await cliJson(place, ['tlog', 'checkpoint'])) as { size: number; note: string };
  const before = await checkpoint();
  t.strictSame(await checkpoint(), before, 'nothing new is to be covered');
  await grant(place);
  t.ok((await checkpoint()).size > before.size);
  const rotated = (await cliJson(place, ['tlog', 'rotate'])) as { keys: string[] };
  t.equal(rotated.keys.length, 2);
  t.equal(rotated.keys[1], first.keys[0]);
  t.strictSame(verifiedBy((await checkpoint()).note, rotated.keys), rotated.keys);
  const again = await runCli(place, ['tlog', 'rotate']);
  t.match(again, { code: 1, stdout: '' });
  t.match(again.stderr, `This key would sign no more: ${first.keys[0]}.`);
  const text = await runCli(place, ['tlog', 'checkpoint']);
  t.equal(text.stdout, (await checkpoint()).note);
  const unknown = await runCli(place, ['proof', 'conv_x']);
  t.match(unknown, { code: 1, stderr: /^pressledger: There is no conversion conv_x\.\n$/ });

  const renamed = await runCli(place, ['start'], { env: { LOG_ORIGIN: 'other' } });
  const line = /^pressledger: LOG_ORIGIN is other, but .* as pdf\.example\.com\/tlog and keeps/;
  t.match(renamed, { code: 1, stderr: line });
});

void test('a log that was put back behind a signed checkpoint stops the start', async (t) => {
  const place = await withAccount(createPlace(t));
  const store = join(place.dataDir, 'pressledger.db');
  await cliJson(place, ['tlog', 'checkpoint']);
  cpSync(store, `${store}.older`);
  await grant(place);
  const { size } = (await cliJson(place, ['tlog', 'checkpoint'])) as { size: number };
  cpSync(store, `${store}.newer`);
  cpSync(`${store}.older`, store);
  const line = new RegExp(
    `^pressledger: The log holds \\d+ events, and .* checkpoint of ${size} .* restore the newer one\\.$`,
    'm',
  );
  t.match(await runCli(place, ['start']), { code: 1, stdout: '', stderr: line });
  t.match(await runCli(place, ['tlog', 'checkpoint']), { code: 1, stderr: line });
  cpSync(`${store}.newer`, store);
  await grant(place);
  t.ok(((await cliJson(place, ['tlog', 'checkpoint'])) as { size: number }).size > size);
});

void test('an event that was changed before the last checkpoint stops the signer', async (t) => {
  const place = await withAccount(createPlace(t));
  await cliJson(place, ['tlog', 'checkpoint']);
  const db = new Sqlite(join(place.dataDir, 'pressledger.db'));
  const trigger = db
    .prepare<[], string>("SELECT sql FROM sqlite_schema WHERE name = 'events_no_update'")
    .pluck()
    .get();
  db.exec('DROP TRIGGER events_no_update');
  const changed = db
    .prepare(`UPDATE events SET data = replace(data, '"amount":100', '"amount":900')`)
    .run();
  // A start would find it missing.
  db.exec(trigger ?? '');
  t.ok(changed.changes > 0);
  t.equal(
    db.prepare('SELECT count(*) FROM events WHERE data LIKE \'%"amount":900%\'').pluck().get(),
    1,
  );
  db.close();
  rmSync(join(place.dataDir, 'read-model'), { recursive: true });
  await grant(place);
  const line = /^pressledger: The log's first \d+ events are not those of the checkpoint/m;
  t.match(await runCli(place, ['tlog', 'checkpoint']), { code: 1, stderr: line });
  t.match(await runCli(place, ['start']), { code: 1, stderr: line }, 'and the service');
});
