import { buffer } from 'node:stream/consumers';
import { unzipSync } from 'fflate';
import { test } from 'tap';
import type { ExportedFile } from '../../../src/accounts/account-export.ts';
import { archive, Remaining } from '../../../src/commands/account-export.ts';

/** Files whose contents come in pieces; the test counts how many pieces were asked for. */
async function* files(
  names: readonly string[],
  asked: string[],
): AsyncGenerator<ExportedFile, undefined> {
  for (const name of names) {
    const content = async function* (): AsyncGenerator<Buffer | string> {
      for (const piece of [`first of ${name}, `, Buffer.from('x'.repeat(200_000))]) {
        asked.push(name);
        yield piece;
      }
    };
    yield { name, content: content() };
  }
}

const NAMES = ['a.txt', 'b/c.pdf', 'd.jsonl', 'e.pdf', 'f.txt'];

for (const [what, limits, parts] of [
  ['files', { files: 2, bytes: 2 ** 31 }, [['a.txt', 'b/c.pdf'], ['d.jsonl', 'e.pdf'], ['f.txt']]],
  [
    'bytes',
    { files: 100, bytes: 100_000 },
    [['a.txt', 'b/c.pdf'], ['d.jsonl', 'e.pdf'], ['f.txt']],
  ],
  ['nothing', undefined, [NAMES]],
] as const) {
  void test(`archives that are bounded by ${what} hold all files between them`, async (t) => {
    const remaining = new Remaining(files(NAMES, []));
    const found = [];
    while ((await remaining.next()) !== undefined) {
      const unpacked = unzipSync(await buffer(archive(remaining, limits)));
      found.push(Object.keys(unpacked));
      for (const [name, content] of Object.entries(unpacked)) {
        const text = Buffer.from(content).toString();
        t.equal(text, `first of ${name}, ${'x'.repeat(200_000)}`);
      }
    }
    t.strictSame(found, parts);
    t.equal(remaining.taken, NAMES.length);
  });
}

void test('an archive is written little by little', async (t) => {
  const asked: string[] = [];
  const chunks = archive(new Remaining(files(NAMES, asked)));
  await chunks.next();
  t.strictSame([...new Set(asked)], ['a.txt'], 'no other file is read ahead');
  await chunks.return(undefined);
});
