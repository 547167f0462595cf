/** A late page of a list by status costs what the first does, however many conversions an account has. */
import Database from 'better-sqlite3';
import { test } from 'tap';
import type { ConversionStatus } from '../../../projections/conversion-pages.ts';
import { conversionQueries, conversions } from '../../../projections/conversions.ts';
import type { RecordedEvent } from '../../../src/event-store/port.ts';
import { install } from '../../../src/read-model/schema.ts';
import { completion, failure, request, type Step, start } from '../../support/history.ts';
import { accountId, conversionId, NOW } from '../../support/samples.ts';

const CONVERSIONS = 4_321;
/** The most rows that may be skipped to come to a page. */
const MOST_SKIPPED = 1_000;
const BY_STATUS =
  /COVERING INDEX conversions_by_status \(account_id=\? AND status=\? AND number>\? AND number<\?\)/;

/** Long stretches of one status, short ones, and each status beside each other one. */
function statusOf(n: number): ConversionStatus {
  if (n % 1_700 === 0) return 'pending';
  if (n > 1_500 && n < 2_900) return 'failed';
  if (n % 999 === 0) return 'processing';
  return n % 7 === 0 ? 'failed' : 'completed';
}

const METADATA = { actor: { kind: 'service' } };

function stepsOf(n: number, status: ConversionStatus): Step[] {
  if (status === 'pending') return [request(n, 1)];
  if (status === 'processing') return [request(n, 1), start(n, 1)];
  return [request(n, 1), start(n, 1), status === 'failed' ? failure(n, 1) : completion(n, 1)];
}

/** The account's conversions, projected, and what each statement of their queries was asked with. */
function projected(statusAt = statusOf) {
  const db = new Database(':memory:');
  install(db, [conversions]);
  const handlers = conversions.handlers(db);
  db.transaction(() => {
    for (let n = 1; n <= CONVERSIONS; n += 1) {
      for (const event of stepsOf(n, statusAt(n)).flatMap((step) => step.events(0n))) {
        handlers[event.type]?.({ ...event, metadata: METADATA } as unknown as RecordedEvent);
      }
    }
  })();
  const asked: { readonly sql: string; readonly values: readonly unknown[] }[] = [];
  const pending: unknown[] = [];
  const recording = new Proxy(db, {
    get: (target, name) => {
      if (name !== 'prepare') throw new Error(`Nobody asked for ${String(name)} before.`);
      return (sql: string) => {
        const statement = target.prepare(sql);
        const all = statement.all.bind(statement);
        const get = statement.get.bind(statement);
        return Object.assign(statement, {
          get: (...values: unknown[]) => {
            const found = get(...values);
            if (sql.includes('count(*)') && values.includes('pending')) pending.push(found);
            return found;
          },
          all: (...values: unknown[]) => {
            asked.push({ sql, values });
            return all(...values);
          },
        });
      };
    },
  });
  return { db, asked, pending, queries: conversionQueries(recording) };
}

void test('each page of a status is what it would be in a list of all of that status', (t) => {
  const { db, asked, queries } = projected();
  for (const status of ['completed', 'failed', 'processing', 'pending'] as const) {
    const ids = db
      .prepare<[string], string>('SELECT id FROM conversions WHERE status = ? ORDER BY number DESC')
      .pluck()
      .all(status);
    for (let offset = 0; offset < ids.length + 40; offset += 13) {
      const { rows, total } = queries.page(accountId(1), { status, offset, limit: 20 });
      const page = rows.map(({ id }) => id);
      if (total !== ids.length || page.join() !== ids.slice(offset, offset + 20).join()) {
        t.fail(`${status} from ${offset}: ${page.join()} of ${total}`);
      }
    }
  }
  t.ok(asked.length > 0);
  db.close();
  t.end();
});

void test('each page of a status and a period is what it would be in a list of all of them', (t) => {
  const { db, queries } = projected();
  const times = [0, 1, 7, 998, 999, 1_000, 1_001, 2_000, 3_500, CONVERSIONS, CONVERSIONS + 1];
  const periods = times.flatMap((from) => times.map((to) => ({ from: NOW + from, to: NOW + to })));
  for (const status of [undefined, 'completed', 'failed', 'processing', 'pending'] as const) {
    for (const period of periods) {
      const ids = db
        .prepare<[object], string>(
          `SELECT id FROM conversions WHERE (@status IS NULL OR status = @status)
           AND created_at >= @from AND created_at < @to ORDER BY number DESC`,
        )
        .pluck()
        .all({ ...period, status: status ?? null });
      for (const offset of [0, 1, 500, 1_003, 2_222]) {
        const filter = { ...period, ...(status && { status }) };
        const { rows, total } = queries.page(accountId(1), { ...filter, offset, limit: 3 });
        const page = rows.map(({ id }) => id);
        if (total !== ids.length || page.join() !== ids.slice(offset, offset + 3).join()) {
          t.fail(`${status} ${JSON.stringify(period)} from ${offset}: ${page.join()} of ${total}`);
        }
      }
    }
  }
  db.close();
  t.end();
});

