/** An account with a long history asks for parts of it that are hard to find: everybody waits for the answer. */
import Database from 'better-sqlite3';
import { test } from 'tap';
import { batches } from '../../projections/batches.ts';
import {
  type HistoryFilter,
  history,
  historyQueries,
  MAX_FILTERED_EVENTS,
} from '../../projections/history.ts';
import { install } from '../../src/read-model/schema.ts';
import { BASE, refusal, startApi } from '../support/api.ts';
import { eventually } from '../support/deadline.ts';
import { accountId, batchId, conversionId, NOW } from '../support/samples.ts';

/** The ways in which SQLite finds the rows of a page, by its own account. */
function plansOf(filter: HistoryFilter): readonly string[] {
  const db = new Database(':memory:');
  install(db, [history, batches]);
  const account = accountId(1);
  db.prepare('INSERT INTO history_totals VALUES (?, ?, ?)').run(account, 200_000, NOW);
  const asked = new Set<string>();
  const recording = new Proxy(db, {
    get: (target, name) => {
      if (name !== 'prepare') throw new Error(`Nobody asked for ${String(name)} before.`);
      return (sql: string) => {
        asked.add(sql);
        return target.prepare(sql);
      };
    },
  });
  const page = { order: 'newest first', offset: 1000, limit: 100 } as const;
  const queries = historyQueries(recording);
  asked.clear();
  queries.page(account, filter, page);
  const plans = [...asked].flatMap((sql) => {
    const values = Array.from(sql.matchAll(/\?/g), () => 1);
    return db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
  });
  db.close();
  return plans.map(({ detail }) => detail);
}

void test('no filter makes a query read the rows of a long history', (t) => {
  const conversion = { conversionId: conversionId(7) };
  const indexes: readonly (readonly [HistoryFilter, RegExp])[] = [
    [conversion, /INDEX history_by_subject \(subject_id=\?/],
    [{ ...conversion, type: 'ConversionStarted' }, /INDEX history_by_subject \(subject_id=\?/],
    [{ batchId: batchId(7), actor: 'key' }, /INDEX history_by_subject \(subject_id=\?/],
    [{ type: 'ConversionStarted', actor: 'key' }, /COVERING INDEX history_by_type/],
    [{ type: 'ConversionStarted' }, /COVERING INDEX history_by_type/],
    [{ actor: 'renderer' }, /COVERING INDEX history_by_actor/],
    [{ actor: 'renderer:node-1' }, /COVERING INDEX history_by_actor/],
    [{}, /PRIMARY KEY \(account_id=\? AND number/],
  ];
  for (const [filter, index] of indexes) {
    const plans = plansOf(filter);
    const name = JSON.stringify(filter);
    t.ok(plans.length > 0, name);
    t.ok(
      plans.some((plan) => index.test(plan)),
      `${name}: ${plans.join('; ')}`,
    );
    t.notOk(
      plans.some((plan) => plan.startsWith('SCAN history')),
      name,
    );
  }
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
      (account_id, number, position, stream, revision, type, actor_kind, actor, subject_id, time)
      VALUES (?, ?, ?, 'account-${id}', 0, 'CreditDebited', 'service', 'service', NULL, ?)`);
    const last = before + MAX_FILTERED_EVENTS + more;
    db.transaction(() => {
      for (let n = before + 1; n <= last; n += 1) insert.run(id, n, n, begun + n);
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

void test('a list by status has late pages too', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const ask = async (query: string) =>
    await api.call('GET', `${BASE}/conversions/?${query}`, { key });
  for (const page of [2501, 2502, 9999]) {
    t.equal((await ask(`page=${page}&page_size=100&status=failed`)).status, 200);
  }
});
