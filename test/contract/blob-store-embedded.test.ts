import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { EmbeddedBlobStore } from '../../src/documents/embedded.ts';
import { FileBlobStore } from '../../src/documents/files.ts';
import { writerName } from '../../src/documents/writer.ts';
import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import { newConversionId } from '../../src/time/ids.ts';
import { testDirectory } from '../support/directory.ts';
import { newEvents } from '../support/events.ts';
import { runBlobStoreContract } from './blob-store-contract.ts';

runBlobStoreContract({
  name: 'files',
  open: async (t) => {
    const dir = testDirectory(t);
    const store = await FileBlobStore.open(join(dir, 'blobs'));
    return { store, dir, close: async () => {} };
  },
});

runBlobStoreContract({
  name: 'embedded',
  open: async (t) => {
    const dir = testDirectory(t);
    const database = openEmbeddedDatabase(join(dir, 'pressledger.db'));
    const files = await FileBlobStore.open(join(dir, 'blobs'));
    const store = new EmbeddedBlobStore(database, files);
    return { store, dir, close: async () => database.close() };
  },
});

void test('a file that was moved and not synced is adopted by the next try', async (t) => {
  const dir = testDirectory(t);
  const blobs = await FileBlobStore.open(join(dir, 'blobs'));
  const id = newConversionId(Date.now());
  const path = join(dir, 'finished');
  const content = Buffer.from('a finished file');
  writeFileSync(path, content);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const file = { path, sha256, bytes: content.length };
  const ref = await blobs.adopt(id, 'document', file);
  t.notOk(existsSync(path));
  t.strictSame(await blobs.adopt(id, 'document', file), ref, 'as after a sync that failed');
  t.strictSame(await blobs.read(ref), content);
  const other = newConversionId(Date.now());
  await t.rejects(blobs.adopt(other, 'document', file), { name: 'BlobStoreUnavailable' });
});

void test('a small document is stored with its event or not at all', async (t) => {
  const dir = testDirectory(t);
  const database = openEmbeddedDatabase(join(dir, 'pressledger.db'));
  const events = new SqliteEventStore(database);
  const blobs = new EmbeddedBlobStore(database, await FileBlobStore.open(join(dir, 'blobs')));
  const id = newConversionId(Date.now());
  const staged = blobs.stage(id, 'request', Buffer.from('<p>small</p>'));

  await t.rejects(events.append('a-1', newEvents(1), 7, [staged]));
  await t.rejects(blobs.read(staged.ref), { name: 'BlobNotFound' });

  let commits = 0;
  database.onCommit(() => void (commits += 1));
  await events.append('a-1', newEvents(1), 'no-stream', [staged]);
  t.equal(commits, 1, 'one transaction carries both');
  t.equal((await blobs.read(staged.ref)).toString(), '<p>small</p>');
  t.equal(staged.isStoredApart, false);
  t.strictSame(readdirSync(join(dir, 'blobs')), ['tmp'], 'no file was written');

  const large = blobs.stage(id, 'request', Buffer.alloc(1_000_000));
  await events.append('a-1', newEvents(1), 0, [large]);
  t.equal((await blobs.read(large.ref)).length, 1_000_000);
  t.equal(large.isStoredApart, true);
  await events.close();
  database.close();
});

void test('a damaged file is found when it is read', async (t) => {
  const dir = testDirectory(t);
  const store = await FileBlobStore.open(dir);
  const id = newConversionId(Date.now());
  const staged = store.stage(id, 'document', Buffer.from('original'));
  await staged.store();
  const path = join(dir, id.slice(-2), staged.ref.key);
  t.equal(statSync(path).mode & 0o077, 0, 'for the owner only');
  writeFileSync(path, 'changed!');
  await t.rejects(store.read(staged.ref), { name: 'BlobStoreUnavailable', message: /damaged/ });
  writeFileSync(path, 'cut');
  await t.rejects(store.read(staged.ref), { name: 'BlobStoreUnavailable' });
  await t.rejects(store.open(staged.ref), { name: 'BlobStoreUnavailable' });
});

void test('what killed writers left is swept, what others write is not', async (t) => {
  const dir = testDirectory(t);
  await FileBlobStore.open(dir);
  const [, place = '', start = ''] = /^(\w+)-\d+-(\d+)$/.exec(writerName()) ?? [];
  const elsewhere = place.replace(/./, (digit) => (digit === '0' ? '1' : '0'));
  const hoursOld = new Date(Date.now() - 2 * 3_600_000);
  const files = {
    dead: [`${place}-4194999-${start}-x`, new Date()],
    numberReused: [`${place}-${process.pid}-1-x`, new Date()],
    parentsNumberReused: [`${place}-${process.ppid}-1-x`, new Date()],
    elsewhereLongAgo: [`${elsewhere}-${process.pid}-${start}-x`, hoursOld],
    earlierVersionLongAgo: ['4194999-x', hoursOld],
    own: [`${writerName()}-x`, hoursOld],
    // Running here means nothing, and not running here neither.
    elsewhere: [`${elsewhere}-4194999-1-y`, new Date()],
    earlierVersion: ['4194999-y', new Date()],
  } as const;
  for (const [name, written] of Object.values(files)) {
    writeFileSync(join(dir, 'tmp', name), 'half');
    utimesSync(join(dir, 'tmp', name), written, written);
  }
  await FileBlobStore.open(dir);
  const kept = [files.own, files.elsewhere, files.earlierVersion].map(([name]) => name);
  t.strictSame(readdirSync(join(dir, 'tmp')).toSorted(), kept.toSorted());
});

void test('a file that another live process writes is not swept', async (t) => {
  const dir = testDirectory(t);
  const script = `
    import { writeFileSync } from 'node:fs';
    import { writerName } from './src/documents/writer.ts';
    writeFileSync(process.argv[1] + '/' + writerName() + '-x', 'half');
    process.stdout.write('written');
    setInterval(() => {}, 1000);`;
  await FileBlobStore.open(dir);
  const args = ['--input-type=module', '--eval', script, join(dir, 'tmp')];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  await FileBlobStore.open(dir);
  t.equal(readdirSync(join(dir, 'tmp')).length, 1, 'while it runs');
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  await FileBlobStore.open(dir);
  t.strictSame(readdirSync(join(dir, 'tmp')), [], 'when it was killed');
});

void test('a failed write leaves nothing under the final name and nothing temporary', async (t) => {
  const dir = testDirectory(t);
  const store = await FileBlobStore.open(dir);
  const id = newConversionId(Date.now());
  const staged = store.stage(id, 'document', Buffer.from('content'));
  // A directory lies where the file is to be renamed to.
  const path = join(dir, id.slice(-2), staged.ref.key);
  mkdirSync(join(path, 'in the way'), { recursive: true });
  await t.rejects(staged.store(), { name: 'BlobStoreUnavailable' });
  t.ok(existsSync(join(path, 'in the way')));
  t.strictSame(readdirSync(join(dir, 'tmp')), []);
});

void test('a directory that cannot be used is said so', async (t) => {
  const dir = t.testdir({ file: 'not a directory' });
  chmodSync(join(dir, 'file'), 0o400);
  await t.rejects(FileBlobStore.open(join(dir, 'file', 'blobs')), {
    name: 'BlobStoreUnavailable',
  });
});
