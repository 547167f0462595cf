import { readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { deriveKey, loadMasterKey } from '../../src/documents/keys/master-key.ts';
import { testDirectory } from '../support/directory.ts';

void test('a key is made once, for the owner only', async (t) => {
  const dir = join(testDirectory(t), 'data');
  const key = loadMasterKey(dir);
  t.equal(key.length, 32);
  t.ok(key.equals(loadMasterKey(dir)));
  t.equal(statSync(join(dir, 'master.key')).mode & 0o077, 0);
  t.strictSame(readdirSync(dir).toSorted(), ['master.check', 'master.key']);
});

void test('a given key wins and is not written down', async (t) => {
  const dir = testDirectory(t);
  const given = Buffer.alloc(32, 1);
  t.ok(given.equals(loadMasterKey(dir, given)));
  t.strictSame(readdirSync(dir), ['master.check']);
});

void test('a key that does not belong here is refused', async (t) => {
  const dir = testDirectory(t);
  loadMasterKey(dir);
  const wrong = /not the one that .* was made with; set MASTER_KEY/;
  t.throws(() => loadMasterKey(dir, Buffer.alloc(32, 2)), { message: wrong });
  renameSync(join(dir, 'master.key'), join(dir, 'lost'));
  t.throws(() => loadMasterKey(dir), { message: /master\.key is missing/ });
  t.notOk(readdirSync(dir).includes('master.key'), 'no new key is made in its place');
  writeFileSync(join(dir, 'master.key'), 'ab'.repeat(32));
  t.throws(() => loadMasterKey(dir), { message: wrong });
  writeFileSync(join(dir, 'master.key'), 'short');
  t.throws(() => loadMasterKey(dir), { message: /damaged/ });
});

void test('keys of different purposes differ and are the same each time', async (t) => {
  const master = Buffer.alloc(32, 3);
  const key = deriveKey(master, 'file links', 32);
  t.equal(key.length, 32);
  t.ok(key.equals(deriveKey(master, 'file links', 32)));
  t.notOk(key.equals(deriveKey(master, 'emails', 32)));
  t.notOk(key.equals(deriveKey(Buffer.alloc(32, 4), 'file links', 32)));
  t.equal(deriveKey(master, 'x', 64).length, 64);
});
