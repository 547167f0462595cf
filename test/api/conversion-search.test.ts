/** Conversions are found by their names and by what is known of them, over real HTTP. */
import { test } from 'tap';
import { ConversionSearches } from '../../src/conversions/search.ts';
import { BASE, refusal } from '../support/api.ts';
import { PDF, startWithConversion } from '../support/conversion.ts';
import { eraseAccount } from '../support/erase-account.ts';

const html = '<p>x</p>';
/** What is asked for, by a letter each. */
const REQUESTS: Readonly<Record<string, object>> = {
  a: { html, filename: 'Invoice-4320_final' },
  b: { html, filename: 'INVOICE 4321', reference: 'Order 2026-4711' },
  c: { html, reference: 'order 2026-4711', tags: { customer: 'Müller & Söhne', month: '2026-11' } },
  d: { url: 'https://shop.example.com/caf%C3%A9/bill?secret=hush' },
  e: { html, filename: 'Straße nach Łódź 🂡' },
  f: { html, filename: 'فاتورة رقم ٤٧', tags: { customer: 'Example', 'a-b': 'x:y' } },
  g: { html },
  h: { html, filename: 'ＦＵＬＬ　ｗｉｄｔｈ ﬁnal' },
  i: { html, tags: { customer: 'example' } },
  j: { html, filename: 'ΟΔΟΣ ΑΘΗΝΑΣ' },
};
/** Titles, once they are printed. */
const TITLES: Readonly<Record<string, string>> = {
  b: 'A bill',
  g: 'Quarterly <b>report</b>',
  i: '',
};
const WITH_WARNINGS = ['b', 'g'];

/** A filter, and the letters of what it finds, newest first. */
const SEARCHES: readonly (readonly [query: string, letters: string])[] = [
  ['q=invoice', 'ba'],
  ['q=INV', 'ba'],
  ['q=nvoice', ''],
  ['q=invoice-4320', 'a'],
  ['q=invoice 432', 'ba'],
  ['q=432 inv final', 'a'],
  ['q=fin', 'ha'],
  ['q=pdf invoice', 'ba'],
  ['q=order 4711', 'cb'],
  ['q=muller', 'c'],
  ['q=MÜLLER söh', 'c'],
  ['q=customer', 'ifc'],
  ['q=month 11', 'c'],
  ['q=shop.example', 'd'],
  ['q=example', 'ifd'],
  ['q=cafe', 'd'],
  ['q=hush', ''],
  ['q=secret', ''],
  ['q=strasse', 'e'],
  ['q=łodz', 'e'],
  ['q=🂡', 'e'],
  ['q=فات', 'f'],
  ['q=47', 'cb'],
  ['q=٤٧', 'f'],
  ['q=full width', 'h'],
  ['q=οδοσ', 'j'],
  ['q=οδος αθ', 'j'],
  ['q=quart report', 'g'],
  ['q=bill', 'db'],
  ['q=<b>', 'gfdb'],
  ['q=conv', ''],
  ['q=conv_', ''],
  ['q=conv_0', 'jihgfedcba'],
  ['q=CONV_0 invoice', 'ba'],
  ['reference=Order 2026-4711', 'b'],
  ['reference=Order', ''],
  ['tag=customer:Example', 'f'],
  ['tag=customer', 'ifc'],
  ['tag=customer&tag=month:2026-11', 'c'],
  ['tag=a-b:x:y', 'f'],
  ['tag=custom', ''],
  ['source=url', 'd'],
  ['source=html&q=bill', 'b'],
  ['warnings=true', 'gb'],
  ['warnings=true&status=completed&q=inv', 'b'],
  ['status=completed&source=html', 'igb'],
  ['status=failed&q=invoice', 'a'],
  ['status=pending&tag=customer', 'fc'],
  [`key=key_${'0'.repeat(26)}`, ''],
];

