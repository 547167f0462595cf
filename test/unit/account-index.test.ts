/** An account's index takes in what has happened in short turns, whatever one conversion brings. */
import { test } from 'tap';
import type { SearchRow } from '../../projections/conversions.ts';
import { AccountIndex, momentQueries } from '../../src/conversions/account-index.ts';
import { entryOf } from '../../src/conversions/search-entry.ts';
import type { DomainEvent } from '../../src/domain/events.ts';
import { opening, request, type Step } from '../support/history.ts';
import { write } from '../support/log.ts';
import { openProjected } from '../support/projected.ts';
import { accountId, conversionId } from '../support/samples.ts';

const broken = (): never => {
  throw new Error('a fault');
};

const named = (n: number): Step => {
  const { stream, events } = request(n, 1);
  const name = ({ type, data }: DomainEvent) =>
    ({ type, data: { ...data, filename: `sealed ${n}` } }) as DomainEvent;
  const withName = () =>
    events(0n).map((event) => (event.type === 'ConversionRequested' ? name(event) : event));
  return { stream, events: withName };
};

void test('a turn ends after the conversion that has used it up, and the next goes on there', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  await runner.waitFor(await write(log, [opening(1, 100)]));
  const moment = () => readModel.query(momentQueries);
  const index = new AccountIndex(accountId(1), moment());
  const count = 45;
  await runner.waitFor(
    await write(
      log,
      Array.from({ length: count }, (_, n) => named(n + 1)),
    ),
  );
  let opened = 0;
  const slow = (sealed: string): string => {
    opened += 1;
    for (const end = performance.now() + 10; performance.now() < end; );
    return sealed.replace('sealed', 'letter');
  };
  // None in a turn that a busy machine has used up before the first.
  for (let before = 0; !index.catchUp(moment(), slow); before = opened) {
    t.ok(opened <= before + 1, 'one conversion in a turn');
  }
  t.equal(opened, count, 'each once');
  const question = { terms: [], first: 1, last: count, offset: 0, limit: 100 };
  const found = (word: string) =>
    index.index.find({ ...question, chunks: [{ words: [word] }] }).total;
  t.strictSame([found('letter'), found('45')], [count, 1]);
});

void test('a conversion whose texts cannot be read is found by all else of it', (t) => {
  const row: SearchRow = {
    number: 7,
    id: conversionId(7),
    status: 'completed',
    source: 'url',
    filename: 'a name',
    tags: 'no JSON',
    hasWarnings: 1,
  };
  const rest = { words: '', terms: 'source url\0warnings' };
  for (const open of [broken, (sealed: string) => sealed]) {
    t.match(entryOf(row, open), { number: 7, id: row.id, ...rest });
  }
  t.match(
    entryOf({ ...row, tags: '{"a":"b"}' }, (sealed) => sealed),
    { words: 'a name a b' },
  );
  t.end();
});
