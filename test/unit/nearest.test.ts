import { test } from 'tap';
import { nearest } from '../../src/nearest.ts';

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
    t.equal(nearest(word, NAMES), meant, word);
  }
  t.end();
});

void test('nothing is guessed where little speaks for it', (t) => {
  for (const word of ['', 'page', 'a', 'tsrat', 'accuotn', 'frobnicate', 'trats']) {
    t.equal(nearest(word, NAMES), undefined, word);
  }
  t.equal(nearest('x', []), undefined);
  t.end();
});
