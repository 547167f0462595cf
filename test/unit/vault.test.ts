import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { fileKeyring } from '../../src/documents/keys/file-records.ts';
import { createVault, NOT_OPENED, unlessErased } from '../../src/documents/keys/vault.ts';
import { newAccountId, newConversionId } from '../../src/time/ids.ts';
import { testDirectory } from '../support/directory.ts';
import { makingKeys } from '../support/keyring.ts';

const [one, two] = [newAccountId(1), newAccountId(2)];

void test('seals and unseals, each time differently', async (t) => {
  const vault = createVault(makingKeys(fileKeyring(testDirectory(t), Buffer.alloc(32, 1))));
  for (const text of ['', 'a@example.com', 'Grüße 😀', 'x'.repeat(10_000)]) {
    const sealed = await vault.seal(one, text);
    t.match(sealed, /^v1\.[\w-]+$/);
    t.not(sealed, await vault.seal(one, text));
    t.equal(await vault.unseal(one, sealed), text);
  }
});

void test('opens for its account only', async (t) => {
  const vault = createVault(makingKeys(fileKeyring(testDirectory(t), Buffer.alloc(32, 1))));
  const key = Buffer.alloc(32, 9);
  const shared = createVault({
    makeKey: async () => {},
    dataKey: async () => key,
    erase: async () => {},
  });
  await t.rejects(vault.unsealExactly(two, await vault.seal(one, 'secret')));
  await t.rejects(shared.unsealExactly(two, await shared.seal(one, 'secret')), 'even with one key');
});

void test('opens no text that was altered', async (t) => {
  const vault = createVault(makingKeys(fileKeyring(testDirectory(t), Buffer.alloc(32, 1))));
  const sealed = await vault.seal(one, 'secret');
  t.equal(await vault.unseal(one, `${sealed}AA`), NOT_OPENED, 'people read that it does not open');
  for (let at = 0; at < sealed.length; at += 1) {
    const other = sealed[at] === 'A' ? 'B' : 'A';
    await t.rejects(vault.unsealExactly(one, sealed.slice(0, at) + other + sealed.slice(at + 1)));
  }
  for (const bad of ['', 'v1.', 'v1.AAAA', sealed.slice(0, -1), `${sealed}=`, `${sealed}AA`]) {
    await t.rejects(vault.unsealExactly(one, bad), bad);
  }
});

void test('opens nothing after an erasure', async (t) => {
  const keyring = makingKeys(fileKeyring(testDirectory(t), Buffer.alloc(32, 1)));
  const vault = createVault(keyring);
  const sealed = await vault.seal(one, 'secret');
  await keyring.erase(one);
  await t.rejects(vault.unseal(one, sealed), { name: 'KeyErased' });
  await t.rejects(vault.seal(one, 'more'), { name: 'KeyErased' });
});

void test('each conversion has a content key of its own, which goes with its account', async (t) => {
  const directory = testDirectory(t);
  const open = () => makingKeys(fileKeyring(directory, Buffer.alloc(32, 1)));
  const vault = createVault(open());
  const [first, second] = [newConversionId(1), newConversionId(2)];
  const key = await vault.contentKey(one, first);
  t.equal(key.length, 32);
  t.ok(key.equals(await createVault(open()).contentKey(one, first)), 'also after a restart');
  const others = [
    await vault.contentKey(one, second),
    await vault.contentKey(two, first),
    await open().dataKey(one),
  ];
  for (const other of others) t.notOk(key.equals(other));
  t.ok(key.equals((await unlessErased(vault.contentKey(one, first))) ?? Buffer.alloc(0)));

  await open().erase(one);
  for (const each of [vault, createVault(open())]) {
    await t.rejects(each.contentKey(one, first), { name: 'KeyErased' });
    t.equal(await unlessErased(each.contentKey(one, first)), undefined);
  }
  rmSync(join(directory, `${one}.erased`));
  t.notOk(key.equals(await createVault(open()).contentKey(one, first)), 'it never comes again');
  t.ok(await unlessErased(vault.contentKey(two, first)), 'others keep theirs');
});

void test('a text of a newer release says so', async (t) => {
  const directory = testDirectory(t);
  const masterKey = Buffer.alloc(32, 1);
  const vault = createVault(makingKeys(fileKeyring(directory, masterKey)));
  const sealed = await vault.seal(one, 'secret');
  const told = /sealed by a newer release \(form 2, this one knows 1\); install that release/;
  await t.rejects(vault.unseal(one, sealed.replace('v1.', 'v2.')), { message: told });
  writeFileSync(join(directory, `${two}.key`), sealed.replace('v1.', 'v2.'), { mode: 0o600 });
  await t.rejects(vault.seal(two, 'secret'), { message: told }, 'a key as well');
});
