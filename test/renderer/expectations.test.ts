/** Documents that change after they have loaded: on paper is what a person expects. Real Chrome; the PDF is read. */
import { readFileSync } from 'node:fs';
import tap, { test } from 'tap';
import { examplesPage, holdExpectation, requestOf } from '../support/expectations.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { visibleDifference } from '../support/same-pdf.ts';
import { accountId } from '../support/samples.ts';
import { DATA } from './expectations/data.ts';
import { BEFORE, LANGUAGES } from './expectations/languages.ts';
import { LAZY_CONTENT } from './expectations/lazy.ts';
import { LIMITS } from './expectations/limits.ts';
import { MESSAGES } from './expectations/messages.ts';
import { MOTION } from './expectations/motion.ts';
import { MOVING } from './expectations/moving.ts';
import { PARTS } from './expectations/parts.ts';
import { TIME } from './expectations/time.ts';

const renderer = await startTestRenderer();
tap.teardown(() => renderer.close());

const SUBJECTS = {
  'Messages, boxes and sessions': MESSAGES,
  'Sliders, tickers, counters and typewriters': MOVING,
  'Clocks, countdowns, progress and skeletons': TIME,
  'Lazy pictures, growing lists and scrolling': LAZY_CONTENT,
  'Content that scripts make': DATA,
  'Fades, animations and charts': MOTION,
  'Parts that open, stick or are for print': PARTS,
  'Text of one language after another': LANGUAGES,
  'Known limits, and what to do instead': LIMITS,
};

for (const [document, expectation] of Object.values(SUBJECTS).flatMap(Object.entries)) {
  void test(`${document}: ${expectation.paper}`, async (t) => {
    await holdExpectation(t, renderer, expectation);
  });
}

// Each after a text of another language, and after those of this list before it.
for (const [index, [document, { html }]] of Object.entries(LANGUAGES).entries()) {
  void test(`${document}, after another language`, async (t) => {
    const before = BEFORE[index % BEFORE.length] ?? '';
    const request = requestOf({ html });
    // An account that nothing was printed for gets a process of its own.
    const first = await renderer.bytes(request, {}, accountId(index + 10));
    await renderer.bytes({ html: before }, {}, accountId());
    const after = await renderer.bytes(request, {}, accountId());
    t.equal(await visibleDifference(first, after), undefined, before);
  });
}

void test('docs/rendering-examples.md has the line of each document', (t) => {
  const page = readFileSync(`${import.meta.dirname}/../../docs/rendering-examples.md`, 'utf8');
  t.equal(page, examplesPage(SUBJECTS));
  t.end();
});
