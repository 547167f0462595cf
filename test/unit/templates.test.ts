/** The filters of templates, and the templates that the playground begins with. */
import { readFileSync } from 'node:fs';
import { test } from 'tap';
import { localDate, money, number } from '../../src/templates/filters.ts';
import { TemplateThreads } from '../../src/templates/threads.ts';

const SAMPLES = new URL('../../samples/templates/', import.meta.url);

void test('money, numbers and dates are written as people of a language write them', (t) => {
  t.equal(money(1234.5, 'EUR', 'de-DE'), '1.234,50\u00a0€');
  t.equal(money('12', 'usd', undefined), '$12.00');
  t.equal(number(1234.5, 'de-DE', 2), '1.234,50');
  t.equal(number(0.125, 'en', undefined), '0.125');
  t.equal(localDate('2026-11-27', 'de-CH', 'long', undefined), '27. November 2026');
  const late = '2026-11-27T23:30:00Z';
  t.equal(localDate(late, 'en-GB', 'short', undefined), '27/11/2026');
  t.equal(localDate(late, 'en-GB', 'short', 'Europe/Zurich'), '28/11/2026');
  t.equal(localDate('2026-11-27', 'en-GB', 'short', 'Pacific/Apia'), '27/11/2026');
  const wrong: readonly [() => string, RegExp][] = [
    [() => money(undefined, 'EUR', 'en'), /money needs a number, and its value is missing/],
    [() => money([1], 'EUR', 'en'), /its value is a list/],
    [() => money(1, undefined, 'en'), /a currency of three letters/],
    [() => money(1, 'EUR', 'x'), /there is no language x/],
    [() => number('1,5', 'en', 2), /number needs a number/],
    [() => number(1, 'en', 99), /0 to 20 digits/],
    [() => localDate('today', 'en', 'long', undefined), /needs a date such as/],
    [() => localDate('2026-02-30T99:00Z', 'en', 'long', undefined), /needs a date such as/],
    [() => localDate('2026-11-27', 'en', 'tiny', undefined), /full, long, medium, short/],
    [() => localDate(late, 'en', 'long', 'Mars/Base'), /there is no time zone Mars\/Base/],
  ];
  for (const [call, problem] of wrong) t.throws(call, problem);
  t.end();
});

void test('each template to begin with is filled with its data, which fits its schema', async (t) => {
  const threads = new TemplateThreads();
  t.teardown(() => threads.close());
  const all = JSON.parse(readFileSync(new URL('data.json', SAMPLES), 'utf8')) as Readonly<
    Record<string, { readonly schema: object; readonly data: object }>
  >;
  for (const [name, { schema, data }] of Object.entries(all)) {
    const html = readFileSync(new URL(`${name}.html`, SAMPLES), 'utf8');
    const { filled, problems } = await threads.run({
      texts: { html },
      schema: JSON.stringify(schema),
      data: [JSON.stringify(data), '{}'],
      maxBytes: 100_000,
      maxTotalBytes: 100_000,
    });
    t.strictSame(problems, [], name);
    t.match(filled, [{ texts: { html: /<\/html>/ } }, { problems: [{ path: ['data'] }] }], name);
    t.notMatch(JSON.stringify(filled), /&lt;br|\{\{|NaN|undefined/, name);
  }
});
