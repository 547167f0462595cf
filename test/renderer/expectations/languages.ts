/** Text of one language that no reader of the HTML would find in it. Each is printed after another language. */
import { type Expectations, script } from '../../support/expectations.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const KANJI = '直角骨今';
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" lang="ja" width="200" height="40"><text y="30">${KANJI}</text></svg>`;

const paper = 'as if it was printed first';

export const LANGUAGES: Expectations = {
  'a date of `toLocaleDateString(locale)`': {
    paper,
    html: `<p id=p></p>${script("const locale = 'ja'; p.textContent = new Date(0).toLocaleDateString(locale, { dateStyle: 'full' })")}`,
    has: /1970年1月1日/,
  },
  'a list with `list-style: trad-chinese-informal`': {
    paper,
    html: '<ol style="list-style:trad-chinese-informal"><li>one<li value=12>two</ol>',
    has: /一[^]*十二/,
  },
  'a `<q>` in `lang=ja`': { paper, html: '<p lang=ja><q>text</q>', has: /^「text」$/ },
  'an SVG in percent encoding': {
    paper,
    html: `<img src="data:image/svg+xml,${encodeURIComponent(SVG)}">`,
    has: /直/,
  },
  'a script in base64': {
    paper,
    html: `<p id=p></p><script src="data:text/javascript;charset=utf-8;base64,${base64(`p.lang = 'ja'; p.textContent = '${KANJI}'`)}"></script>`,
    has: /直/,
  },
  'a frame in base64': {
    paper,
    html: `<iframe src="data:text/html;charset=utf-8;base64,${base64(`<p lang=ja>${KANJI}`)}"></iframe>`,
    has: /直/,
  },
  'a style sheet in base64': {
    paper,
    html: `<link rel=stylesheet href="data:text/css;charset=utf-8;base64,${base64(`p::after { content: '${KANJI}' }`)}"><p lang=ja></p>`,
    has: /直/,
  },
  'a text of `Blob.text()`': {
    paper,
    html: `<p id=p lang=ja></p>${script('new Blob([Uint8Array.of(231, 155, 180, 233, 170, 168)]).text().then((text) => { p.textContent = text })')}`,
    has: /直骨/,
  },
};

/** Texts of other languages that share these characters. */
export const BEFORE = ['zh-Hans', 'zh-Hant', 'ko'].map(
  (language) => `<!doctype html><p lang=${language}>${KANJI}`,
);
