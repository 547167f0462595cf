/** An account with a long history asks for parts of it that are hard to find: everybody waits for the answer. */
import Database from 'better-sqlite3';
import { test } from 'tap';
import {
  type HistoryFilter,
  history,
  historyQueries,
  MAX_FILTERED_EVENTS,
} from '../../projections/history.ts';
import { eventually } from '../support/deadline.ts';
import { BASE, refusal, startApi } from '../support/api.ts';
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

void test('a filter over a long history is refused, with the time that may be asked for', async (t) => {
  const api = await startApi(t);
  const { id, key } = await api.newAccount();
  const ask = async (query: string) =>
    await api.call('GET', `${BASE}/account/events/?${query}`, { key });
  const count = async (query: string) => Number((await ask(query)).headers.get('x-total-count'));
  await eventually('its use is known', async () => (await count('type=KeyUsed')) || undefined);
  const before = await count('');
  const more = 1000;
  // What years of conversions leave, one a millisecond.
  const begun = api.clock.time + 1000;
  api.readModel.query((db) => {
    const insert = db.prepare(`INSERT INTO history
      (account_id, number, stream, revision, type, actor_kind, actor, conversion_id, time)
      VALUES (?, ?, 'account-${id}', 0, 'CreditDebited', 'service', 'service', NULL, ?)`);
    const last = before + MAX_FILTERED_EVENTS + more;
    db.transaction(() => {
      for (let n = before + 1; n <= last; n += 1) insert.run(id, n, begun + n);
      db.prepare('UPDATE history_totals SET total = ? WHERE account_id = ?').run(last, id);
    })();
    return {};
  });
  for (const filter of ['type=CreditDebited', 'actor=service', 'type=KeyUsed&actor=key']) {
    const refused = await ask(filter);
    t.strictSame(refusal(refused), {
      status: 400,
      error: 'validation_error',
      details: ['from'],
    });
    const [, from = ''] = /from=(\S+) or later/.exec(String(refused.body['message'])) ?? [];
    t.equal(Date.parse(from), begun + before + more + 1);
    const last = await ask(`${filter}&from=${from}`);
    t.equal(last.status, 200);
    if (filter === 'type=CreditDebited') {
      t.equal(last.headers.get('x-total-count'), String(MAX_FILTERED_EVENTS));
    }
    t.equal((await ask(`${filter}&to=${from}`)).status, 200, 'what came before');
  }
  t.equal((await ask('')).status, 200, 'without a filter nothing is searched');
  t.equal((await ask('from=2026-01-01T00:00:00Z&page=2000')).status, 200);
});

void test('a list by status does not skip a million conversions', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const ask = async (query: string) =>
    await api.call('GET', `${BASE}/conversions/?${query}`, { key });
  const far = 'page=2502&page_size=100';
  const refused = { status: 400, error: 'validation_error', details: ['page'] };
  t.strictSame(refusal(await ask(`${far}&status=failed`)), refused);
  t.equal((await ask('page=2501&page_size=100&status=failed')).status, 200);
  t.equal((await ask(far)).status, 200, 'numbers lead to a page of all');
});
