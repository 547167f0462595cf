/** Mistakes of a restore are told before the backup is read, and all at once. */
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'tap';
import { cliJson, refuses, runCli } from '../support/cli.ts';
import { createPlace, type Place } from '../support/place.ts';

void test('a restore tells of all mistakes at once, before it reads the backup', async (t) => {
  const place = createPlace(t);
  await cliJson(place, ['account', 'create', 'ann@example.com']);
  const [folder, keys] = [join(place.tmpDir, 'backup'), join(place.tmpDir, 'safe', 'keys')];
  const keyring = join(keys, 'keyring.jsonl');
  await cliJson(place, ['backup', folder]);
  await cliJson(place, ['backup', 'keyring', keyring]);
  for (const made of [folder, keys, dirname(keys)])
    t.equal(statSync(made).mode & 0o777, 0o700, made);
  await refuses(
    t,
    place,
    ['backup', 'keyring', '/proc/none/k'],
    1,
    /The folder of the keyring \/proc\/none cannot/,
  );

  const used = await runCli(place, ['restore', folder, '--keyring', keyring, '--new-origin']);
  t.equal(used.code, 1);
  t.match(used.stderr, /The event store is not empty/);
  t.notMatch(used.stderr, /Checking/, 'the backup was not read');

  const dataDir = join(place.tmpDir, 'new');
  const empty: Place = { ...place, dataDir, env: { ...place.env, DATA_DIR: dataDir } };
  const several = await runCli(empty, [
    'restore',
    folder,
    '--keyring',
    `${keyring}.old`,
    '--as-of',
    'yesterday',
    '--checkpoint',
    keyring,
  ]);
  t.not(several.code, 0);
  for (const mistake of [
    /keyring\.jsonl\.old/,
    /--as-of is an ISO 8601 time/,
    /is not a signed checkpoint/,
    /MASTER_KEY is needed/,
  ]) {
    t.match(several.stderr, mistake);
  }
  t.notOk(existsSync(dataDir), 'nothing was made');
});
