import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'tap';
import { checkOutputFile, writeOutputFile } from '../../../src/commands/pdf-target.ts';

void test('a file is written whole, over what was there', async (t) => {
  const dir = t.testdir({ 'report.pdf': 'old' });
  const path = join(dir, 'report.pdf');
  await checkOutputFile(path);
  await writeOutputFile(() => Promise.resolve(Readable.from(['new ', 'content'])), path, 0o644);
  t.equal(statSync(path).mode & 0o777, 0o644);
  t.equal(readFileSync(path, 'utf8'), 'new content');
  t.strictSame(readdirSync(dir), ['report.pdf']);
});

const gone = () => Promise.reject(new Error('gone'));

function* half() {
  yield 'half';
  throw new Error('cut off');
}
const cut = () => Promise.resolve(Readable.from(half()));

void test('a download that fails leaves what was there, and nothing beside it', async (t) => {
  const dir = t.testdir({ 'report.pdf': 'old' });
  const path = join(dir, 'report.pdf');
  await t.rejects(writeOutputFile(gone, path, 0o644), { message: 'gone' });
  await t.rejects(writeOutputFile(cut, path, 0o644), { message: 'cut off' });
  t.equal(readFileSync(path, 'utf8'), 'old');
  t.strictSame(readdirSync(dir), ['report.pdf']);
});

void test('what cannot be written is told before anything is asked for', async (t) => {
  const dir = t.testdir({ 'a file': '' });
  mkdirSync(join(dir, 'folder'));
  writeFileSync(join(dir, 'there.pdf'), '');
  await checkOutputFile(join(dir, 'there.pdf'));
  await checkOutputFile(join(dir, 'new.pdf'));
  await t.rejects(checkOutputFile(join(dir, 'folder')), /is not a file/);
  await t.rejects(checkOutputFile('/dev/full'), /is not a file/);
  await t.rejects(checkOutputFile(join(dir, 'no such folder', 'x.pdf')), /cannot be written/);
});
