/**
 * Documents that draw, fade or count after they have loaded are printed as they are at their end: as plain puppeteer
 * prints the same documents without motion.
 */
import tap, { test } from 'tap';
import { startPlainPuppeteer } from '../support/plain-puppeteer.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { visibleDifference } from '../support/same-pdf.ts';
import { accountId, OPTIONS } from '../support/samples.ts';
import { MOVING } from './corpus/moving.ts';

const renderer = await startTestRenderer();
const reference = await startPlainPuppeteer();
tap.teardown(() => Promise.all([renderer.close(), reference.close()]));

for (const [number, { name, moving, still }] of MOVING.entries()) {
  void test(name, async (t) => {
    const expected = await reference.print({ html: still }, OPTIONS);
    const afterOthers = await renderer.bytes({ html: moving }, {}, accountId(1));
    t.equal(await visibleDifference(expected, afterOthers), undefined, 'after others');
    const alone = await renderer.bytes({ html: moving }, {}, accountId(1_000 + number));
    t.equal(await visibleDifference(expected, alone), undefined, 'alone');
  });
}
