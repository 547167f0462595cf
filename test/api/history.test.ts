/** An account reads its own history, and never another's. */
import { test } from 'tap';
import { type Answer, BASE, refusal, startApi } from '../support/api.ts';

type Entry = Record<string, unknown> & {
  readonly type: string;
  readonly time: string;
  readonly position: string;
  readonly actor: { readonly kind: string; readonly id?: string };
  readonly data: Record<string, unknown>;
};

const entriesOf = (answer: Answer) => JSON.parse(answer.text) as readonly Entry[];
const typesOf = (answer: Answer) => entriesOf(answer).map(({ type }) => type);
const PDF_FILE = Buffer.from('%PDF-1.7 a file of this test');

void test('a conversion from its request to its download', async (t) => {
  const api = await startApi(t);
  const account = await api.newAccount();
  const { key } = account;
  const headers = { 'X-Request-Id': 'r-4711' };
  const body = { html: '<p>x</p>' };
  const created = await api.call('POST', `${BASE}/pdf/`, { key, body, headers });
  const id = String(created.body['id']);
  await api.complete(account.id, id, PDF_FILE);
  const record = await api.call('GET', `${BASE}/conversions/${id}/`, { key });
  const fileUrl = String(record.body['file_url']);
  t.equal((await api.call('HEAD', fileUrl)).status, 200, 'a look at the headers is not a download');
  const beyond = await api.call('GET', fileUrl, { headers: { Range: 'bytes=9999999-' } });
  t.equal(beyond.status, 416);
  t.notOk(beyond.headers.get('content-disposition'), 'a refusal is not a file');
  const downloads = `${BASE}/conversions/${id}/events/?type=DocumentDownloaded`;
  t.strictSame(entriesOf(await api.call('GET', downloads, { key })), [], 'and no download');
  t.equal((await api.call('GET', fileUrl)).text, PDF_FILE.toString());
  const range = { Range: 'bytes=0-3' };
  t.equal((await api.call('GET', fileUrl, { headers: range })).status, 206);

  const answer = await api.call('GET', `${BASE}/conversions/${id}/events/`, { key });
  t.equal(answer.status, 200);
  t.strictSame(typesOf(answer), [
    'CreditDebited',
    'ConversionRequested',
    'ConversionCompleted',
    'DocumentDownloaded',
  ]);
  t.equal(answer.headers.get('x-total-count'), '4', 'one download for a network and minute');
  const [debit, request, , download] = entriesOf(answer);
  t.match(debit, { summary: '1 credit was taken for the conversion.', data: { amount: 1 } });
  t.match(request, {
    summary: 'A PDF was requested, from HTML.',
    stream: `account-${account.id}`,
    actor: {
      kind: 'key',
      id: account.keyId,
      key_name: 'test',
      key_prefix: account.key.slice(0, 12),
    },
    client_address: '127.0.0.1',
    request_id: 'r-4711',
    correlation_id: id,
  });
  t.match(download, {
    summary: 'The PDF was downloaded through a link.',
    stream: `conversion-${id}`,
    actor: { kind: 'anonymous' },
    client_address: '127.0.0.1',
    data: { link: /^[0-9a-f]{64}$/ },
  });

  const page = await api.call('GET', `${BASE}/conversions/${id}/events/?page=2&page_size=3`, {
    key,
  });
  t.strictSame(typesOf(page), ['DocumentDownloaded']);

  api.clock.time += 61_000;
  const fresh = await api.call('GET', `${BASE}/conversions/${id}/`, { key });
  t.equal((await api.call('GET', String(fresh.body['file_url']))).status, 200);
  t.equal(
    entriesOf(await api.call('GET', downloads, { key })).length,
    2,
    'a minute later, another',
  );
  api.clock.time += 60_000;
  t.equal((await api.call('GET', `${BASE}/conversions/${id}/file/`, { key })).status, 200);
  const latest = entriesOf(await api.call('GET', downloads, { key }))[2];
  t.match(latest, {
    summary: 'The PDF was downloaded with a credential.',
    actor: { kind: 'key', id: account.keyId },
  });
  t.notOk(latest?.data['link']);
});

void test('a failed conversion has its refund, and its message in clear', async (t) => {
  const api = await startApi(t);
  const account = await api.newAccount();
  const { key } = account;
  const created = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  const id = String(created.body['id']);
  await api.fail(account.id, id, 'The page took too long.');
  const answer = await api.call('GET', `${BASE}/conversions/${id}/events/`, { key });
  t.match(entriesOf(answer).at(-1), {
    type: 'ConversionFailed',
    data: { message: 'The page took too long.', code: 'timeout' },
  });
});

