/**
 * The service's PDFs beside plain puppeteer's: documents of many kinds in random order, with random options, all
 * of them by one account and each by another account. TEST_SEED runs the same ones again.
 */
import tap, { test } from 'tap';
import type { PrintOptions } from '../../src/domain/event-fields.ts';
import { startPlainPuppeteer } from '../support/plain-puppeteer.ts';
import { seededRandom } from '../support/random.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { visibleDifference } from '../support/same-pdf.ts';
import { accountId, OPTIONS } from '../support/samples.ts';
import { BUSINESS } from './corpus/business.ts';
import { CONTENT } from './corpus/content.ts';
import type { CorpusDocument } from './corpus/document.ts';
import { LAYOUT } from './corpus/layout.ts';
import { PAGED } from './corpus/paged.ts';
import { SCRIPTED } from './corpus/scripted.ts';

const DOCUMENTS = [...BUSINESS, ...PAGED, ...LAYOUT, ...CONTENT, ...SCRIPTED];

/** The most documents that the reference itself may print in several ways. */
const MOST_UNSTEADY = 3;
const TIMES_ASKED = 3;

const CHOICES: readonly Partial<PrintOptions>[] = [
  {},
  {},
  { print_background: true },
  { landscape: true, page_size: 'Letter' },
  { scale: 0.7, page_size: 'A5' },
  { scale: 1.3, margin_left: '3cm', margin_right: '0.5in' },
  { page_size: 'A3', margin_top: '0cm', margin_bottom: '40px' },
  { page_size: 'Legal', page_ranges: '1' },
  { media: 'screen', print_background: true },
  { tagged: false },
  { outline: true },
];

const warm = await startTestRenderer();
const fresh = await startTestRenderer();
const reference = await startPlainPuppeteer();
tap.teardown(() => Promise.all([warm.close(), fresh.close(), reference.close()]));

const random = seededRandom();

const shuffled = (): CorpusDocument[] =>
  DOCUMENTS.map((each) => [random.integer(0, 1_000_000), each] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, each]) => each);

void test('the corpus has enough documents, each with a name of its own', async (t) => {
  t.ok(DOCUMENTS.length >= 100, `${DOCUMENTS.length} documents`);
  t.equal(new Set(DOCUMENTS.map(({ name }) => name)).size, DOCUMENTS.length);
});

void test(`documents of many kinds, by seed ${random.seed}`, async (t) => {
  const unsteady: string[] = [];
  for (const [number, document] of shuffled().entries()) {
    const chosen = { ...CHOICES[random.integer(0, CHOICES.length - 1)], ...document.options };
    const options: PrintOptions = { ...OPTIONS, ...chosen };
    const request = { html: document.html, ...document.frame };
    const ask = (): Promise<Buffer> => reference.print(request, options);
    const [expected, ...printed] = await Promise.all([
      ask(),
      warm.bytes(request, options, accountId(1)),
      fresh.bytes(request, options, accountId(1_000 + number)),
    ]);
    const found = await Promise.all(printed.map((pdf) => visibleDifference(expected, pdf)));
    const [afterOthers, alone] = found;
    if (afterOthers === undefined && alone === undefined) {
      t.pass(document.name);
      continue;
    }
    let isSteady = true;
    for (let time = 0; time < TIMES_ASKED && isSteady; time += 1) {
      isSteady = (await visibleDifference(expected, await ask())) === undefined;
    }
    if (isSteady) t.fail(document.name, { options: chosen, afterOthers, alone });
    else unsteady.push(document.name);
  }
  for (const name of unsteady)
    t.comment(`not counted: puppeteer prints it in several ways: ${name}`);
  t.ok(unsteady.length <= MOST_UNSTEADY, `${unsteady.length} documents do not count`);
});
