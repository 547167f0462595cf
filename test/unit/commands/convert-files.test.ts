import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Test, test } from 'tap';
import { filesBeside, splitWarnings } from '../../../src/commands/convert-files.ts';

/** Writes the files, and gives the folder. */
function folder(t: Test, files: Readonly<Record<string, string>>): string {
  const root = t.testdir();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
  return root;
}

async function taken(html: string, path: string, base?: string) {
  const beside = await filesBeside(html, path, base);
  return { names: Object.keys(beside.files).toSorted(), lacking: beside.lacking, beside };
}

const withBase = (href: string) => `<base href="${href}"><img src=a.png>`;
const images = (names: readonly string[]): string => names.map((n) => `<img src=${n}>`).join('');

const ONE_OF_EACH = `<!doctype html><link rel=stylesheet href="a.css?v=2"><link rel="icon" href=icon.png>
<link rel="preload" as=font href=b.woff2><link rel=canonical href=canonical.html>
<style>@import 'c.css'; h1 { background: url( "d e.png" ) } /* url(no1.png) */</style>
<img src=" f.png " srcset="g.png 1x, ./h.png 2x,i.png" loading=lazy><picture><source srcset="j.webp 100w"></picture>
<p style="background:URL(k.png)"><video poster=l.png src=m.mp4></video><object data=n.svg></object>
<svg><image href="o.svg"/><use xlink:href="p.svg#x"/></svg><table background=q.png></table>
<script src=r.js></script><script type=module>import x from './s.mjs'; import('./t.mjs')</script>
<iframe src="sub/u.html"></iframe><template><img src=v.png></template><noscript><img src=no2.png></noscript>
<a href=no3.html>x</a><!-- <img src=no4.png> --><img src="http://no5/a.png"><img src="//no6/a.png">
<img src="data:image/png;base64,AAAA"><img src="#x"><img src=""><img src="?x"><img src="gr%C3%BCn.png">`;

void test('takes what the page and its parts refer to by relative URLs', async (t) => {
  const all =
    'a.css b.woff2 c.css f.png g.png h.png i.png j.webp k.png l.png m.mp4 n.svg o.svg p.svg';
  const more =
    'q.png r.js s.mjs t.mjs v.png grün.png icon.png canonical.html no1.png no2.png no3.html';
  const nested = {
    'd e.png': '',
    'sub/u.html': '<link rel=stylesheet href="u.css"><img src="../f.png"><img src="/v.png">',
    'sub/u.css': '@import url("deep/w.css");',
    'sub/deep/w.css': 'a { background: url(../x\\.png) } b { background: url(data:,x) }',
    'sub/x.png': '',
    's.mjs': 'export * from "./lib/y.js"; import{z}from"/z.js"; import react from "react";',
    'lib/y.js': '',
    'z.js': '',
  };
  const plain = `${all} ${more}`.split(' ').map((name) => [name, ''] as const);
  const root = folder(t, { ...Object.fromEntries(plain), ...nested });
  const { names, lacking } = await taken(ONE_OF_EACH, join(root, 'page.html'));
  const not = /^(no\d|icon|canonical)/;
  const expected = [...plain.map(([name]) => name), ...Object.keys(nested)].filter(
    (name) => !not.test(name),
  );
  t.strictSame(names, [...new Set(expected)].toSorted());
  t.strictSame(lacking, []);
});

