/** What counts as a difference between pages of two PDFs of Chrome's. */
import tap, { test } from 'tap';
import { MalformedPdf } from '../../src/pdf/values.ts';
import { differingPages, pageDigests } from '../../src/pdf/page-digests.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { accountId } from '../support/samples.ts';
import { JPEG } from '../support/tiny-images.ts';

const renderer = await startTestRenderer();
tap.teardown(() => renderer.close());

const FIRST = `<style>@font-face { font-family: Drawn; src: local('Noto Color Emoji') }
  .tile { height: 40px; background: radial-gradient(red, blue) }</style>
  <p>The first page, of letters: abc</p><p style="opacity:.5">shown through <img src="${JPEG}"></p><div class=tile></div>
  <p>😀</p><p><a href="https://example.com/one">a link</a></p>`;
const of = (first: string, second: string): string =>
  `<!doctype html><html lang=en>${first}<p style="break-before:page">${second}</p>`;

const digests = async (html: string): Promise<readonly string[]> =>
  pageDigests(await renderer.bytes({ html }, { print_background: true }, accountId()));

void test('a page differs if it shows something else, and not for what another page has', async (t) => {
  const usual = await digests(of(FIRST, 'the second'));
  const differing = async (first: string, second = 'the second'): Promise<number[]> =>
    differingPages(usual, await digests(of(first, second)));
  t.strictSame(await differing(FIRST), [], 'the same, printed again');
  t.strictSame(await differing(FIRST, 'of other letters: XYZ § 😎 '), [2], 'fonts hold more');
  t.strictSame(
    await differing(FIRST, `<img src="${JPEG}" width=50> ${'<b>more</b> '.repeat(9)}`),
    [2],
  );
  const changes: Readonly<Record<string, [string, string]>> = {
    'a letter': ['abc', 'abd'],
    'a sign that is drawn': ['😀', '😎'],
    'a colour': ['red, blue', 'red, navy'],
    'a link': ['example.com/one', 'example.com/two'],
    'how much shows through': ['opacity:.5', 'opacity:.6'],
    'a place': ['height: 40px', 'height: 41px'],
    'a font': ['<p>The first', '<p style="font-family:monospace">The first'],
  };
  for (const [what, [from, to]] of Object.entries(changes)) {
    t.ok(FIRST.includes(from));
    t.strictSame(await differing(FIRST.replace(from, to)), [1], what);
  }
  const longer = await digests(of(FIRST, 'the second<p style="break-before:page">a third</p>'));
  t.strictSame(differingPages(usual, longer), [3], 'a page that one of them lacks');
  t.strictSame(differingPages(longer, usual), [3]);
});

void test('what is not a PDF has no pages to compare', (t) => {
  t.throws(() => pageDigests(Buffer.from('<p>x</p>')), MalformedPdf);
  t.end();
});
