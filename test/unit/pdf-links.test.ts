import { test } from 'tap';
import { LinkCleaner } from '../../src/renderer/pdf/objects.ts';

const link = (target: string): string =>
  `7 0 obj\n<</Type /Annot\n/A <</Type /Action\n/S /URI\n/URI ${target}>>>>\nendobj\n`;

function clean(chunks: readonly string[], ownOrigin?: string): string {
  const cleaner = new LinkCleaner(ownOrigin);
  const parts = chunks.map((chunk) => cleaner.push(Buffer.from(chunk, 'latin1')));
  return Buffer.concat([...parts, cleaner.end()]).toString('latin1');
}

const TAIL = 'trailer\n<</Size 8>>\nstartxref\n9\n%%EOF\n';

void test('only links to the web, to mail and to telephones stay', (t) => {
  const good = ['(https://a.example/b\\(c\\))', '(HTTP://a)', '(mailto:a@b)', '(tel:1)', '(sms:1)'];
  for (const target of good) t.equal(clean([link(target) + TAIL]), link(target) + TAIL);
  const bad = [
    '(javascript:a)',
    '(file:///a)',
    '(data:,a)',
    '(smb://a)',
    '(a)',
    '<66696C65>',
    '()',
  ];
  for (const target of bad) {
    const cleaned = clean([link(target) + TAIL]);
    t.notMatch(cleaned, '/A <<', target);
    t.notMatch(cleaned, /javascript:|file:|data:|smb:/, target);
    t.equal(cleaned.length, link(target).length + TAIL.length, 'every offset stays');
  }
  t.end();
});

void test('links to the synthetic origin go', (t) => {
  const own = 'http://abc.invalid/';
  const cleaned = clean([link(`(${own}x)`) + link('(http://abd.invalid/)') + TAIL], own);
  t.equal(cleaned.split('/A <<').length, 2);
  t.match(cleaned, 'http://abd.invalid/');
  t.end();
});

void test('wherever the stream is cut, the result is the same', (t) => {
  const own = 'http://abc.invalid/';
  const text = `${link('(file:///etc/passwd)')}${link('(https://a.example/)')}${link(`(${own}x)`)}${TAIL}`;
  const whole = clean([text], own);
  const cut = Array.from({ length: text.length }, (_, at) =>
    clean([text.slice(0, at), text.slice(at)], own),
  );
  t.ok(cut.every((each) => each === whole));
  t.equal(clean(text.match(/[\s\S]{1,7}/g) ?? [], own), whole);
  t.end();
});

void test('a string that never closes hides no later link', (t) => {
  const cleaned = clean([link('(https://a/((((((') + link('(javascript:a)') + TAIL]);
  t.equal(cleaned.split('/A <<').length, 2);
  t.end();
});