void test('takes nothing from outside of the folder', async (t) => {
  const root = folder(t, {
    'secret.css': 'secret',
    'site/in.css': '@import "../secret.css"; p { background: url(../../secret.css) }',
    'site/.hidden/a.png': 'secret',
    'site/.env': 'secret',
    'site/sub/b.png': '',
  });
  symlinkSync('../secret.css', join(root, 'site/link.css'));
  symlinkSync('..', join(root, 'site/up'));
  symlinkSync('sub/b.png', join(root, 'site/inside.png'));
  const addresses = [
    '../secret.css',
    '%2e%2e/secret.css',
    '..%2fsecret.css',
    '/../secret.css',
    'sub/../../secret.css',
    '..\\secret.css',
    `file://${root}/secret.css`,
    'link.css',
    'up/secret.css',
    '.env',
    '.hidden/a.png',
    'sub',
    'inside.png',
    'in.css',
    'none.png',
  ];
  const html = addresses.map((each) => `<link rel=stylesheet href="${each}">`).join('');
  const path = join(root, 'site/page.html');
  const { names, lacking, beside } = await taken(html, path);
  t.strictSame(names, ['in.css', 'inside.png']);
  t.notOk(Object.values(beside.files).includes(Buffer.from('secret').toString('base64')));
  const site = join(root, 'site');
  for (const reason of [`secret.css (outside of ${site})`, `link.css (a link out of ${site})`]) {
    t.ok(lacking.includes(reason), reason);
  }
  for (const line of ['.env (a hidden file)', 'sub (not a file)'])
    t.ok(lacking.includes(line), line);
  t.ok(lacking.includes('none.png (not found beside page.html)'));
});

void test('--base names another folder', async (t) => {
  const root = folder(t, {
    'pages/page.html': '',
    'pages/own.png': 'own',
    'css/style.css': 'p { background: url(../img/a.png) }',
    'img/a.png': '',
  });
  const html =
    '<link rel=stylesheet href="../css/style.css"><img src=own.png><img src="/img/a.png">';
  const path = join(root, 'pages/page.html');
  t.strictSame((await taken(html, path, root)).names, ['css/style.css', 'img/a.png', 'own.png']);
  t.strictSame((await taken(html, path)).names, ['own.png']);
  t.strictSame((await taken('<img src=own.png>', '-', join(root, 'pages'))).names, ['own.png']);
  const alone = await taken('<img src=own.png>', '-');
  t.strictSame(alone.names, []);
  t.match(alone.beside.reasonFor('own.png'), /--base/);
  await t.rejects(taken(html, path, join(root, 'none')), { name: 'UsageError' });
  const atRoot = join(root, 'page.html');
  t.strictSame((await taken(withBase('img/'), atRoot)).names, ['img/a.png']);
  t.strictSame((await taken(withBase('https://example.com/'), atRoot)).names, []);
});

void test('there are bounds, and they are told', async (t) => {
  const many = Array.from({ length: 201 }, (_, n) => `f${n}.png`);
  const root = folder(t, Object.fromEntries(many.map((name) => [name, ''])));
  const path = join(root, 'page.html');
  t.equal((await taken(images(many.slice(1)), path)).names.length, 200);
  await t.rejects(taken(images(many), path), /page\.html refers to more than 200 files/);
  truncateSync(join(root, 'f0.png'), 65 * 2 ** 20);
  await t.rejects(taken(images(['f0.png']), path), /more than 64 MiB together/);
});

void test('leaves out what a service would refuse the whole page for', async (t) => {
  const root = folder(t, { 'index.html': '', 'img/a.png': '', 'b.png': '' });
  const html = '<iframe src="index.html"></iframe><img src="img//a.png"><img src="b.png">';
  const { names, lacking } = await taken(html, join(root, 'page.html'));
  t.strictSame(names, ['b.png']);
  const why = 'not a name for a file that goes with a page';
  t.strictSame(lacking, [`index.html (${why})`, `img//a.png (${why})`]);
});

void test('tells what of a record was not loaded from its other warnings', (t) => {
  const others = [
    'The page reported an error: a.css could not be loaded: no.',
    'The network was not quiet after 5 s.',
    'There are 3 more warnings.',
  ];
  const warnings = [
    'style.css could not be loaded: No file of this name came with the page.',
    'https://x/y.png was answered with status 404.',
    'http://no/ could not be loaded: The name does not exist.',
    ...others,
  ];
  const lines = [
    'style.css (not beside: style.css)',
    'https://x/y.png (404)',
    'http://no/ (The name does not exist)',
  ];
  const split = splitWarnings(warnings, { reasonFor: (url) => `not beside: ${url}` });
  t.strictSame(split, { notLoaded: lines, others });
  t.end();
});
