/** The PDF of a conversion: by its link, by the credential of its account, and by the request itself. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import type { ActorSystem } from '../../src/actors/system.ts';
import { readContent } from '../../src/documents/decryption.ts';
import type { EventOf } from '../../src/domain/events.ts';
import { EventStoreUnavailable } from '../../src/event-store/port.ts';
import { BASE, refusal } from '../support/api.ts';
import { countListeners, fileUrl, PDF, startWithConversion } from '../support/conversion.ts';
import { eventually } from '../support/deadline.ts';

void test('a file that is not in the store is gone', async (t) => {
  const api = await startWithConversion(t);
  const id = await api.create();
  await api.complete(api.account.id, id, PDF);
  const url = fileUrl(await api.get(id));
  await api.blobs.deleteAll(id);
  for (const headers of [{}, { Range: 'bytes=0-9' }]) {
    const answer = await api.call('GET', url, { headers });
    t.strictSame(refusal(answer), { status: 410, error: 'gone' });
    for (const name of ['etag', 'content-disposition', 'content-range', 'accept-ranges']) {
      t.equal(answer.headers.get(name), null, name);
    }
  }
  t.equal((await api.call('HEAD', url)).status, 410);
  t.match(api.logged.join(''), /A file that should be there is not/);
});

void test('nothing of an erased account can be read, though it is stored', async (t) => {
  const api = await startWithConversion(t);
  const id = await api.create();
  await api.complete(api.account.id, id, PDF);
  const url = fileUrl(await api.get(id));
  const contentKey = await api.vault.contentKey(api.account.id, id);
  const stream = await api.store.readStream(`conversion-${id}`);
  const completion = stream.at(-1)?.data as EventOf<'ConversionCompleted'>['data'];
  const { document, manifest, pdf } = completion;
  t.ok(PDF.equals(await readContent(api.blobs, contentKey, document)));
  t.strictSame(pdf.bytes, PDF.length);

  await api.keyring.erase(api.account.id);
  await t.rejects(api.vault.contentKey(api.account.id, id), { name: 'KeyErased' });
  for (const ref of [document, manifest]) {
    const stored = await api.blobs.read(ref);
    t.notOk(stored.includes(PDF.subarray(0, 12)) || stored.includes('version'));
  }
  for (const [method, headers] of [
    ['GET', {}],
    ['GET', { Range: 'bytes=0-9' }],
    ['HEAD', {}],
  ] as const) {
    const answer = await api.call(method, url, { headers });
    t.equal(answer.status, 410);
    if (method === 'GET') t.match(answer.body, { error: 'gone', message: /erased/ });
    t.equal(answer.headers.get('etag'), null);
  }
});

void test('a file that was tampered with is refused, and the service goes on', async (t) => {
  const api = await startWithConversion(t);
  const pdf = Buffer.concat([PDF, Buffer.alloc(200_000, 1)]);
  const [one, two] = [await api.create(), await api.create()];
  for (const id of [one, two]) await api.complete(api.account.id, id, pdf);
  const fileOf = (id: string): string => {
    const directory = join(api.root, 'blobs', id.slice(-2), id);
    const [name = ''] = readdirSync(directory).filter((each) => each.startsWith('document-'));
    return join(directory, name);
  };
  const [mine, theirs] = [readFileSync(fileOf(one)), readFileSync(fileOf(two))];
  const flipped = Buffer.from(mine);
  flipped[100] = (flipped[100] ?? 0) ^ 1;
  const url = fileUrl(await api.get(one));
  const part = { Range: 'bytes=0-9' };
  const changes = { flipped, cut: mine.subarray(0, -1), 'another conversion’s': theirs } as const;
  for (const [what, content] of Object.entries(changes)) {
    writeFileSync(fileOf(one), content);
    const answer = await api.call('GET', url, { headers: part });
    t.strictSame(refusal(answer), { status: 503, error: 'service_unavailable' }, what);
    t.equal(answer.headers.get('etag'), null);
    t.equal((await api.call('GET', url)).status, 503, `${what}, the whole`);
  }
  mine.copy(flipped);
  flipped[150_000] = (flipped[150_000] ?? 0) ^ 1;
  writeFileSync(fileOf(one), flipped);
  await t.rejects(api.call('GET', url), 'what is found out on the way breaks the answer off');
  writeFileSync(fileOf(one), mine);
  t.equal((await api.call('GET', url, { headers: part })).text, pdf.toString('latin1', 0, 10));
});

void test('the file', async (t) => {
  const api = await startWithConversion(t, { env: { RETENTION_SECONDS: '7200' } });
  const id = await api.create();
  await api.complete(api.account.id, id, PDF);
  const url = fileUrl(await api.get(id));
  const get = (headers: Record<string, string> = {}, method = 'GET') =>
    api.call(method, url, { headers });

  const whole = await get();
  t.equal(whole.status, 200);
  t.equal(whole.text, PDF.toString());
  const etag = whole.headers.get('etag') ?? '';
  t.match(Object.fromEntries(whole.headers), {
    'content-type': 'application/pdf',
    'content-length': String(PDF.length),
    'content-disposition': `attachment; filename="${id}.pdf"`,
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    'content-security-policy': /sandbox/,
  });
  const head = await get({}, 'HEAD');
  t.equal(head.status, 200);
  t.equal(head.text, '');
  t.equal(head.headers.get('content-length'), String(PDF.length));
  t.equal((await get({ 'If-None-Match': `"x", ${etag}` })).status, 304);
  t.equal((await get({ 'If-None-Match': '"x"' })).status, 200);

  const size = PDF.length;
  const ranges: [string, number, string | null][] = [
    ['bytes=0-9', 206, `bytes 0-9/${size}`],
    ['bytes=10-', 206, `bytes 10-${size - 1}/${size}`],
    ['bytes=-5', 206, `bytes ${size - 5}-${size - 1}/${size}`],
    ['bytes=5-99999999', 206, `bytes 5-${size - 1}/${size}`],
    ['bytes=-99999999', 206, `bytes 0-${size - 1}/${size}`],
    [`bytes=${size}-`, 416, `bytes */${size}`],
    ['bytes=-0', 416, `bytes */${size}`],
    ['bytes=0-1,3-4', 200, null],
    ['bytes=9-1', 200, null],
    ['lines=0-1', 200, null],
  ];
  for (const [range, status, contentRange] of ranges) {
    const answer = await get({ Range: range });
    t.equal(answer.status, status, range);
    t.equal(answer.headers.get('content-range'), contentRange, range);
    if (status !== 206) continue;
    const [start = 0, end = 0] = (contentRange ?? '').match(/\d+/g)?.map(Number) ?? [];
    t.equal(answer.text, PDF.subarray(start, end + 1).toString(), range);
  }
  t.equal((await get({ Range: 'bytes=0-1', 'If-Range': etag })).status, 206);
  t.equal((await get({ Range: 'bytes=0-1', 'If-Range': '"x"' })).status, 200);

  const token = new URL(url).searchParams.get('token') ?? '';
  const other = await api.create();
  await api.complete(api.account.id, other, PDF);
  const forbidden = { status: 403, error: 'forbidden' };
  for (let at = 0; at < token.length; at += 20) {
    const altered = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
    const answer = await api.call('GET', `/files/${id}.pdf?token=${altered}`);
    t.strictSame(refusal(answer), forbidden, `altered at ${at}`);
  }
  for (const path of [
    `/files/${id}.pdf`,
    `/files/${id}.pdf?token=`,
    `/files/${other}.pdf?token=${token}`,
    `/files/${id}.pdf?token=${token}&token=${token}`,
  ]) {
    t.strictSame(refusal(await api.call('GET', path)), forbidden, path);
  }
  api.clock.time += 3600 * 1000;
  t.strictSame(refusal(await get()), forbidden, 'expired');
  const fresh = fileUrl(await api.get(id));
  t.not(fresh, url, 'each look at the record mints a fresh link');
  t.equal((await api.call('GET', fresh)).status, 200);
  api.clock.time += 3600 * 1000;
  const late = fileUrl(await api.get(id));
  t.strictSame(refusal(await api.call('GET', late)), { status: 410, error: 'gone' });
});

const PATH = `${BASE}/pdf/`;
const BODY = { html: '<p>x</p>' };

void test('one request, one PDF', async (t) => {
  const api = await startWithConversion(t, { env: { RETENTION_SECONDS: '60' } });
  const { id: accountId, key } = api.account;
  const ask = (headers: Record<string, string>, body: object = BODY) =>
    api.call('POST', PATH, { key, headers, body });
  const requested = async (count: number) =>
    await eventually(`${count} requests`, async () => {
      const events = await api.store.readStream(`account-${accountId}`);
      const ids = events.flatMap(({ type, data }) =>
        type === 'ConversionRequested' && 'conversionId' in data ? String(data.conversionId) : [],
      );
      return ids.length === count ? ids.at(-1) : undefined;
    });
  const recordOf = (id: string) => `${api.origin}${BASE}/conversions/${id}/`;

  const plain = await ask({ Accept: 'application/pdf' });
  t.equal(plain.status, 202, 'without Prefer nothing is waited for');
  const first = String(plain.body['id']);
  t.match(Object.fromEntries(plain.headers), { location: recordOf(first), 'retry-after': '1' });
  t.equal(plain.headers.get('preference-applied'), null);

  const waits = { Prefer: 'wait=30', 'Idempotency-Key': 'a' };
  const waiting = ask(waits);
  const id = (await requested(2)) ?? '';
  await api.complete(accountId, id, PDF);
  const record = await waiting;
  t.equal(record.status, 200);
  t.match(record.body, { id, status: 'completed', file_url: /\/files\// });
  t.match(Object.fromEntries(record.headers), {
    location: recordOf(id),
    'preference-applied': 'wait=30',
  });
  t.equal(record.headers.get('retry-after'), null);

  const pdf = await ask({ ...waits, Accept: 'application/pdf', Range: 'bytes=0-3' });
  t.equal(pdf.status, 200, 'a repetition answers by the present state');
  t.equal(pdf.text, PDF.toString(), 'ranges are for GET');
  t.match(Object.fromEntries(pdf.headers), {
    location: recordOf(id),
    'content-type': 'application/pdf',
    'content-length': String(PDF.length),
    'content-disposition': `attachment; filename="${id}.pdf"`,
    'idempotent-replayed': 'true',
    'content-security-policy': /sandbox/,
  });
  const likesBoth = await ask({ ...waits, Accept: '*/*' });
  t.equal(likesBoth.body['status'], 'completed', 'JSON unless the PDF is preferred');
  const replayed = await ask({ 'Idempotency-Key': 'a' });
  t.equal(replayed.status, 202, 'without Prefer the first answer comes again');
  t.strictSame(replayed.body, { id, status: 'pending', created_at: record.body['created_at'] });

  const failing = ask({ Prefer: 'wait=30', Accept: 'application/pdf', 'Idempotency-Key': 'b' });
  await api.fail(accountId, (await requested(3)) ?? '', 'The page took too long.');
  const failed = await failing;
  t.strictSame(refusal(failed), { status: 422, error: 'conversion_failed' });
  t.equal(failed.body['message'], 'The page took too long.');
  const told = await ask({ Prefer: 'wait=1', 'Idempotency-Key': 'b' });
  t.equal(told.status, 200);
  t.match(told.body, { status: 'failed', error_message: 'The page took too long.' });

  const late = await ask({ Prefer: 'wait=1', Accept: 'application/pdf' });
  t.equal(late.status, 202, 'it takes longer');
  t.strictSame(Object.keys(late.body), ['id', 'status', 'created_at']);

  const release = api.budgets.get('maxDownloads').take(api.config.maxDownloads);
  const busy = await ask({ ...waits, Accept: 'application/pdf' });
  release?.();
  t.equal(busy.status, 202, 'what is accepted is not refused: the client can follow it');
  for (const name of ['etag', 'content-disposition', 'accept-ranges']) {
    t.equal(busy.headers.get(name), null);
  }
  api.clock.time += 61_000;
  const gone = await ask({ ...waits, Accept: 'application/pdf' });
  t.strictSame(refusal(gone), { status: 410, error: 'gone' });

  const listeners = countListeners(api.runner);
  const away = new AbortController();
  const cut = fetch(api.origin + PATH, {
    method: 'POST',
    headers: { 'X-API-Key': key, Prefer: 'wait=30', 'Content-Type': 'application/json' },
    body: JSON.stringify(BODY),
    signal: away.signal,
  });
  await listeners.reached(1);
  t.strictSame(
    api.budgets.counts().filter(({ name, used }) => used > 0 && name !== 'maxConnections'),
    [],
    'who waits holds no budget',
  );
  away.abort();
  await t.rejects(cut);
  await listeners.reached(0);
});

void test('the file by the credential of its account', async (t) => {
  const api = await startWithConversion(t, { env: { RETENTION_SECONDS: '60' } });
  const id = await api.create();
  const path = `${BASE}/conversions/${id}/file/`;
  const get = (headers: Record<string, string> = {}, method = 'GET', query = '') =>
    api.call(method, path + query, { key: api.account.key, headers });
  const early = await get();
  t.strictSame(refusal(early), { status: 409, error: 'not_ready' });
  t.equal(early.headers.get('retry-after'), '1');
  t.equal((await get({ Prefer: 'wait=1' })).headers.get('preference-applied'), 'wait=1');
  const { key } = await api.newAccount();
  t.strictSame(refusal(await api.call('GET', path, { key })), { status: 404, error: 'not_found' });
  t.equal((await api.call('GET', path)).status, 401);

  const waiting = get({ Prefer: 'wait=30' });
  await api.complete(api.account.id, id, PDF);
  const whole = await waiting;
  t.equal(whole.status, 200);
  t.equal(whole.text, PDF.toString());
  const etag = whole.headers.get('etag') ?? '';
  t.match(Object.fromEntries(whole.headers), {
    'content-type': 'application/pdf',
    'content-length': String(PDF.length),
    'content-disposition': `attachment; filename="${id}.pdf"`,
    'accept-ranges': 'bytes',
    'preference-applied': 'wait=30',
    'x-content-type-options': 'nosniff',
    'content-security-policy': /sandbox/,
  });
  t.equal((await get({}, 'HEAD')).headers.get('content-length'), String(PDF.length));
  t.equal((await get({ Range: 'bytes=0-3' })).text, '%PDF');
  t.equal((await get({ Range: 'bytes=9999999-' })).status, 416);
  t.equal((await get({ 'If-None-Match': etag })).status, 304);
  const invalid = { status: 400, error: 'validation_error', details: ['disposition'] };
  for (const query of ['?disposition=x', '?disposition=inline&disposition=inline']) {
    t.strictSame(refusal(await get({}, 'GET', query)), invalid, query);
  }
  api.clock.time += 61_000;
  t.strictSame(refusal(await get()), { status: 410, error: 'gone' });
  const failing = await api.create();
  await api.fail(api.account.id, failing, 'The page took too long.');
  const failed = await api.call('GET', `${BASE}/conversions/${failing}/file/`, {
    key: api.account.key,
  });
  t.strictSame(refusal(failed), { status: 422, error: 'conversion_failed' });
  t.equal(failed.body['message'], 'The page took too long.');
});

void test('a download that cannot be recorded is refused, and looks like no file', async (t) => {
  const api = await startWithConversion(t, {
    replace: ({ actors }) => ({
      actors: Object.assign(Object.create(actors) as ActorSystem, {
        read: (...of: Parameters<ActorSystem['read']>) => actors.read(...of),
        send: async (...of: Parameters<ActorSystem['send']>) => {
          const { type } = of[2] as { readonly type: string };
          if (type === 'RecordDownload') throw new EventStoreUnavailable('away');
          return await actors.send(...of);
        },
      }),
    }),
  });
  const { key, id: accountId } = api.account;
  const headers = { Prefer: 'wait=1', Accept: 'application/pdf', 'Idempotency-Key': 'a' };
  const body = { html: '<p>x</p>' };
  const ask = () => api.call('POST', `${BASE}/pdf/`, { key, headers, body });
  const id = String((await ask()).body['id']);
  await api.complete(accountId, id, PDF);
  const refused = await api.call('GET', `${BASE}/conversions/${id}/file/`, { key });
  t.strictSame(refusal(refused), { status: 503, error: 'service_unavailable' });
  const accepted = await ask();
  t.equal(accepted.status, 202, 'the acceptance holds');
  for (const answer of [refused, accepted]) {
    t.match(answer.headers.get('content-type'), /json/);
    t.equal(answer.headers.get('cache-control'), 'no-store');
    for (const name of ['etag', 'content-disposition', 'accept-ranges']) {
      t.notOk(answer.headers.has(name), name);
    }
  }
});

void test('the name of a file is in its record from the start, if one was given', async (t) => {
  const api = await startWithConversion(t);
  const { id: accountId, key } = api.account;
  const ask = (body: object) => api.call('POST', PATH, { key, body: { ...BODY, ...body } });
  const id = String((await ask({ filename: ' Invoice 4711' })).body['id']);
  const unnamed = String((await ask({ filename: null })).body['id']);
  t.equal((await api.get(id)).body['filename'], 'Invoice 4711.pdf');
  await api.complete(accountId, id, PDF);
  const { body } = await api.call('GET', `${BASE}/conversions/`, { key });
  t.match(body, [{ id: unnamed }, { id, status: 'completed', filename: 'Invoice 4711.pdf' }]);
  t.notOk('filename' in (await api.get(unnamed)).body);
});

void test('the name of a file, and whether it is shown or saved', async (t) => {
  const api = await startWithConversion(t);
  const { id: accountId, key } = api.account;
  const ask = (filename: string | null) =>
    api.call('POST', PATH, { key, body: { ...BODY, filename } });
  const names: [filename: string, disposition: string][] = [
    ['Invoice 4711', 'filename="Invoice 4711.pdf"'],
    ['report.PDF', 'filename="report.PDF"'],
    ['  trimmed.pdf ', 'filename="trimmed.pdf"'],
    ['.pdf', 'filename=".pdf"'],
    ['..', 'filename="...pdf"'],
    ['a"b;c', String.raw`filename="a\"b;c.pdf"`],
    ['50%25', `filename="50%25.pdf"; filename*=UTF-8''50%2525.pdf`],
    ['Müller', `filename="M_ller.pdf"; filename*=UTF-8''M%C3%BCller.pdf`],
    [
      '請求書 🂡',
      `filename="___ _.pdf"; filename*=UTF-8''%E8%AB%8B%E6%B1%82%E6%9B%B8%20%F0%9F%82%A1.pdf`,
    ],
    ['x'.repeat(200), `filename="${'x'.repeat(200)}.pdf"`],
  ];
  for (const [filename, expected] of names) {
    const accepted = await ask(filename);
    t.equal(accepted.status, 202, accepted.text);
    const id = String(accepted.body['id']);
    await api.complete(accountId, id, PDF);
    const own = `${BASE}/conversions/${id}/file/`;
    const saved = await api.call('GET', own, { key });
    t.equal(saved.headers.get('content-disposition'), `attachment; ${expected}`);
    const link = fileUrl(await api.get(id));
    for (const url of [`${own}?disposition=inline`, `${link}&disposition=inline`]) {
      const shown = await api.call('GET', url, { key });
      t.equal(shown.headers.get('content-disposition'), `inline; ${expected}`);
      t.equal(shown.headers.get('x-content-type-options'), 'nosniff');
      t.equal(
        shown.headers.get('content-security-policy'),
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        'no browser shows a PDF in a sandbox',
      );
    }
  }
  t.equal((await ask(null)).status, 202);
  const invalid = { status: 400, error: 'validation_error', details: ['filename'] };
  const bad = [
    '',
    ' ',
    'a/b',
    String.raw`a\b`,
    'a\r\nX: y',
    'a\0',
    '\u202efdp.exe',
    'x'.repeat(201),
  ];
  for (const filename of [...bad, '\u0085', '\u2028']) {
    t.strictSame(refusal(await ask(filename)), invalid, encodeURIComponent(filename));
  }
  const log = JSON.stringify((await api.log()).map(({ data }) => data));
  t.notMatch(log, /Invoice 4711|Müller/, 'a name is personal: the log has it encrypted');
});
