import { test } from 'tap';
import { suggest } from '../../src/text/suggest.ts';

const NAMES = ['start', 'account', 'api', 'page-size', 'page-ranges', 'projections'];

void test('a word with one slip is recognised', (t) => {
  for (const [word, meant] of [
    ['acount', 'account'],
    ['accounts', 'account'],
    ['acciunt', 'account'],
    ['acocunt', 'account'],
    ['ccount', 'account'],
    ['xapi', 'api'],
    ['pai', 'api'],
    ['start', 'start'],
    ['proj', 'projections'],
    ['page-r', 'page-ranges'],
  ] as const) {
    t.equal(suggest(word, NAMES), meant, word);
  }
  t.end();
});

void test('nothing is guessed where little speaks for it', (t) => {
  for (const word of ['', 'page', 'a', 'tsrat', 'accuotn', 'frobnicate', 'trats']) {
    t.equal(suggest(word, NAMES), undefined, word);
  }
  t.equal(suggest('x', []), undefined);
  t.end();
});