const BAD: readonly (readonly [query: string, field: string])[] = [
  ['q=', 'q'],
  ['q= ', 'q'],
  ['q=\0', 'q'],
  ['q=--- &', 'q'],
  [`q=${'x'.repeat(301)}`, 'q'],
  ['q=a b c d e f g h i j k', 'q'],
  ['q=a&q=b', 'q'],
  ['reference=', 'reference'],
  ['reference=a&reference=b', 'reference'],
  [`reference=${'x'.repeat(256)}`, 'reference'],
  ['tag=', 'tag'],
  ['tag=:x', 'tag'],
  ['tag=customer:', 'tag'],
  ['tag=Customer:x', 'tag'],
  [`tag=a:${'x'.repeat(201)}`, 'tag'],
  [Array.from({ length: 21 }, (_, n) => `tag=a${n}`).join('&'), 'tag'],
  ['key=my laptop', 'key'],
  ['source=pdf', 'source'],
  ['source=html&source=url', 'source'],
  ['warnings=false', 'warnings'],
  ['warnings=1', 'warnings'],
  ['order=', 'order'],
  ['order=asc', 'order'],
  ['order=oldest&order=newest', 'order'],
  ['from=2026-11-22T00:00:00Z&to=2026-11-21T00:00:00Z', 'from'],
  ['query=x', 'query'],
];

void test('each filter finds what fits it, and nothing else', async (t) => {
  const api = await startWithConversion(t, { env: { RATE_LIMIT_FREE: '100000' } });
  const { id: accountId, key } = api.account;
  const stranger = await api.newAccount();
  const letters = new Map<string, string>();
  const list = async (query: string, by = key) => {
    const path = `${BASE}/conversions/?${encodeURI(query)}`;
    const answer = await api.call('GET', path, { key: by });
    const rows = (answer.status === 200 ? answer.body : []) as unknown as { id: string }[];
    const found = rows.map(({ id }) => letters.get(id) ?? id).join('');
    return { ...answer, found, total: answer.headers.get('x-total-count') };
  };
  t.equal(
    (await list('q=invoice')).found,
    '',
    'an index of nothing, which takes in all that follows',
  );
  const positions: string[] = [];
  for (const [letter, body] of Object.entries(REQUESTS)) {
    const answer = await api.call('POST', `${BASE}/pdf/`, { key, body });
    letters.set(String(answer.body['id']), letter);
    await api.call('POST', `${BASE}/pdf/`, { key: stranger.key, body });
    if (letter === 'e') t.equal((await list('q=strasse')).found, 'e', 'at once');
    positions.push(String(await api.store.head()));
    api.clock.time += 1_000;
  }
  const ids = new Map(Array.from(letters, ([id, letter]) => [letter, id]));
  const idOf = (letter: string): string => ids.get(letter) ?? '';
  for (const [letter, title] of Object.entries(TITLES)) {
    const warnings = WITH_WARNINGS.includes(letter) ? ['x'] : undefined;
    await api.complete(accountId, idOf(letter), PDF, warnings, title);
  }
  await api.fail(accountId, idOf('a'), 'too late');

  const later = new ConversionSearches(api, 2 ** 28);
  for (const [query, expected] of SEARCHES) {
    const { found, total, status } = await list(query);
    t.strictSame([status, found, total], [200, expected, `${expected.length}`], query);
    const past = await list(`${query}&as_of=${await api.store.head()}`);
    t.strictSame([past.found, past.total], [expected, `${expected.length}`], `${query}, as of now`);
    const other = Array.from(expected).toReversed().join('');
    t.equal((await list(`${query}&order=oldest`)).found, other, `${query}, oldest first`);
  }
  const keys = (await api.call('GET', `${BASE}/api-keys/`, { key })).body as unknown;
  const [own] = keys as readonly { readonly id: string }[];
  t.equal((await list(`key=${own?.id}`)).found, 'jihgfedcba');
  t.equal((await list(`q=${idOf('d')}`)).found, 'd', 'a whole id');
  t.equal((await list(`q=${idOf('d').slice(0, 20)} shop`)).found, 'd');
  t.equal((await list(`id=${idOf('d')}&q=shop`)).found, 'd');
  t.equal((await list(`id=${idOf('d')}&q=invoice`)).found, '');
  t.equal((await list(`q=${idOf('d')}x`)).status, 200, 'no id');
  const [early, from, to] = [0, 1, 3].map((n) => new Date(api.clock.time - (10 - n) * 1000));
  t.ok(early && from && to);
  const period = `from=${from?.toISOString()}&to=${to?.toISOString()}`;
  t.equal((await list(`source=html&${period}`)).found, 'cb');
  t.equal((await list(`q=invoice&${period}`)).found, 'b');
  t.equal((await list(`q=quarterly&as_of=${positions.at(-1)}`)).found, '', 'it had no title then');
  t.equal((await list(`q=invoice&as_of=${positions[0]}`)).found, 'a');
  const third = await list('source=html&page=3&page_size=2');
  t.strictSame([third.found, third.total], ['fe', '9']);
  t.match(third.headers.get('link'), /source=html&page=5&page_size=2>; rel="last"/);
  t.strictSame((await list('source=html&page=9&page_size=2')).found, '');
  const oldest = 'source=html&order=oldest&page_size=2';
  t.equal((await list(`${oldest}&page=3`)).found, 'fg');
  t.equal((await list(`${oldest}&page=5`)).found, 'j', 'the last page is not filled');
  t.equal((await list(`${oldest}&page=6`)).found, '');
  const then = `${oldest}&as_of=${positions[4]}`;
  t.equal((await list(then)).found, 'ab', 'as of an earlier moment');
  t.equal((await list('q=invoice', stranger.key)).total, '2', 'each account has its own');

  for (const [query, field] of BAD) {
    const invalid = { status: 400, error: 'validation_error', details: [field] };
    t.strictSame(refusal(await list(query)), invalid, query);
  }
  await eraseAccount(api, accountId, api.context());
  t.equal((await list('q=invoice')).status, 401);
  const head = await api.store.head();
  const search = { chunks: [], tags: [], hasWarnings: true, order: 'newest' } as const;
  const slice = { offset: 0, limit: 1 };
  await t.rejects(later.page(accountId, search, slice, head), { name: 'KeyErased' });
});

