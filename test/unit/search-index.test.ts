/** The index of names finds exactly what a look at each name finds. */
import fc from 'fast-check';
import { test } from 'tap';
import { SearchIndex } from '../../src/conversions/search-index.ts';
import { foldText, wordsOf } from '../../src/text/words.ts';

const id = (n: number): string => `conv_${String(n).padStart(26, '0')}`;

void test('words are compared without case, accents and forms of letters', (t) => {
  const same = [
    ['Straße', 'STRASSE'],
    ['Ångström', 'angstrom'],
    ['ｆｕｌｌ', 'Full'],
    ['ﬁnal', 'FINAL'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['İstanbul', 'istanbul'],
    ['é', 'é'],
  ] as const;
  for (const [a, b] of same) t.equal(foldText(a), foldText(b), `${a} ${b}`);
  t.strictSame(wordsOf('Invoice-4320_final(2).pdf 📄x'), [
    'invoice',
    '4320',
    'final',
    '2',
    'pdf',
    '📄',
    'x',
  ]);
  t.strictSame(wordsOf('\u202e… — <>'), []);
  t.end();
});

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'ä', '1'), minLength: 1, maxLength: 3 });
const row = fc.record({
  words: fc.array(word, { maxLength: 4 }),
  terms: fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 }),
  status: fc.integer({ min: 1, max: 3 }),
});
const question = fc.record({
  chunks: fc.array(
    fc.record({
      words: fc.array(word, { minLength: 1, maxLength: 2 }),
      idStart: fc.option(fc.constantFrom('conv_0', id(3), id(3).slice(0, -1)), { nil: undefined }),
    }),
    { maxLength: 3 },
  ),
  terms: fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 2 }),
  idStart: fc.option(fc.constantFrom('conv_0000000', id(5)), { nil: undefined }),
  status: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  first: fc.integer({ min: 1, max: 50 }),
  last: fc.integer({ min: 0, max: 80 }),
  offset: fc.integer({ min: 0, max: 10 }),
  limit: fc.integer({ min: 1, max: 10 }),
});

void test('it finds what a look at each conversion finds, in any order of entering', (t) => {
  const property = fc.property(
    fc.array(row, { maxLength: 70 }),
    fc.array(question, { minLength: 1, maxLength: 5 }),
    fc.boolean(),
    fc.nat({ max: 70 }),
    (rows, questions, newestFirst, askedAfter) => {
      // It keeps whatever is asked for, while the rest comes.
      const index = new SearchIndex(1);
      const numbered = rows.map((each, n) => ({ ...each, number: n + 1 }));
      for (const [n, each] of (newestFirst ? numbered.toReversed() : numbered).entries()) {
        if (n === askedAfter) for (const asked of questions) index.find(asked);
        index.setStatus(each.number, id(each.number), 1);
        index.addWords(each.number, each.words);
        for (const term of each.terms) index.addTerm(each.number, term);
        index.setStatus(each.number, id(each.number), each.status);
      }
      for (const asked of questions) {
        const fits = ({ words, terms, status, number }: (typeof numbered)[number]): boolean =>
          asked.chunks.every(
            (chunk) =>
              chunk.words.every((start) => words.some((each) => each.startsWith(start))) ||
              (chunk.idStart !== undefined && id(number).startsWith(chunk.idStart)),
          ) &&
          asked.terms.every((term) => terms.some((each) => each === term)) &&
          (asked.idStart === undefined || id(number).startsWith(asked.idStart)) &&
          (asked.status === undefined || status === asked.status) &&
          number >= asked.first &&
          number <= asked.last;
        const all = numbered
          .filter(fits)
          .map(({ number }) => number)
          .toReversed();
        const page = all.slice(asked.offset, asked.offset + asked.limit);
        t.strictSame(index.find(asked), { numbers: page, total: all.length });
      }
    },
  );
  fc.assert(property, { numRuns: 300 });
  t.end();
});

void test('it finds words in every run, however many there are', (t) => {
  const index = new SearchIndex();
  const count = 80_000;
  for (let number = 1; number <= count; number += 1) {
    index.setStatus(number, id(number), 1);
    index.addWords(number, ['invoice', String((number * 7_919) % count).padStart(5, '0')]);
  }
  const find = (...words: string[]) =>
    index.find({
      chunks: words.map((each) => ({ words: [each] })),
      terms: [],
      first: 1,
      last: count + 1,
      offset: 0,
      limit: 3,
    });
  t.equal(find('inv').total, count);
  t.strictSame(find('inv').numbers, [count, count - 1, count - 2]);
  t.equal(find('012').total, 100);
  t.equal(find('0').total, 10_000);
  t.equal(find('01234', 'invoice').total, 1);
  t.equal(find('9').total, 0);
  t.equal(find('0').total, 10_000, 'as it was kept');
  index.setStatus(count + 1, id(count + 1), 2);
  index.addWords(count + 1, ['0new', 'invoice']);
  t.strictSame(find('0').numbers[0], count + 1, 'what is new is in what was kept');
  t.equal(find('0').total, 10_001);
  t.ok(index.bytes > 20 * count && index.bytes < 400 * count, `${index.bytes} bytes`);
  t.end();
});
