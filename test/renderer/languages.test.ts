/** Fonts whose glyphs depend on the language: Chrome keeps the first fallback font of a character in a process. */
import tap, { test } from 'tap';
import { startTestRenderer } from '../support/renderer.ts';
import { visibleDifference } from '../support/same-pdf.ts';
import { accountId } from '../support/samples.ts';

const renderer = await startTestRenderer();
tap.teardown(() => renderer.close());

/** Text whose glyphs differ from language to language with the fonts that the set-up installs. */
const HAN = '<p>直骨角与令 漢字 ，。</p>';
const ARABIC = '<p>یہ ہے ك ک گ ۴۵۶</p>';
const LANGUAGES: readonly string[] = [
  ...['ja', 'ko', 'zh-Hans', 'zh-Hant', 'zh-HK'].map((lang) => `<html lang=${lang}>${HAN}`),
  HAN,
  ...['ar', 'ur'].map((lang) => `<html lang=${lang}>${ARABIC}`),
  ARABIC,
  '<html lang=en><p>Latin text',
];

/** A round through the numbers below `count` in which each follows each other one once. */
function eachAfterEach(count: number): number[] {
  const left = Array.from({ length: count }, (_, from) =>
    Array.from({ length: count }, (__, to) => to).filter((to) => to !== from),
  );
  const round: number[] = [];
  const visit = (from: number): void => {
    for (let to = left[from]?.pop(); to !== undefined; to = left[from]?.pop()) visit(to);
    round.push(from);
  };
  visit(0);
  return round;
}

void test('the glyphs of a language do not depend on the language that was printed before', async (t) => {
  const fresh: Buffer[] = [];
  for (const [index, language] of LANGUAGES.entries()) {
    fresh.push(
      await renderer.bytes({ html: `<!doctype html>${language}` }, {}, accountId(90 + index)),
    );
  }
  // Otherwise the fonts of this machine would prove nothing.
  t.not(await visibleDifference(fresh[0] as Buffer, fresh[1] as Buffer), undefined);
  t.not(await visibleDifference(fresh[6] as Buffer, fresh[7] as Buffer), undefined);
  const round = eachAfterEach(LANGUAGES.length);
  t.equal(round.length, LANGUAGES.length * (LANGUAGES.length - 1) + 1);
  const account = accountId(89);
  for (const [step, index] of round.entries()) {
    const printed = await renderer.bytes(
      { html: `<!doctype html>${LANGUAGES[index]}` },
      {},
      account,
    );
    const after = LANGUAGES[round[step - 1] ?? 0];
    t.equal(
      await visibleDifference(printed, fresh[index] as Buffer),
      undefined,
      `${LANGUAGES[index]} after ${after}`,
    );
  }
});
