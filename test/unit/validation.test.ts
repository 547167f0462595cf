import { test } from 'tap';
import { ConversionRequest } from '../../src/requests/schema.ts';
import { stripUnknown, ValidationIssues } from '../../src/requests/validation.ts';

const many = (count: number, value: unknown): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, value]));

void test('what the schema is asked about is small, however large the body', (t) => {
  const body = {
    ...many(5000, 'x'.repeat(1000)),
    margin_top: '1'.repeat(1_000_000),
    media: { print: 'x'.repeat(1_000_000) },
    page_size: Array<string>(5000).fill('A4'),
    metadata: {
      ...many(5000, 1),
      title: '\u{1f600}'.repeat(500_000),
      keywords: Array(5000).fill('k'),
    },
    headers: { [`x${'y'.repeat(1_000_000)}`]: 'x', ...many(5000, '1') },
    cookies: Array.from({ length: 5000 }, () => many(100, 1)),
  };
  const known = JSON.stringify(stripUnknown(ConversionRequest, body, new ValidationIssues()));
  t.ok(known.length < 10_000, `${known.length} characters`);
  t.ok(known.isWellFormed(), 'no character is cut in two');
  const parsed = JSON.parse(known) as typeof body;
  t.equal(parsed.cookies.length, 51, 'one too many, so that this is seen');
  t.equal(parsed.metadata.keywords.length, 51);
  t.equal(Object.keys(parsed.headers).length, 21);
  t.end();
});
