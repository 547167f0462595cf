/** The scan for an element must agree with a whole tokenizer, whatever the text. */
import fc from 'fast-check';
import { type TokenHandler, Tokenizer } from 'parse5';
import { test } from 'tap';
import { hasElement } from '../../../src/requests/html.ts';

const ignore = (): void => {};

function tokenizerFindsElement(html: string): boolean {
  let found = false;
  const handler: TokenHandler = {
    onStartTag: () => {
      found = true;
    },
    onEndTag: ignore,
    onComment: ignore,
    onDoctype: ignore,
    onEof: ignore,
    onCharacter: ignore,
    onNullCharacter: ignore,
    onWhitespaceCharacter: ignore,
  };
  new Tokenizer({ sourceCodeLocationInfo: false }, handler).write(html, true);
  return found;
}

/** What the states of the tokenizer tell apart. */
const PIECES = Array.from('<>!?/=-"\'&;# aZ@[`{é\t\n\f\r\0\u2028\ufeff').concat(
  ['<a', '</a', '<!--', '-->', '--!>', '<!', '<!doctype', '<![CDATA[', ']]>', '&lt;', '&#x3e;'],
  ['PUBLIC "', "SYSTEM '", 'b="', "b='", 'b=c', '/>', '\u{1f600}', '\ud800', '<script>'],
);

void test('the scan agrees with the tokenizer on any text', (t) => {
  const pieces = fc.array(fc.constantFrom(...PIECES), { maxLength: 14 });
  const text = fc.oneof(
    pieces.map((each) => each.join('')),
    pieces.map((each) => `<${each.join('')}`),
    pieces.map((each) => `<!--${each.join('')}<i>`),
    pieces.map((each) => `</a ${each.join('')}<i>`),
    fc.string({ unit: 'binary', maxLength: 30 }),
  );
  let found = 0;
  const runs = 60_000;
  fc.assert(
    fc.property(text, (html) => {
      const expected = tokenizerFindsElement(html);
      found += Number(expected);
      return hasElement(html) === expected;
    }),
    { numRuns: runs },
  );
  t.ok(found > runs / 20 && found < (runs * 19) / 20, `${found} had an element`);
  t.end();
});

void test('the scan agrees with the tokenizer on the cases of the standard', (t) => {
  const cases: [html: string, element: boolean][] = [
    ['', false],
    ['plain', false],
    ['a < b > c', false],
    ['a <b> c', true],
    ['<<p>', true],
    ['<\u00e9>', false],
    ['<@>', false],
    ['<[a>', false],
    ['<`a>', false],
    ['<{a>', false],
    ['<p', false],
    ['<p a="x>y', false],
    ['<p a="x>y">', true],
    ['<p "x>y"', true],
    ['<p ="x>y"', true],
    ['<p a ="x>y', false],
    ['<p a/="x>y', true],
    ['<p a=/"x>y', true],
    ["<p a= 'x>", false],
    ['</p>', false],
    ['</p a="<b>"', false],
    ['</p a="<b>"><b>', true],
    ['</><b>', true],
    ['</ <b>', false],
    ['</ ><b>', true],
    ['<!-- <b>', false],
    ['<!--><b>', true],
    ['<!---><b>', true],
    ['<!----><b>', true],
    ['<!---!><b>', false],
    ['<!----!><b>', true],
    ['<!-- --!><b>', true],
    ['<!-- --!-><b>', false],
    ['<!-- --- ><b>', false],
    ['<!-- ---><b>', true],
    ['<!-- <!--><b>', true],
    ['<!- <b><b>', true],
    ['<!doctype html PUBLIC "><b>', true],
    ['<!doctype html PUBLIC "<b', false],
    ['<![CDATA[><b>', true],
    ['<![CDATA[<b>]]>', false],
    ['<?xml <b>', false],
    ['<?xml?><b>', true],
    ['<?><b>', true],
    ['&lt;b>', false],
  ];
  for (const [html, element] of cases) {
    t.equal(tokenizerFindsElement(html), element, `the tokenizer: ${html}`);
    t.equal(hasElement(html), element, html);
  }
  t.end();
});
