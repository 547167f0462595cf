import {
  chmodSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import {
  FILE_RECHECK_MS,
  FileKeyRecords,
  fileKeyring,
} from '../../src/documents/keys/file-records.ts';
import { loadMasterKey } from '../../src/documents/keys/master-key.ts';
import { openSharedKeyring } from '../../src/documents/keys/records.ts';
import { writerName } from '../../src/documents/writer.ts';
import { newAccountId, newCertificateId } from '../../src/time/ids.ts';
import { testDirectory } from '../support/directory.ts';
import { makingKeys } from '../support/keyring.ts';
import { runKeyringContract } from './keyring-contract.ts';

const masterKey = Buffer.alloc(32, 7);

runKeyringContract({
  name: 'files',
  open: async (t) => {
    const dir = join(testDirectory(t), 'keyring');
    return async () => fileKeyring(dir, masterKey);
  },
});

const openShared = (dir: string, create = true) =>
  openSharedKeyring(new FileKeyRecords(dir), masterKey, { create, recheckMs: FILE_RECHECK_MS });

runKeyringContract({
  name: 'a shared folder',
  open: async (t) => {
    const dir = join(testDirectory(t), 'keyring');
    return () => openShared(dir);
  },
});

void test('the keyring of a data directory is one of a shared folder with its master.check', async (t) => {
  const root = testDirectory(t);
  const dir = join(root, 'keyring');
  const [kept, erased] = [newAccountId(Date.now()), newAccountId(Date.now())];
  const before = makingKeys(fileKeyring(dir, masterKey));
  const key = await before.dataKey(kept);
  await before.erase(erased);
  await t.rejects(openShared(dir, false), { message: /^There is no keyring in the place/ });
  loadMasterKey(root, masterKey);
  copyFileSync(join(root, 'master.check'), join(dir, 'master.check'));
  const shared = await openShared(dir, false);
  t.ok(key.equals(await shared.dataKey(kept)));
  await t.rejects(shared.dataKey(erased), { name: 'KeyErased' });
  const file = join(dir, `${kept}.key`);
  t.equal(statSync(file).mode & 0o077, 0);
  chmodSync(file, 0o666);
  await t.rejects((await openShared(dir)).dataKey(kept), { name: 'KeyringUnavailable' });
});

void test('an erased account gets no key file, not even for a moment', async (t) => {
  const records = new FileKeyRecords(join(testDirectory(t), 'keyring'));
  const made: string[] = [];
  const watched = {
    read: (name: string) => records.read(name),
    remove: (name: string) => records.remove(name),
    create: (name: string, text: string) => {
      made.push(name);
      return records.create(name, text);
    },
  };
  const keyring = await openSharedKeyring(watched, masterKey, { create: true, recheckMs: 0 });
  const accountId = newAccountId(Date.now());
  await keyring.erase(accountId);
  await t.rejects(keyring.makeKey(accountId), { name: 'KeyErased' });
  t.notOk(made.includes(`${accountId}.key`));
});

void test('a key lies wrapped, for the owner only, and is gone when erased', async (t) => {
  const dir = testDirectory(t);
  const accountId = newAccountId(Date.now());
  const keyring = makingKeys(fileKeyring(dir, masterKey));
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
  await makingKeys(fileKeyring(dir, masterKey)).dataKey(one);
  const message = /does not open with this master key/;
  await t.rejects(fileKeyring(dir, Buffer.alloc(32, 8)).dataKey(one), { message });
  writeFileSync(join(dir, `${two}.key`), readFileSync(join(dir, `${one}.key`)));
  await t.rejects(makingKeys(fileKeyring(dir, masterKey)).dataKey(two), { message });
});

void test('a key that comes up beside its tombstone is not given out', async (t) => {
  const dir = testDirectory(t);
  const accountId = newAccountId(Date.now());
  await makingKeys(fileKeyring(dir, masterKey)).dataKey(accountId);
  writeFileSync(join(dir, `${accountId}.erased`), '');
  await t.rejects(makingKeys(fileKeyring(dir, masterKey)).dataKey(accountId), {
    name: 'KeyErased',
  });
});

void test('what killed writers left is swept', async (t) => {
  const dir = testDirectory(t);
  const accountId = newAccountId(Date.now());
  const own = `${accountId}.key.${writerName()}-abc.tmp`;
  const dead = `${newCertificateId(Date.now())}.key.${writerName().replace(/-\d+-/, '-4194999-')}-abc.tmp`;
  const elsewhere = `${accountId}.key.0123456789ab-4194999-1-abc.tmp`;
  for (const name of [own, dead, elsewhere]) writeFileSync(join(dir, name), '');
  t.ok(fileKeyring(dir, masterKey));
  t.strictSame(readdirSync(dir).toSorted(), [own, elsewhere].toSorted());
  const hoursOld = new Date(Date.now() - 2 * 3_600_000);
  utimesSync(join(dir, elsewhere), hoursOld, hoursOld);
  t.ok(fileKeyring(dir, masterKey));
  t.strictSame(readdirSync(dir), [own]);
});

void test('nothing but an account id becomes a path', async (t) => {
  const keyring = fileKeyring(testDirectory(t), masterKey);
  for (const bad of ['', '..', '../x', 'acct_', 'acct_x/../../y']) {
    await t.rejects(keyring.dataKey(bad), TypeError);
    await t.rejects(keyring.erase(bad), TypeError);
  }
});
