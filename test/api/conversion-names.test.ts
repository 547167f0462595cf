/** The names of conversions over real HTTP: given, read back, and shown wherever a conversion is listed. */
import { test } from 'tap';
import { BASE } from '../support/api.ts';
import { PDF, startWithConversion } from '../support/conversion.ts';
import { openEventStream } from '../support/event-stream.ts';

const RTL = '<b>فاتورة</b> 🂡 & "x"';
type Items = readonly Readonly<Record<string, unknown>>[];

void test('each list names a conversion; a plain request is answered without names', async (t) => {
  const api = await startWithConversion(t);
  const { key, id: accountId } = api.account;
  const ask = async (body: object): Promise<string> =>
    String((await api.call('POST', `${BASE}/pdf/`, { key, body })).body['id']);
  const list = async (path: string) =>
    (await api.call('GET', BASE + path, { key })).body as unknown as Items;
  const html = '<p>x</p>';
  const stream = await openEventStream(t, `${api.origin}${BASE}/conversions/stream/`, {
    'X-API-Key': key,
  });
  const tags = { customer: RTL, month: '2026-11' };
  const named = await ask({ html, filename: `${'n'.repeat(190)} 🂡`, reference: RTL, tags });
  const [{ data } = {}] = await stream.until((event) => event.data['id'] === named);
  t.match(data, { name: `${'n'.repeat(190)} 🂡.pdf`, reference: RTL, tags });
  const titled = await ask({ html, reference: 'A-1' });
  const page = await ask({ url: 'https://user.example.com:443/M%C3%BCll%E2%80%AE/a?secret=1#x' });
  const idn = await ask({ url: 'http://xn--mller-kva.example/' });
  const bare = await ask({ html, tags: {} });
  await api.complete(accountId, titled, PDF, undefined, RTL);

  const rows = await list('/conversions/');
  t.strictSame(
    rows.map(({ id, name }) => [id, name]),
    [
      [bare, bare],
      [idn, 'müller.example'],
      [page, 'user.example.com/Müll\\u202e/a'],
      [titled, RTL],
      [named, `${'n'.repeat(190)} 🂡.pdf`],
    ],
  );
  t.match(rows[3], { reference: 'A-1', title: RTL });
  t.match((await api.get(titled)).body, { name: RTL, reference: 'A-1', title: RTL });
  for (const id of [bare, page]) {
    t.strictSame(Object.keys((await api.get(id)).body), ['id', 'status', 'created_at']);
  }
  await api.complete(accountId, bare, PDF, undefined, 'A title');
  const { body: plain } = await api.get(bare);
  t.notOk('name' in plain || 'title' in plain, 'a plain request is answered without names');
  t.match((await list('/conversions/'))[0], { id: bare, name: 'A title', title: 'A title' });

  const ledger = await list('/account/ledger/');
  t.match(
    ledger.map(({ name }) => name),
    ['A title', 'müller.example', /Müll/, RTL, /n 🂡/, undefined],
  );
  const csv = await api.call('GET', `${BASE}/account/ledger/`, {
    key,
    headers: { Accept: 'text/csv' },
  });
  t.match(csv.text.split('\r\n')[4], /"<b>فاتورة<\/b> 🂡 & ""x"""$/);
  const events = await list(`/account/events/?conversion_id=${titled}`);
  t.ok(events.length > 2 && events.every(({ name }) => name === RTL));
  const request = events.find(({ type }) => type === 'ConversionRequested');
  t.match(request, { summary: 'A PDF was requested, from HTML, with a reference.' });
  const [first] = await list(`/conversions/${named}/events/?type=ConversionRequested`);
  t.match(first, { summary: /, with a file name, a reference and tags\.$/ });
  const stored = JSON.stringify(await api.log());
  for (const text of [RTL, 'A title', 'müller', '2026-11"', 'user.example']) {
    t.notMatch(stored, text, 'the log has it sealed');
  }
});
