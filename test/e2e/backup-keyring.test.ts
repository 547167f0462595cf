/** `backup verify --keyring`: each way in which the keyring's copy may fail a restore is found before that day. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { sha256Of } from '../../src/archive/manifest.ts';
import { BackupFolder } from '../../src/archive/places/folder.ts';
import { verifyBackup } from '../../src/archive/verify.ts';
import { readConfig } from '../../src/config/config.ts';
import { keyOpener } from '../../src/service/backups.ts';
import { cliJson, runCli } from '../support/cli.ts';
import { createPlace } from '../support/place.ts';

/** A changed copy whose last line says that it is whole. */
const signed = (changed: readonly string[]): string => {
  const before = changed.map((line) => `${line}\n`).join('');
  const end = { records: changed.length - 1, sha256: sha256Of(before) };
  return `${before}${JSON.stringify(end)}\n`;
};

const keyOf = (account: string) => (line: string) => line.includes(`${account}.key`);

const isRecent = (time: string | undefined) => Date.now() - Date.parse(time ?? '') < 300_000;

void test("the keyring's copy is held against the log of the backup", {
  timeout: 240_000,
}, async (t) => {
  const place = createPlace(t);
  const [folder, copy, bad] = ['backup', 'keyring.jsonl', 'bad.jsonl'].map((name) =>
    join(place.tmpDir, name),
  );
  if (!folder || !copy || !bad) throw new TypeError('There are three.');
  const run = async (...args: string[]) => (await cliJson(place, args)) as { id: string };
  const verify = ['backup', 'verify', folder];
  const { id: kept } = await run('account', 'create', 'kept@example.com');
  const { id: gone } = await run('account', 'create', 'gone@example.com');
  await run('backup', folder);
  await run('backup', 'keyring', copy);
  const early = `${copy}.early`;
  copyFileSync(copy, early);
  const fits = { checked: true, file: copy, keys: 4, erased: 0, opened: true };
  t.match(await run(...verify, '--keyring', copy), { ok: true, keyring: fits });
  t.match(await run(...verify), { ok: true, keyring: { checked: false } });
  const silent = await runCli(place, verify);
  t.match(silent, {
    code: 0,
    stderr: /^The keyring's copy was not checked: name it with --keyring/m,
  });

  const elsewhere = { ...place, env: { ...place.env, DATA_DIR: join(place.tmpDir, 'none') } };
  const without = await runCli(elsewhere, [...verify, '--keyring', copy]);
  t.match(without, {
    code: 0,
    stdout: /That the keys open was not checked: MASTER_KEY is not set/,
  });
  t.match(without.stderr, /^Not recorded for status and metrics: there is no /m);

  await run('account', 'erase', 'gone@example.com', '--yes');
  await run('account', 'create', 'new@example.com');
  await run('backup', folder);
  await run('backup', 'keyring', copy);
  t.match(await run(...verify, '--keyring', copy), { ok: true, keyring: { keys: 4, erased: 2 } });
  const { backups } = (await cliJson(place, ['status'])) as { backups: Record<string, string> };
  t.ok(isRecent(backups['keyring_copied_at']) && isRecent(backups['verified_backup_of']));
  t.match(
    (await runCli(place, ['status'])).stdout,
    /^Backups +last copy of the keyring \d+ s old/m,
  );

  const other = createPlace(t);
  await cliJson(other, ['account', 'create', 'kept@example.com']);
  await cliJson(other, ['backup', 'keyring', join(other.tmpDir, 'copy')]);
  const whole = readFileSync(copy, 'utf8');
  const lines = whole.split('\n').slice(0, -2);
  const swapped = lines.map((line) =>
    line.replace(/"v1\.(.)/, (_, c) => `"v1.${c === 'A' ? 'B' : 'A'}`),
  );
  const damages: readonly (readonly [string, string | undefined, RegExp, object?])[] = [
    ['missing', undefined, /expected the file that backup keyring wrote, found no such file/],
    ['empty', '', /found a file that is empty/],
    ['cut', whole.slice(0, 300), /found a file that is cut off: it does not have its last line/],
    ['cut at a line', `${lines.join('\n')}\n`, /found a file that is cut off/],
    [
      'changed',
      whole.replace(kept, gone),
      /found a file that is damaged: it is not what was written/,
    ],
    ['not a keyring', '{"hello":1}\n', /found a file that is not a keyring of a backup/],
    [
      'short of a key',
      signed(lines.filter((line) => !keyOf(kept)(line))),
      /expected a key, found none: the copy is older than the log/,
      { account: kept },
    ],
    [
      "with an erased account's key",
      readFileSync(early, 'utf8'),
      /expected no key of an erased account, found its key: the copy is older than the erasure/,
      { account: gone },
    ],
    [
      "another deployment's",
      readFileSync(join(other.tmpDir, 'copy'), 'utf8'),
      /expected the keyring of the log pressledger\/\w+, found that of the log pressledger\/\w+/,
    ],
    [
      'with records that were changed',
      signed(swapped),
      /expected a record that opens with MASTER_KEY, found one that does not/,
      { record: /\.key$/ },
    ],
  ];
  const opener = keyOpener({ ...readConfig({}), dataDir: place.dataDir });
  for (const [name, text, problem, at = {}] of damages) {
    const keyring = { file: bad, text, opener };
    const { ok, problems } = await verifyBackup(BackupFolder.readOnly(folder), {
      now: Date.now(),
      keyring,
    });
    t.notOk(ok, name);
    const found = problems.find((each) => problem.test(each.problem));
    t.match(found?.difference?.at, { keyring: bad, ...at }, `${name}: ${problems[0]?.problem}`);
  }
  writeFileSync(bad, readFileSync(early));
  const short = await runCli(place, [...verify, '--keyring', bad, '--json']);
  t.match(short, { code: 1, stderr: /is not whole: 4 problems, first keyring .*, account acct_/ });
  t.match(JSON.parse(short.stdout), {
    ok: false,
    at: { keyring: bad, account: /^acct_/ },
    expected: 'a key',
    found: /^none: the copy is older than the log/,
    keyring: { checked: true },
    problems: { length: 4 },
  });
  const wrong = { ...place, env: { ...place.env, MASTER_KEY: '77'.repeat(32) } };
  const { code, stderr } = await runCli(wrong, [...verify, '--keyring', copy]);
  t.equal(code, 1);
  t.match(
    stderr,
    /expected keys wrapped with the master key of these settings, found keys wrapped with another/,
  );
});