void test('an account does not wait for the first search of a large one, and erasing ends that', async (t) => {
  const api = await startWithConversion(t, { env: { RATE_LIMIT_FREE: '100000' } });
  const large = await api.newAccount({ credits: 2000 });
  const small = await api.newAccount();
  const requests = Array.from({ length: 1000 }, (_, n) => ({ html, filename: `Invoice ${n}` }));
  for (const body of [{ requests }, { requests }]) {
    const { status } = await api.call('POST', `${BASE}/batches/`, { key: large.key, body });
    t.equal(status, 202);
  }
  await api.call('POST', `${BASE}/pdf/`, { key: small.key, body: requests[7] });
  const searches = new ConversionSearches(api, 2 ** 28);
  t.teardown(() => searches.close());
  const head = await api.store.head();
  const search = {
    chunks: [{ words: ['invoice'] }],
    tags: [],
    hasWarnings: false,
    order: 'newest',
  } as const;
  const slice = { offset: 0, limit: 1 };
  const ended: string[] = [];
  const totalOf = async (account: 'large' | 'small') => {
    const { id } = { large, small }[account];
    const { total } = await searches.page(id, search, slice, head);
    ended.push(account);
    return total;
  };
  const totals = await Promise.all([totalOf('large'), totalOf('large'), totalOf('small')]);
  t.strictSame(totals, [2000, 2000, 1]);
  t.strictSame(ended, ['small', 'large', 'large'], 'the slices of both are opened in turn');

  // The thread may be anywhere in it: what it opens has no place to go, for the key is asked for again.
  searches.forget(large.id);
  const cut = t.rejects(totalOf('large'), { name: 'KeyErased' });
  await eraseAccount(api, large.id, api.context());
  await cut;
  await t.rejects(totalOf('large'), { name: 'KeyErased' });
  t.equal(await totalOf('small'), 1);
  await searches.close();
  t.equal(await totalOf('small'), 1, 'what is filled needs no thread');
  searches.forget(small.id);
  await t.rejects(totalOf('small'), /threads are closed/);
});

void test('a search that does not fit into memory says from when on it does', async (t) => {
  const api = await startWithConversion(t, {
    env: { MAX_SEARCH_BYTES: '60000', RATE_LIMIT_FREE: '100000' },
  });
  const { key } = api.account;
  for (let n = 0; n < 400; n += 1) {
    const body = { html, filename: `Invoice ${n} ${'long'.repeat(20)}${n}` };
    await api.call('POST', `${BASE}/pdf/`, { key, body });
    api.clock.time += 60_000;
  }
  const list = (query: string) => api.call('GET', `${BASE}/conversions/?${query}`, { key });
  const refused = await list('q=invoice');
  t.strictSame(refusal(refused), { status: 400, error: 'validation_error', details: ['from'] });
  const [, from] = /from=(\S+) or later/.exec(String(refused.body['message'])) ?? [];
  const found = await list(`q=invoice&from=${from}`);
  t.equal(found.status, 200);
  t.ok(Number(found.headers.get('x-total-count')) > 5);
});
