/** Documents on their way between two places, of which one is damaged or does not keep what it is given. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { DocumentCopies } from '../../src/archive/documents.ts';
import { FileBlobStore } from '../../src/documents/files.ts';
import { testDirectory } from '../support/directory.ts';
import { conversionId } from '../support/samples.ts';

/** A place with one document, and an empty one. */
async function places(t: Test, bytes = 1_000) {
  const directory = testDirectory(t);
  const [from, to] = await Promise.all(
    ['from', 'to'].map((name) => FileBlobStore.open(join(directory, name))),
  );
  if (from === undefined || to === undefined) throw new TypeError('There are two.');
  const staged = from.stage(conversionId(), 'document', Buffer.alloc(bytes, 7));
  await staged.store();
  const { ref } = staged;
  const fileIn = (name: string) => globSync(join(directory, name, '*', ref.key))[0] ?? '';
  return { from, to, ref, fileIn };
}

const spoil = (path: string): void => writeFileSync(path, readFileSync(path).fill(0, 9, 20));

void test('a copy that is damaged is written again where copies are read, from a whole document alone', async (t) => {
  const { from, to, ref, fileIn } = await places(t);
  const careful = new DocumentCopies(from, to, { readsBack: true });
  t.equal(await careful.copy(ref), 'copied');
  spoil(fileIn('to'));
  t.equal(await new DocumentCopies(from, to).copy(ref), 'was there', 'its length is right');
  t.equal(await careful.copy(ref), 'copied');
  t.equal(await careful.copy(ref), 'was there');

  spoil(fileIn('from'));
  spoil(fileIn('to'));
  const before = readFileSync(fileIn('to'));
  await t.rejects(careful.copy(ref), { message: /is damaged/ });
  t.same(readFileSync(fileIn('to')), before, 'both places may be one folder');
});

void test('a place that does not keep what it is given cannot be used', async (t) => {
  const { from, to, ref } = await places(t);
  to.open = async () => await from.open(ref, { start: 0, end: 9 });
  await t.rejects(new DocumentCopies(from, to, { readsBack: true }).copy(ref), {
    message: /does not read as it was written: the new place for documents cannot be used\.$/,
  });
});

void test('large documents are copied one at a time', async (t) => {
  const { from, to, ref } = await places(t, 9 * 1024 * 1024);
  let [now, most] = [0, 0];
  const read = from.read.bind(from);
  from.read = async (wanted) => {
    now += 1;
    most = Math.max(most, now);
    const content = await read(wanted);
    now -= 1;
    return content;
  };
  const copies = new DocumentCopies(from, to);
  t.strictSame(await Promise.all([copies.copy(ref), copies.copy(ref)]), ['copied', 'copied']);
  t.equal(most, 1);
});
