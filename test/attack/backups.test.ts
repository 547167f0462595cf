/** Backups that somebody has changed who may write their place, and has no keys. */
import { constants } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { test } from 'tap';
import { makeBackup } from '../../src/archive/backup.ts';
import { readLines } from '../../src/archive/blocks.ts';
import { keyringText, parseKeyring } from '../../src/archive/keyring-file.ts';
import { type Manifest, sha256Of, writeManifest } from '../../src/archive/manifest.ts';
import { BackupFolder } from '../../src/archive/places/folder.ts';
import { planRestore } from '../../src/archive/restore-plan.ts';
import { temporaryName } from '../../src/documents/durable-file.ts';
import { writeSecret } from '../../src/service/backups.ts';
import { Frontier, leafHash } from '../../src/transparency-log/merkle-tree.ts';
import { OPTIONS, openSource, quietly, verify } from '../support/archives.ts';
import { testDirectory } from '../support/directory.ts';
import { accountId, NOW } from '../support/samples.ts';

void test('a link in a folder leads nobody to delete what lies elsewhere', async (t) => {
  const source = await openSource(t);
  const path = join(source.directory, 'backup');
  await makeBackup(source, await BackupFolder.open(path), OPTIONS);
  const elsewhere = join(source.directory, 'keyring');
  mkdirSync(elsewhere);
  const key = join(elsewhere, 'acct_1.key');
  writeFileSync(key, 'v1.one');
  utimesSync(key, 1, 1);
  for (const name of ['tmp', 'log', 'documents', 'documents/tmp', 'documents/aa']) {
    const copy = join(source.directory, 'copy');
    cpSync(path, copy, { recursive: true });
    rmSync(join(copy, name), { recursive: true, force: true });
    symlinkSync(elsewhere, join(copy, name));
    await t.rejects(BackupFolder.open(copy), { message: /is a symbolic link/ }, name);
    t.strictSame(readdirSync(elsewhere), ['acct_1.key'], name);
    rmSync(copy, { recursive: true });
  }
  const link = join(source.directory, 'link');
  symlinkSync(path, link);
  t.match(await makeBackup(source, await BackupFolder.open(link), OPTIONS), { addedEvents: 0 });
});

void test('a manifest names no file but those of a backup', async (t) => {
  const source = await openSource(t);
  const path = join(source.directory, 'backup');
  const place = await BackupFolder.open(path);
  const { manifest } = await makeBackup(source, place, OPTIONS);
  const [segment] = manifest.segments;
  if (segment === undefined || manifest.index === null) throw new Error('There is no segment.');
  // What lies outside has the right content, so that nothing but its name speaks against it.
  for (const file of [segment.file, manifest.index.file]) {
    writeFileSync(join(source.directory, basename(file)), readFileSync(join(path, file)));
  }
  const outside = `../${basename(segment.file)}`;
  const index = { ...manifest.index, file: `../${basename(manifest.index.file)}` };
  for (const forged of [
    { segments: [{ ...segment, file: outside }] },
    { segments: [{ ...segment, file: `log/${outside}` }] },
    { index },
    { index: { ...index, file: join(source.directory, basename(index.file)) } },
    { subtrees: 'x' },
    { events: -1 },
  ]) {
    await writeManifest(place, { ...manifest, ...forged } as Manifest);
    const told = JSON.stringify(forged);
    const error = { message: /^is damaged: manifest\.json/ };
    await t.rejects(makeBackup(source, place, OPTIONS), error, told);
    await t.rejects(verify(place), error, told);
    await t.rejects(planRestore(place, undefined, [], quietly), error, told);
    t.ok(existsSync(join(path, outside)), 'and stays as it is');
  }
});

