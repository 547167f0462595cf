import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { writerName } from '../../src/blob-store/writer.ts';
import { newAccountId } from '../../src/ids.ts';
import { FileKeyring } from '../../src/keyring/file.ts';
import { testDirectory } from '../support/directory.ts';
import { runKeyringContract } from './keyring-contract.ts';

const masterKey = Buffer.alloc(32, 7);

runKeyringContract({
  name: 'files',
  open: async (t) => {
    const dir = join(testDirectory(t), 'keyring');
    return async () => new FileKeyring(dir, masterKey);
  },
});

void test('a key lies wrapped, for the owner only, and is gone when erased', async (t) => {
  const dir = testDirectory(t);
  const accountId = newAccountId(Date.now());
  const keyring = new FileKeyring(dir, masterKey);
  const key = await keyring.dataKey(accountId);
  const file = join(dir, `${accountId}.key`);
  const text = readFileSync(file, 'utf8');
  t.match(text, /^v1\./);
  t.notOk(text.includes(key.toString('base64url')));
  t.equal(statSync(file).mode & 0o077, 0);
  writeFileSync(`${file}.4194999-abc.tmp`, text);
  await keyring.erase(accountId);
  t.strictSame(readdirSync(dir), [`${accountId}.erased`]);
});

void test('a key does not open with another master key, nor for another account', async (t) => {
  const dir = testDirectory(t);
  const [one, two] = [newAccountId(Date.now()), newAccountId(Date.now())];
  await new FileKeyring(dir, masterKey).dataKey(one);
  const message = /does not open with this master key/;
  await t.rejects(new FileKeyring(dir, Buffer.alloc(32, 8)).dataKey(one), { message });
  writeFileSync(join(dir, `${two}.key`), readFileSync(join(dir, `${one}.key`)));
  await t.rejects(new FileKeyring(dir, masterKey).dataKey(two), { message });
});

void test('a key that comes up beside its tombstone is not given out', async (t) => {
  const dir = testDirectory(t);
  const accountId = newAccountId(Date.now());
  await new FileKeyring(dir, masterKey).dataKey(accountId);
  writeFileSync(join(dir, `${accountId}.erased`), '');
  await t.rejects(new FileKeyring(dir, masterKey).dataKey(accountId), { name: 'KeyErased' });
});

void test('what killed writers left is swept', async (t) => {
  const dir = testDirectory(t);
  const accountId = newAccountId(Date.now());
  const own = `${accountId}.key.${writerName()}-abc.tmp`;
  const dead = `${accountId}.key.${writerName().replace(/-\d+-/, '-4194999-')}-abc.tmp`;
  const elsewhere = `${accountId}.key.0123456789ab-4194999-1-abc.tmp`;
  for (const name of [own, dead, elsewhere]) writeFileSync(join(dir, name), '');
  t.ok(new FileKeyring(dir, masterKey));
  t.strictSame(readdirSync(dir).toSorted(), [own, elsewhere].toSorted());
  const hoursOld = new Date(Date.now() - 2 * 3_600_000);
  utimesSync(join(dir, elsewhere), hoursOld, hoursOld);
  t.ok(new FileKeyring(dir, masterKey));
  t.strictSame(readdirSync(dir), [own]);
});

void test('nothing but an account id becomes a path', async (t) => {
  const keyring = new FileKeyring(testDirectory(t), masterKey);
  for (const bad of ['', '..', '../x', 'acct_', 'acct_x/../../y']) {
    await t.rejects(keyring.dataKey(bad), TypeError);
    await t.rejects(keyring.erase(bad), TypeError);
  }
});
