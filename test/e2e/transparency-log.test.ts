/** The signed log as an operator and an auditor meet it: the command line, a restore. */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { test } from 'tap';
import { verifiedBy } from '../../src/transparency-log/signed-note.ts';
import { cliJson, runCli } from '../support/cli.ts';
import { createPlace, type Place } from '../support/place.ts';

const EMAIL = 'ann@example.com';

async function withAccount(place: Place): Promise<Place> {
  await cliJson(place, ['account', 'create', '--email', EMAIL]);
  return place;
}

const grant = (place: Place) => cliJson(place, ['credits', 'grant', EMAIL, '1']);

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

void test('a log that was put back behind a signed checkpoint is refused', async (t) => {
  const place = await withAccount(createPlace(t));
  const store = join(place.dataDir, 'pressledger.db');
  await cliJson(place, ['tlog', 'checkpoint']);
  cpSync(store, `${store}.older`);
  await grant(place);
  const { size } = (await cliJson(place, ['tlog', 'checkpoint'])) as { size: number };
  cpSync(store, `${store}.newer`);
  cpSync(`${store}.older`, store);
  const readModel = join(place.dataDir, 'read-model');
  const lacks = /^pressledger: The log lacks revision \d+ of \S+ .*audit\.md\.$/m;
  t.match(await runCli(place, ['tlog', 'checkpoint']), { code: 1, stderr: lacks });
  rmSync(readModel, { recursive: true });
  const line = new RegExp(
    `^pressledger: The log holds \\d+ events, and .* checkpoint of ${size} .*audit\\.md\\.$`,
    'm',
  );
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
  const granted = await runCli(place, ['credits', 'grant', EMAIL, '1']);
  t.match(granted, { code: 1, stderr: /is not the one that the read models were made of/ });
  rmSync(join(place.dataDir, 'read-model'), { recursive: true });
  const line = /^pressledger: The log's first \d+ events are not those of the checkpoint/m;
  t.match(await runCli(place, ['tlog', 'checkpoint']), { code: 1, stderr: line });
  t.match(await runCli(place, ['account', 'list']), { code: 1, stdout: '', stderr: line });
});
