/** Sizes as messages tell them. */
import { test } from 'tap';
import { sizeText } from '../../src/text/size.ts';

void test('a size is told in the largest unit that it is a whole number of', (t) => {
  t.equal(sizeText(10_485_760), '10 MiB');
  t.equal(sizeText(65_536), '64 KiB');
  t.equal(sizeText(1_000_000), '1000000 bytes');
  t.equal(sizeText(0), '0 bytes');
  t.end();
});
