/** The language that a document may need fallback fonts for, and which document may follow it. */
import t from 'tap';
import { animatedCharts } from '../../bench/documents.ts';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import {
  type FallbackLanguage,
  fallbackUseOf,
  mayFollow,
} from '../../src/renderer/chrome/fallback-fonts.ts';

const cases: readonly (readonly [html: string, FallbackLanguage])[] = [
  ['<p>Grüße, Łódź, Ελλάδα, Москва – “100 €”™</p>', 'none'],
  ['\uFEFF<!doctype html><html lang="ko"><p>none of them</p>', 'none'],
  ['<p>Fish &amp; chips&nbsp;&ndash; &eacute;&szlig; &copy;</p>', 'none'],
  [
    '<p>It&#39;s 5&#8364;&#xa0;&#x2013; \\2014 <style>a::after { content: "\\a0\\2022" }</style>',
    'none',
  ],
  ['<script>if (a&&b&&isFinite(c)) d=e&&f;g="\\u00e9\\xa0\\u{20ac}";h=/\\d+\\s/</script>', 'none'],
  ['<script>a&b;</script>', 'lang '],
  ['<p>a &&check; b<script>1</script>', 'lang '],
  ['<script>a&&b;</script><p>&&check;', 'lang '],
  ['<p>&check;<script>never ended', 'lang '],
  ['<p>&#1114112;', 'lang '],
  ['<script>"\\u0feff"</script>', 'lang '],
  ['<script>p.innerHTML = "&#" + code + ";"</script>', 'lang '],
  ['<script>p.innerHTML = `&#x${hex};`</script>', 'lang '],
  ['<p>&Lt;', 'lang '],
  ['<p>&lt;&LT;&gt;', 'none'],
  ['<script>new Date().toLocaleDateString("ja-JP")</script>', 'lang '],
  ['<script>new Intl.NumberFormat("de").format(1)</script>', 'none'],
  ['<script>new TextDecoder()</script>', 'lang '],
  ['<script>JSON.parse(`"\\\\u${6}f22"`)</script>', 'lang '],
  ['<p>漢字</p>', 'lang '],
  ['<!doctype html><html lang=JA><p>漢字</p>', 'lang ja'],
  ['<html class="a" lang="ko"><p lang="ko">漢字</p>', 'lang ko'],
  ['<html lang="en"><p>&check; &#x6f22;</p>', 'lang en'],
  ['<html lang="en"><style>li::before { content: "\\2713" }</style><li>a', 'lang en'],
  ['<html lang="en"><script>p.textContent = "\\u6f22"</script>', 'lang en'],
  ['<html lang="ja"><p>漢字<p lang="ko">漢字', 'mixed'],
  ['<p>漢字<p lang="ko">漢字', 'mixed'],
  ['<html lang="ja"><p>漢字<script>p.lang = "ko"</script>', 'mixed'],
  ['<html lang="ja"><p style="-webkit-locale: \'ko\'">漢字', 'mixed'],
  ['<html lang="ja"><meta http-equiv="content-language" content="ko"><p>漢字', 'mixed'],
  ['<html lang="en"><p>&#x1d44e;<math><mi>a</mi></math>', 'mixed'],
];
const leavesOf = (request: RequestDocument): FallbackLanguage => fallbackUseOf(request).leaves;
for (const [html, expected] of cases) t.equal(leavesOf({ html }), expected, html);

t.equal(leavesOf({ html: animatedCharts(1) }), 'none', 'the library makes no such character');
t.equal(leavesOf({ url: 'https://example.com/' }), 'mixed', 'nobody knows its text');
t.equal(leavesOf({ html: '<p>a', header_html: '漢字' }), 'mixed', 'of no language');

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const library = /<script>(.*?)<\/script>/s.exec(animatedCharts(1))?.[1] ?? '';
const files: readonly (readonly [name: string, content: string, FallbackLanguage])[] = [
  ['a.css', 'p { color: red }', 'none'],
  ['a.css', 'p::after { content: "\\2713" }', 'mixed'],
  ['a.svg', '<svg><text>漢字</text></svg>', 'mixed'],
  ['a.svg', '<svg><text>&#x6f22;</text></svg>', 'mixed'],
  ['a.js', library, 'none'],
  ['a.JS', 'p.append("漢字")', 'mixed'],
  ['a.png', '\xff漢字', 'none'],
  ['a', '漢字', 'mixed'],
];
for (const [name, content, expected] of files) {
  const request = { html: '<html lang=en><p>a', files: { [name]: base64(content) } };
  t.same(
    fallbackUseOf(request),
    { needs: expected, leaves: expected },
    `${name}: ${content.slice(0, 60)}`,
  );
}

const localized = base64('p.append(new Date().toLocaleDateString(document.documentElement.lang))');
const localizing = { html: '<html lang=ja><p id=p>', files: { 'a.js': localized } };
t.equal(leavesOf(localizing), 'mixed', 'the language is that of the HTML');

t.equal(
  leavesOf({ html: '<p>a', files: { 'a.txt': base64('\x1b$B4A;z\x1b(B') } }),
  'mixed',
  'ISO-2022-JP',
);
const svg = (text: string): string =>
  `<img src="data:image/svg+xml;charset=utf-8;base64,${base64(`<svg><text>${text}</text></svg>`)}">`;
t.equal(leavesOf({ html: svg('漢字') }), 'mixed', 'text of a picture');
t.equal(leavesOf({ html: svg('abc') }), 'none');

const fetching: readonly (readonly [html: string, boolean])[] = [
  ['<img src=https://example.com/a>', true],
  ["<link rel=stylesheet href='//example.com/a'>", true],
  ['<style>@import "http://example.com/a"</style>', true],
  ['<p style="background: url(//example.com/a)">', true],
  ['<iframe srcdoc="<img src=&quot;http://example.com/a&quot;>">', true],
  ['<svg><image xlink:href="http://example.com/a"/></svg>', true],
  ['<script>fetch(`https://example.com/a`)</script>', true],
  ['<a href="https://example.com/">a</a><script>1</script>', false],
  ['<p>https://example.com/<script>1 // "see" //example.com</script>', false],
  ['<svg xmlns="http://www.w3.org/2000/svg"></svg><script>1</script>', false],
  ['<img src=a.png><img src=data:image/png;base64,AAAA>', false],
];
for (const [html, expected] of fetching) {
  t.same(fallbackUseOf({ html }), { needs: expected ? 'mixed' : 'none', leaves: 'none' }, html);
}

const picture = { html: '<html lang=ja><p>漢字', files: { 'a.png': base64('any') } };
t.equal(leavesOf(picture), 'lang ja', 'a picture has no text');

// A pattern that took more than linear time would not end within the time of a test.
for (const part of ['<a ', '<use ', '<link href ', '&#', 'lang ', 'url( ']) {
  t.ok(fallbackUseOf({ html: part.repeat(200_000) }), part);
  t.ok(fallbackUseOf({ html: `${part}${' '.repeat(1_000_000)}` }), `${part} and spaces`);
}

t.ok(mayFollow(undefined, 'mixed'), 'a new process serves all');
t.ok(mayFollow('none', 'lang ja'));
t.ok(mayFollow('mixed', 'none'));
t.ok(mayFollow('lang ja', 'lang ja'));
t.notOk(mayFollow('lang ja', 'lang ko'));
t.notOk(mayFollow('mixed', 'mixed'), 'another character may come first');
