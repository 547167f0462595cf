/** An account with a long history asks for parts of it that are hard to find: everybody waits for the answer. */
import Database from 'better-sqlite3';
import { test } from 'tap';
import { type HistoryFilter, history, historyQueries } from '../../projections/history.ts';
import { accountId, conversionId, NOW } from '../support/samples.ts';

const EVENTS = 200_000;

void test('no filter makes a query read the rows of a long history', (t) => {
  const db = new Database(':memory:');
  t.teardown(() => db.close());
  db.exec(history.ddl);
  const columns =
    'account_id, number, stream, revision, type, actor_kind, actor, conversion_id, time';
  const insert = db.prepare(`INSERT INTO history (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const account = accountId(1);
  db.transaction(() => {
    for (let n = 1; n <= EVENTS; n += 1) {
      const id = conversionId(n % 50_000);
      insert.run(account, n, `s${id}`, n, 'ConversionStarted', 'renderer', 'renderer:r', id, NOW);
    }
    db.prepare('INSERT INTO history_totals VALUES (?, ?, ?)').run(account, EVENTS, NOW);
  })();
  const queries = historyQueries(db);
  const timeOf = (filter: HistoryFilter, offset = 0): number =>
    Math.min(
      ...[1, 2, 3].map(() => {
        const begun = performance.now();
        queries.page(account, filter, { order: 'newest first', offset, limit: 100 });
        return performance.now() - begun;
      }),
    );
  // The time that a count of the rows themselves takes here and now.
  const rows = db.prepare('SELECT count(stream) FROM history WHERE revision >= 0');
  const [first, ...more] = [1, 2, 3].map(() => {
    const begun = performance.now();
    rows.get();
    return performance.now() - begun;
  });
  const scan = Math.min(first ?? 0, ...more);
  const conversion = { conversionId: conversionId(7) };
  t.ok(timeOf(conversion) < scan / 4, 'one conversion');
  t.ok(timeOf({ ...conversion, type: 'ConversionStarted' }) < scan / 4, 'one conversion, one type');
  t.ok(timeOf({ type: 'ConversionStarted', actor: 'key' }) < scan * 3, 'none that match');
  t.ok(timeOf({ actor: 'renderer' }, EVENTS - 200) < scan * 3, 'the last page');
  t.end();
});