void test('a backup that was changed with its manifest is not as it was signed', async (t) => {
  const source = await openSource(t);
  const path = join(source.directory, 'backup');
  const place = await BackupFolder.open(path);
  const { manifest } = await makeBackup(source, place, OPTIONS);
  const checkpoint = manifest.checkpoint ?? '';
  const [segment] = manifest.segments;
  if (segment === undefined) throw new Error('There is no segment.');
  const text = gunzipSync(readFileSync(join(path, segment.file))).toString();
  const change = async (lines: readonly string[]): Promise<void> => {
    const content = gzipSync(lines.map((line) => `${line}\n`).join(''));
    await place.write(segment.file, content);
    const tree = new Frontier();
    for (const line of lines) tree.add(leafHash(line));
    await writeManifest(place, {
      ...manifest,
      events: lines.length,
      root: tree.root().toString('base64'),
      segments: [{ ...segment, sha256: sha256Of(content), events: lines.length }],
    });
  };
  const lines = text.split('\n').slice(0, -1);
  const ofAccount = lines.findIndex((line) => line.includes('AccountOpened'));
  const actor = lines.with(
    ofAccount,
    (lines[ofAccount] ?? '').replace('"kind":"operator"', '"kind":"service"'),
  );
  t.notSame(actor, lines);
  await change(actor);
  await t.rejects(planRestore(place, undefined, [], quietly), {
    name: 'UnusableArchive',
    message: /^is not as its log was signed \(.*expected the root/,
  });

  const unsigned = actor.slice(
    0,
    lines.findIndex((line) => line.includes('CheckpointSigned')),
  );
  await change(unsigned);
  const known = [checkpoint];
  t.match(await planRestore(place, undefined, known, quietly), { isBehind: true });

  const longer = Number(checkpoint.split('\n')[1]);
  const events = lines.filter((line) => !line.includes('CheckpointSigned'));
  await change([...events, ...events].slice(0, longer + 1));
  await t.rejects(planRestore(place, undefined, known, quietly), {
    message: /has other events than those of the published checkpoint/,
  });
});

const keyringOf = (name: string): string =>
  keyringText({ madeAt: NOW, masterKey: 'x', records: new Map([[name, 'x']]) });

void test("a keyring's file names no record but those of a keyring", (t) => {
  const account = accountId();
  for (const name of [`${account}.key`, `${account}.erased`, 'keyring.id', 'keyring.log']) {
    t.ok(parseKeyring(keyringOf(name)).records.has(name), name);
  }
  for (const name of [
    `../${account}.key`,
    `./${account}.key`,
    `/tmp/${account}.erased`,
    `${account}.key/../../x.key`,
    `${account}.key\n`,
    '../../x.erased',
    'keyring.moved',
    'master.check',
    '',
  ]) {
    const forged = keyringOf(name);
    t.throws(
      () => parseKeyring(forged),
      { message: /^is damaged: it names what is not a record/ },
      name,
    );
  }
  t.end();
});

/** Reads what a place holds as its one file. */
const readAs = (content: Buffer): Promise<readonly string[]> => {
  const place = { read: async () => content };
  return readLines(place, { file: 'log/x', sha256: sha256Of(content) });
};

void test('a list is read that is longer than the longest string', async (t) => {
  const line = `{"id":"${'x'.repeat(1000)}${randomBytes(64).toString('hex')}"}`;
  const text = `${line}\n`.repeat(1000);
  const blocks = Math.ceil(constants.MAX_STRING_LENGTH / text.length) + 1;
  // Noise between the blocks, as hashes are: no list is packed a hundred times smaller.
  const noise = gzipSync(`${randomBytes(20_000).toString('hex')}\n`);
  const content = Buffer.concat(
    Array.from({ length: blocks }, () => [gzipSync(text), noise]).flat(),
  );
  const lines = await readAs(content);
  t.equal(lines.length, blocks * 1001);
  t.equal(lines[0], line);
});

void test('a file that unpacks to far more than lines do is refused', async (t) => {
  const bomb = gzipSync(Buffer.alloc(128 * 1024 * 1024));
  t.ok(bomb.length < 200_000);
  for (const content of [bomb, Buffer.from('no gzip'), gzipSync('{}\n').subarray(0, -9)]) {
    await t.rejects(readAs(content), { message: 'is damaged: log/x cannot be unpacked.' });
  }
});

void test('no copy of the keys stays behind where a call was killed', async (t) => {
  const directory = testDirectory(t);
  const path = join(directory, 'keyring.jsonl');
  const writer = temporaryName().replace(/-\d+-\d+-/, '-999999999-1-');
  for (const name of [`${path}.${writer}.tmp`, `${path}.4711.tmp`]) {
    writeFileSync(name, 'v1.old');
    utimesSync(name, 1, 1);
  }
  await writeSecret(path, 'v1.new');
  t.strictSame(readdirSync(directory), ['keyring.jsonl']);
  t.equal(readFileSync(path, 'utf8'), 'v1.new');
  t.equal(statSync(path).mode & 0o777, 0o600);
});
