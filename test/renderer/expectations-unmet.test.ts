/** Documents of which something else is printed than a person expects: each of these tests fails today. */
import tap, { test } from 'tap';
import { holdExpectation } from '../support/expectations.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { UNMET } from './expectations/unmet.ts';

const renderer = await startTestRenderer();
tap.teardown(() => renderer.close());

for (const [document, expectation] of Object.entries(UNMET)) {
  void test(`${document}: ${expectation.paper}`, async (t) => {
    await holdExpectation(t, renderer, expectation);
  });
}