void test('an account reads its own events, newest first, by every filter', async (t) => {
  const api = await startApi(t);
  const account = await api.newAccount();
  const other = await api.newAccount();
  const { key } = account;
  const ids: string[] = [];
  for (let made = 0; made < 3; made += 1) {
    const answer = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
    ids.push(String(answer.body['id']));
    api.clock.time += 1_000;
  }
  const list = (query: string) => api.call('GET', `${BASE}/account/events/?${query}`, { key });
  const all = entriesOf(await list('page_size=100'));
  t.ok(all.some(({ type, data }) => type === 'AccountOpened' && data['email'] === account.email));
  t.ok(all.some(({ type, data }) => type === 'KeyCreated' && data['name'] === 'test'));
  t.ok(all.some(({ type }) => type === 'CreditGranted'));
  t.notMatch(JSON.stringify(all), /passwordHash|keyHash|argon2/);
  t.notMatch(JSON.stringify(all), new RegExp(`${other.id}|${other.email}|${other.keyId}`));
  const positions = all.map(({ position }) => BigInt(position));
  t.ok(positions.every((each, index) => index === 0 || each < (positions[index - 1] ?? 0n)));

  t.strictSame(
    entriesOf(await list('type=ConversionRequested')).map(({ data }) => data['conversionId']),
    ids.toReversed(),
  );
  t.strictSame(typesOf(await list(`conversion_id=${ids[0]}`)), [
    'ConversionRequested',
    'CreditDebited',
  ]);
  const byKey = await list(`actor=key:${account.keyId}&type=CreditDebited&page_size=1&page=2`);
  t.equal(byKey.headers.get('x-total-count'), '3');
  t.equal(entriesOf(byKey)[0]?.data['conversionId'], ids[1]);
  const keys = entriesOf(await list('actor=key&page_size=100'));
  t.ok(keys.length >= 6);
  t.ok(keys.every(({ actor }) => actor.kind === 'key'));
  t.equal(entriesOf(await list('actor=operator')).length, 4, 'address, account, credits, key');

  const second = all.find(
    ({ type, data }) => type === 'ConversionRequested' && data['conversionId'] === ids[1],
  );
  const from = encodeURIComponent(second?.time ?? '');
  t.strictSame(
    entriesOf(await list(`from=${from}&type=CreditDebited`)).map(
      ({ data }) => data['conversionId'],
    ),
    [ids[2], ids[1]],
  );
  const before = await list(`to=${from}&page_size=100`);
  const since = await list(`from=${from}&page_size=100`);
  t.strictSame([...entriesOf(since), ...entriesOf(before)], all, 'the two make the whole');
  const total = Number(since.headers.get('x-total-count'));
  t.equal(total, entriesOf(since).length);
  const last = await list(`from=${from}&page_size=1&page=${total}`);
  t.strictSame(entriesOf(last), entriesOf(since).slice(-1));
  t.strictSame(entriesOf(await list(`from=${from}&to=${from}`)), []);
});

void test('what cannot be asked for is told, and other accounts stay unknown', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const other = await api.newAccount();
  const foreign = await api.call('POST', `${BASE}/pdf/`, {
    key: other.key,
    body: { html: '<p>x</p>' },
  });
  const foreignId = String(foreign.body['id']);
  const foreignBatch = await api.call('POST', `${BASE}/batches/`, {
    key: other.key,
    body: { requests: [{ html: '<p>x</p>' }] },
  });
  const foreignBatchId = String(foreignBatch.body['id']);
  const unknown = [
    ...[foreignId, 'conv_nothing', '..'].map((id) => `conversions/${id}`),
    ...[foreignBatchId, 'batch_nothing', foreignId].map((id) => `batches/${id}`),
  ];
  for (const id of unknown) {
    const answer = await api.call('GET', `${BASE}/${id}/events/`, { key });
    t.match(refusal(answer), { status: 404, error: 'not_found' }, id);
  }
  for (const filter of [`conversion_id=${foreignId}`, `batch_id=${foreignBatchId}`]) {
    const empty = await api.call('GET', `${BASE}/account/events/?${filter}`, { key });
    t.strictSame(entriesOf(empty), [], filter);
  }
  const ofBatch = `${BASE}/batches/${foreignBatchId}/events/?type=x&batch_id=${foreignBatchId}`;
  t.match(refusal(await api.call('GET', ofBatch, { key: other.key })), {
    status: 400,
    details: ['batch_id', 'type'],
  });
  const wrong = {
    type: 'type=Nothing',
    actor: 'actor=Key%3A',
    conversion_id: 'conversion_id=conv',
    batch_id: 'batch_id=conv_00000000000000000000000000',
    from: 'from=yesterday',
    to: 'to=2026-13-40T00:00:00Z',
    colour: 'colour=red',
  };
  const query = Object.values(wrong).join('&');
  t.strictSame(refusal(await api.call('GET', `${BASE}/account/events/?${query}`, { key })), {
    status: 400,
    error: 'validation_error',
    details: Object.keys(wrong).toSorted(),
  });
  const order = 'from=2026-11-22T00:00:00Z&to=2026-11-21T00:00:00%2B00:00';
  t.match(refusal(await api.call('GET', `${BASE}/account/events/?${order}`, { key })), {
    details: ['from'],
  });
  t.match(refusal(await api.call('GET', `${BASE}/account/events/`)), { status: 401 });
});
