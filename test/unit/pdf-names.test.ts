/** What a full Chrome writes first in a PDF, and what is left of it. */
import { test } from 'tap';
import { blankNames } from '../../src/pdf/objects.ts';

const AGENT = String.raw`/Creator (Mozilla/5.0 \(X11; Linux x86_64\) HeadlessChrome/156.0.0.0)`;
const REST = '/Producer (Skia/PDF m156)\n>>\nendobj\n2 0 obj\n<</Title (kept)>>\n';
const start = (names: string): Buffer =>
  Buffer.from(`%PDF-1.4\n%\xD3\xEB\xE9\xE1\n1 0 obj\n<<${names}${REST}`, 'latin1');

void test('a title is gone, whatever is in it, and the rest stays in its place', async (t) => {
  const titles = [
    '(http://intranet/?token=SECRET)',
    String.raw`(SECRET \) endobj \( \\)`,
    '<FEFF005300450043005200450054>',
    `(${'SECRET'.repeat(100_000)})`,
  ];
  for (const title of titles) {
    const pdf = start(`/Title ${title}\n${AGENT}\n`);
    const { length } = pdf;
    blankNames(pdf);
    const text = pdf.toString('latin1');
    t.equal(pdf.length, length);
    t.notMatch(text, /SECRET|0053|Mozilla/);
    t.ok(text.endsWith(REST));
    t.match(text, /1 0 obj\n<<\/Creator \(Chromium\)\n +\/Producer/);
  }
});

void test('a PDF without a title keeps its beginning', async (t) => {
  const pdf = start('');
  blankNames(pdf);
  t.strictSame(pdf, start(''));
});

void test('a title that does not end in the first bytes is refused', async (t) => {
  const pdf = start(`/Title (${'x'.repeat(100)}`).subarray(0, 100);
  t.throws(() => blankNames(pdf), /title that is too long/);
});
