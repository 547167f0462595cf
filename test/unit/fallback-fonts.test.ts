/** The language that a document may need fallback fonts for, and which document may follow it. */
import t from 'tap';
import { animatedCharts } from '../../bench/documents.ts';
import {
  type FallbackLanguage,
  fallbackLanguageOf,
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
for (const [html, expected] of cases) t.equal(fallbackLanguageOf({ html }), expected, html);

t.equal(
  fallbackLanguageOf({ html: animatedCharts(1) }),
  'none',
  'the library makes no such character',
);
t.equal(fallbackLanguageOf({ url: 'https://example.com/' }), 'mixed', 'nobody knows its text');
t.equal(fallbackLanguageOf({ html: '<p>a', files: { 'a.css': '' } }), 'mixed');
t.equal(fallbackLanguageOf({ html: '<p>a', header_html: '漢字' }), 'mixed', 'of no language');

t.ok(mayFollow(undefined, 'mixed'), 'a new process serves all');
t.ok(mayFollow('none', 'lang ja'));
t.ok(mayFollow('mixed', 'none'));
t.ok(mayFollow('lang ja', 'lang ja'));
t.notOk(mayFollow('lang ja', 'lang ko'));
t.notOk(mayFollow('mixed', 'mixed'), 'another character may come first');
