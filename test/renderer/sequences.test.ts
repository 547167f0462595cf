/**
 * Random documents of one account, one after another, in the windows and processes that it finds. Each PDF must
 * be the one that an account of its own gets. SEQUENCE_LENGTH is the number of documents, TEST_SEED runs the same
 * ones again.
 */
import { readFile, rm } from 'node:fs/promises';
import tap, { test } from 'tap';
import { seededRandom } from '../support/random.ts';
import { compose, type Parts, randomRow } from '../support/random-documents.ts';
import { startTestRenderer, type TestRenderer } from '../support/renderer.ts';
import { comparable, visibleDifference } from '../support/same-pdf.ts';
import { accountId } from '../support/samples.ts';
import { shrinkSequence } from '../support/shrink-sequence.ts';

const LENGTH = Number(process.env['SEQUENCE_LENGTH'] ?? 60);
/** The times that a document is printed alone before it counts as one that is always printed in one way. */
const TIMES_ALONE = 8;
/** The same while a sequence is made shorter. */
const TIMES_SHRUNK = 2;
const SHRINK_MS = 60_000;
/** The most documents, of a hundred, that need not be printed in one way. */
const MOST_BY_CHANCE = 10;

// Two Chromes: one prints rows, the other one prints each document alone meanwhile.
const [renderer, another] = await Promise.all([startTestRenderer(), startTestRenderer()]);
tap.teardown(() => Promise.all([renderer.close(), another.close()]));

let accounts = 0;
const newAccount = (): string => accountId((accounts += 1));

/** @returns the PDF; the text of the failure where there is none */
async function print(by: TestRenderer, parts: Parts, account: string): Promise<Buffer> {
  const { request, options } = compose(parts);
  let result = await by.render(request, options, undefined, account);
  // Some random documents flood their process. The service tries the next one again, too, if Chrome draws no frame for it.
  const isHung = result.kind === 'crashed' && result.message.endsWith('does not end.');
  if (isHung) result = await by.render(request, options, undefined, account);
  if (result.kind !== 'completed') return Buffer.from(`${result.kind}: ${result.message}`);
  const pdf = await readFile(result.path);
  await rm(result.path);
  return pdf;
}

const printAlone = (parts: Parts): Promise<Buffer> => print(another, parts, newAccount());

async function difference(one: Buffer, other: Buffer): Promise<string | undefined> {
  if (comparable(one) === comparable(other)) return undefined;
  const failure = [one, other].find((each) => !each.toString('latin1', 0, 4).startsWith('%PDF'));
  if (failure) return failure.toString();
  return await visibleDifference(one, other);
}

/** True where a document is printed in several ways though it is alone. */
async function variesAlone(parts: Parts, alone: Buffer, times = TIMES_ALONE): Promise<boolean> {
  for (let time = 0; time < times; time += 1) {
    if ((await difference(await printAlone(parts), alone)) !== undefined) return true;
  }
  return false;
}

/** Prints a sequence in an account of its own, and its last document alone. */
async function differs(sequence: readonly Parts[]): Promise<boolean> {
  const last = sequence.at(-1) ?? [];
  const account = newAccount();
  for (const before of sequence.slice(0, -1)) await print(renderer, before, account);
  const [after, alone] = await Promise.all([print(renderer, last, account), printAlone(last)]);
  if ((await difference(after, alone)) === undefined) return false;
  return !(await variesAlone(last, alone, TIMES_SHRUNK));
}

/** A document in some lines: without the content of its images and fonts. */
const brief = (parts: Parts): string =>
  JSON.stringify(compose(parts)).replaceAll(/(base64,.{9})[\w+/=]+/g, '$1…');
const shown = (sequence: readonly Parts[]): string =>
  sequence.map((parts) => JSON.stringify(compose(parts))).join('\n');

async function explain(sequence: readonly Parts[]): Promise<string> {
  const least = await shrinkSequence(sequence, differs, performance.now() + SHRINK_MS);
  return least === undefined
    ? `not again when the ${sequence.length} documents were printed again; it was\n${shown(sequence.slice(-1))}`
    : `after fewer documents too, the last of these ${least.length}:\n${shown(least)}`;
}

const random = seededRandom();

void test(`documents in a row, by seed ${random.seed}`, async (t) => {
  let byChance = 0;
  for (let count = 0; count < LENGTH; ) {
    const row = randomRow(random).slice(0, LENGTH - count);
    const account = newAccount();
    for (const [index, parts] of row.entries()) {
      const alone = printAlone(parts);
      const after = await print(renderer, parts, account);
      const found = await difference(after, await alone);
      count += 1;
      if (found === undefined) continue;
      if (await variesAlone(parts, await alone)) {
        byChance += 1;
        t.comment(`document ${count} differs from itself alone (${found}): ${brief(parts)}`);
        continue;
      }
      const explained = await explain(row.slice(0, index + 1));
      if (explained.startsWith('not again')) {
        byChance += 1;
        t.comment(`document ${count}: ${found}, ${explained}`);
      } else t.fail(`document ${count}: ${found}`, { found: explained });
    }
    t.pass(`a row of ${row.length}`);
  }
  t.ok(
    byChance * 100 <= LENGTH * MOST_BY_CHANCE,
    `${byChance} of ${LENGTH} differ from themselves`,
  );
});
