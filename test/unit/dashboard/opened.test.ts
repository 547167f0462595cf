import { strToU8, zipSync } from 'fflate';
import { test } from 'tap';
import { contentsOf, openedPage, pagesIn } from '../../../dashboard/src/pages/playground/opened.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const zipOf = (files: Readonly<Record<string, string>>) => {
  const packed = zipSync(
    Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)])),
  );
  const file = new File([packed.slice()], 'site.zip');
  return contentsOf([{ path: 'site.zip', file }]);
};

void test('files are named as the page reaches them', async (t) => {
  const contents = await zipOf({
    'a/b/page.html': '<h1>Page</h1>',
    'a/b/img/x.png': 'x',
    'a/style.css': 'nearer',
    'style.css': 'farther',
    'a/index.html': 'other',
    'root/y.css': 'y',
    '__MACOSX/a': 'never',
    'a/.DS_Store': 'never',
  });
  t.strictSame(pagesIn(contents), ['a/index.html', 'a/b/page.html']);
  const { html, files } = openedPage(contents, 'a/b/page.html');
  t.equal(html, '<h1>Page</h1>');
  t.strictSame(Object.fromEntries(files.map(({ name, value }) => [name, atob(value)])), {
    'img/x.png': 'x',
    'root/y.css': 'y',
    'style.css': 'nearer',
  });
});

void test('what cannot be opened says why', async (t) => {
  await t.rejects(zipOf({ 'a/../../x.html': '' }), /leads out of it, a\/\.\.\/\.\.\/x\.html/);
  await t.rejects(zipOf({ '/etc/x.html': '' }), /leads out of it/);
  await t.rejects(zipOf({ 'C:\\x.html': '' }), /leads out of it/);
  const many = Object.fromEntries(Array.from({ length: 202 }, (_, n) => [`${n}.html`, '']));
  await t.rejects(zipOf(many), /holds too much\. It may hold at most 201 files/);
  await t.rejects(zipOf({ 'x.html': '0'.repeat(30_000_001) }), /30 MB when unpacked/);
  const broken = new File(['PK\x03\x04 and no more'], 'x.zip');
  await t.rejects(contentsOf([{ path: 'x.zip', file: broken }]), /cannot be read\. Make it again/);
  const files = Object.keys(many).map((path) => ({ path, file: new File([''], path) }));
  await t.rejects(contentsOf(files), /open a folder of at most 201 files/);
  const latin = new Map([['x.html', new Uint8Array([0xe9])]]);
  t.throws(() => openedPage(latin, 'x.html'), /not in UTF-8/);
  t.equal(openedPage(new Map([['x.html', bytes('é')]]), 'x.html').html, 'é');
});