void test('a time and the start of an id are looked for in an index', (t) => {
  const { db, asked, queries } = projected();
  const idStart = conversionId(7).slice(0, 20);
  queries.page(accountId(1), { idStart, from: NOW, to: NOW + 9_999, offset: 0, limit: 20 });
  const plans = asked.flatMap(({ sql, values }) =>
    db
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...values)
      .map(({ detail }) => detail),
  );
  t.match(plans[0], /SEARCH conversions USING INDEX conversions_by_id \(id>\? AND id<\?\)/);
  db.close();
  t.end();
});

void test('no page of a status skips many rows, or reads rows of others', (t) => {
  const { db, asked, queries } = projected();
  for (const status of ['completed', 'failed'] as const) {
    const { total } = queries.page(accountId(1), { status, offset: 0, limit: 1 });
    for (let offset = 0; offset < total; offset += 97) {
      asked.length = 0;
      queries.page(accountId(1), { status, offset, limit: 20 });
      const skipped = asked.find(({ sql }) => sql.includes('OFFSET'))?.values.at(-1);
      if (typeof skipped !== 'number' || skipped >= MOST_SKIPPED) {
        t.fail(`${status} from ${offset} skips ${String(skipped)}`);
      }
    }
  }
  const plans = asked.flatMap(({ sql, values }) =>
    db
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...values)
      .map(({ detail }) => detail),
  );
  t.ok(
    plans.some((plan) => BY_STATUS.test(plan)),
    plans.join('; '),
  );
  t.notOk(
    plans.some((plan) => plan.startsWith('SCAN conversion')),
    plans.join('; '),
  );
  db.close();
  t.end();
});

void test('a late page is found without counting the unfinished once more', (t) => {
  const waiting = 1_500;
  const { db, pending, queries } = projected((n) => {
    if (n > CONVERSIONS - waiting) return 'pending';
    return n % 7 === 0 ? 'failed' : 'completed';
  });
  for (const [status, looked] of [
    ['completed', waiting],
    ['failed', 0],
  ] as const) {
    const { total } = queries.page(accountId(1), { status, offset: 0, limit: 1 });
    for (let offset = 0; offset < total; offset += 97) {
      pending.length = 0;
      queries.page(accountId(1), { status, offset, limit: 20 });
      const counted = pending.reduce((sum: number, count) => sum + Number(count), 0);
      if (counted !== looked) t.fail(`${status} from ${offset} counts ${counted}`);
    }
    t.ok(total > 0);
  }
  db.close();
  t.end();
});

void test('a period is found among times that stand still, run back or leave gaps', (t) => {
  const db = new Database(':memory:');
  install(db, [conversions]);
  const handlers = conversions.handlers(db);
  for (let n = 1; n <= 500; n += 1) {
    const requestedAt = NOW + 1_000 * Math.floor(n / 40) + (n % 7) + (n > 300 ? 10 ** 9 : 0);
    for (const event of request(n, 1).events(0n)) {
      const data = { ...event.data, requestedAt };
      handlers[event.type]?.({ ...event, data, metadata: METADATA } as unknown as RecordedEvent);
    }
  }
  const times = db
    .prepare<[], number>('SELECT time FROM conversions ORDER BY number')
    .pluck()
    .all();
  const queries = conversionQueries(db);
  for (const time of new Set(times.flatMap((each) => [each - 1, each, each + 1]))) {
    const older = times.filter((each) => each < time).length;
    const before = queries.page(accountId(1), { to: time, offset: 0, limit: 1 }).total;
    const after = queries.page(accountId(1), { from: time, offset: 0, limit: 1 }).total;
    if (before !== older || after !== 500 - older) t.fail(`${time}: ${before}, ${after}`);
  }
  t.equal(queries.page(accountId(2), { from: NOW, to: NOW + 1, offset: 0, limit: 1 }).total, 0);
  db.close();
  t.end();
});
