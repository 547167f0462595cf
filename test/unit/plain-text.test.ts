import { test } from 'tap';
import { isBlank, plainJson, plainText, unlinkedName } from '../../src/text/plain-text.ts';

const UNSAFE = /[\p{Cc}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

void test('text that steers a terminal or its own direction becomes visible', (t) => {
  for (const [text, plain] of [
    ['\u001b]0;title\u0007\u001b[31mred', '\\u001b]0;title\\u0007\\u001b[31mred'],
    ['image/\u009b31m', 'image/\\u009b31m'],
    ['a\u0000b\u007f', 'a\\u0000b\\u007f'],
    ['\u202egnp', '\\u202egnp'],
    ['\u2066a\u2069\u200e\u200f\u061c', '\\u2066a\\u2069\\u200e\\u200f\\u061c'],
  ] as const) {
    t.equal(plainText(text), plain);
  }
  t.end();
});

void test('a text is blank if nothing of it can be seen', (t) => {
  const unseen = [' ', '\u00a0', '\u3000', '\n', '\u0001', '\u00ad', '\u034f', '\u115f', '\u180e'];
  unseen.push('\u200b', '\u200d', '\u2060', '\u2800', '\u3164', '\ufe0f', '\ufeff', '\u{e0001}');
  for (const each of ['', ...unseen, unseen.join('')]) t.ok(isBlank(each), JSON.stringify(each));
  for (const each of ['a', '.', 'ー', '\u{1f600}', '\u0301', 'مرحبا', `${unseen.join('')}x`]) {
    t.notOk(isBlank(each), each);
  }
  t.end();
});

void test('text stays on its line', (t) => {
  t.equal(plainText('one\ntwo\r\nthree\tfour'), 'one two three four');
  t.equal(plainText('a\u2028b\u2029c\u0085d\ve\ff'), 'a b c d e f');
  t.end();
});

void test('every unsafe character is replaced, and the result stays as it is', (t) => {
  const all = Array.from({ length: 0x2100 }, (_, code) => String.fromCharCode(code)).join('');
  const plain = plainText(all);
  t.notMatch(plain, UNSAFE);
  t.equal(plainText(plain), plain);
  t.end();
});

void test('letters of every script, emoji and what joins them stay as they are', (t) => {
  for (const text of ['Größe', 'שלום', 'مرحبا', '日本語', '👩‍💻', 'क्‍ष', 'C:\\new', '']) {
    t.equal(plainText(text), text);
  }
  t.end();
});

void test('a name in a mail has nothing that becomes a link', (t) => {
  for (const [name, shown] of [
    ['https://evil.example/x', 'https evil example/x'],
    ['www.evil.example', 'www evil example'],
    ['Pay at evil.example now', 'Pay at evil example now'],
    ['me@evil.example', 'me evil example'],
    ['mailto:me', 'mailto me'],
    ['//evil', 'evil'],
    ['\\\\evil\\share', 'evil\\share'],
    ['evil\u3002example', 'evil example'],
    ['me\uff20evil\uff0eexample', 'me evil example'],
    ['evil.\u200bexample', 'evil \u200bexample'],
  ] as const)
    t.equal(unlinkedName(name), shown);
  for (const name of [
    'J. R. Müller',
    "Siobhán O'Neil-Smith jr.",
    '<b>Ada</b> & Söhne',
    '山田 太郎',
  ])
    t.equal(unlinkedName(name), name);
  t.equal(unlinkedName('x'.repeat(60)), 'x'.repeat(60));
  t.equal(unlinkedName('🦉'.repeat(61)), `${'🦉'.repeat(59)}…`);
  t.end();
});

void test('JSON text has no unsafe character, and is the same document', (t) => {
  const all = Array.from({ length: 0x2100 }, (_, code) => String.fromCharCode(code)).join('');
  const value = { [all]: [all, `\\${all}`, '👩‍💻'], nested: { all } };
  for (const json of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
    const plain = plainJson(json);
    t.notMatch(plain.replaceAll('\n', ''), UNSAFE);
    t.strictSame(JSON.parse(plain), value);
    t.equal(plainJson(plain), plain);
  }
  t.equal(plainJson('{\n  "a": 1\n}'), '{\n  "a": 1\n}', 'its layout stays');
  t.end();
});
