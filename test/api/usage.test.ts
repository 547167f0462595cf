/** An account's usage by day, and its tables as CSV. */
import { test } from 'tap';
import { csvCell } from '../../src/http/csv.ts';
import { BASE, refusal, startApi } from '../support/api.ts';
import { PDF, startWithConversion } from '../support/conversion.ts';

const CSV = { Accept: 'text/csv' };

void test('days on which something happened', async (t) => {
  const api = await startWithConversion(t);
  const { key, id: accountId } = api.account;
  api.clock.time = Date.UTC(2026, 10, 20, 23, 59, 59);
  const [done, failed] = [await api.create(), await api.create()];
  await api.fail(accountId, failed, 'The page took too long.');
  const tester = { key, body: { name: 'tests', test: true } };
  const made = await api.call('POST', `${BASE}/api-keys/`, tester);
  const asked = { key: String(made.body['key']), body: { html: '<p>x</p>' } };
  await api.call('POST', `${BASE}/pdf/`, asked);
  api.clock.time += 2_000;
  await api.complete(accountId, done, PDF);
  const stranger = await api.newAccount();
  const read = (query = '', of = key) =>
    api.call('GET', `${BASE}/account/usage/${query}`, { key: of });
  const first = { day: '2026-11-20', accepted: 3, completed: 0, failed: 1, pages: 0, bytes: 0 };
  const second = { day: '2026-11-21', accepted: 0, completed: 1, failed: 0, pages: 1 };
  const days = [
    { ...first, tests: 1, failures: { timeout: 1 } },
    { ...second, bytes: PDF.length, tests: 0, failures: {} },
  ];
  t.strictSame((await read()).body, { days });
  t.strictSame((await read('?to=2026-11-20')).body, { days: days.slice(0, 1) });
  t.strictSame((await read('?from=2026-11-21&to=2026-11-21')).body, { days: days.slice(1) });
  t.strictSame((await read('', stranger.key)).body, { days: [] }, 'no other account’s');
  const table = await api.call('GET', `${BASE}/account/usage/`, { key, headers: CSV });
  t.match(table.headers.get('content-type'), 'text/csv');
  t.match(
    table.text,
    /^day,accepted,completed,failed,pages,bytes,timeout,.*,tests\r\n2026-11-20,3,0,1,0,0,1,.*,1\r\n/,
  );
  const wrong = ['?from=2026-02-31', '?from=2026-11-22&to=2026-11-21', '?from=1970-01-01'];
  for (const query of wrong) {
    const expected = { status: 400, error: 'validation_error', details: ['from'] };
    t.strictSame(refusal(await read(query)), expected, query);
  }
});

void test('the list of conversions as CSV: all that the filters let through', async (t) => {
  const api = await startApi(t);
  const { id: accountId, key } = await api.newAccount();
  const create = async (filename: string) => {
    const body = { html: '<p>x</p>', filename, tags: { month: '11', to: '=1' } };
    return String((await api.call('POST', `${BASE}/pdf/`, { key, body })).body['id']);
  };
  const [plain, formula] = [await create('a, b'), await create('=1+1')];
  await api.complete(accountId, plain, Buffer.from('%PDF-1.7'));
  const table = async (query: string) => {
    const answer = await api.call('GET', `${BASE}/conversions/${query}`, { key, headers: CSV });
    t.match(answer.headers.get('content-type'), 'text/csv');
    return answer.text.split('\r\n');
  };
  const [header, newest, oldest, ...rest] = await table('?page_size=1');
  t.match(header, /^id,name,status,created_at,.*,reference,batch,tags,warnings,test$/);
  t.match(newest, new RegExp(`^${formula},'=1\\+1\\.pdf,pending,.*,month:11; to:=1,0,false$`));
  t.match(oldest, new RegExp(`^${plain},"a, b\\.pdf",completed,.*,\\d+,\\d+,[0-9a-f]{64},`));
  t.strictSame(rest, [''], 'whatever the page');
  t.strictSame(await table('?status=completed&q=b'), [header, oldest, '']);
  t.strictSame((await table(`?as_of=${await api.store.head()}`)).length, 4);
  const wrong = await api.call('GET', `${BASE}/conversions/?status=x`, { key, headers: CSV });
  t.equal(wrong.status, 400, 'refused before the table begins');
});

void test('the ledger as CSV: all of it', async (t) => {
  const api = await startWithConversion(t);
  const { key } = api.account;
  const before = new Date(api.clock.time).toISOString();
  api.clock.time += 1_000;
  const id = await api.create();
  const { text } = await api.call('GET', `${BASE}/account/ledger/?page_size=1`, {
    key,
    headers: CSV,
  });
  const [header, debit, grant, ...others] = text.split('\r\n');
  t.equal(header, 'id,type,amount,balance,conversion_id,created_at,name');
  t.match(debit, new RegExp(`^entry_[0-9a-f]+,debit,-1,99,${id},`));
  t.match(grant, /,grant,100,100,,/);
  t.strictSame(others, ['']);
  const asOf = (moment: string) =>
    api.call('GET', `${BASE}/account/ledger/?as_of=${moment}`, { key, headers: CSV });
  const [, atFirst, ...later] = (await asOf(before)).text.split('\r\n');
  t.match(atFirst, /,grant,100,100,,/);
  t.strictSame(later, [''], 'as of a moment, too');
  const beyond = `${(await api.store.head()) + 1n}`;
  t.equal((await asOf(beyond)).status, 400, 'refused before the table begins');
});

void test('cells that a spreadsheet takes for formulas are harmless', (t) => {
  for (const start of ['=', '+', '-', '@', '\t']) t.equal(csvCell(`${start}1`), `'${start}1`);
  t.equal(csvCell('=1,"2"'), `"'=1,""2"""`);
  t.equal(csvCell(-1), '-1', 'a number is none');
  t.equal(csvCell(undefined), '');
  t.end();
});
