/** An account reads back what it asked for, and how that was rendered, while both are stored. */
import { pino } from 'pino';
import { test } from 'tap';
import { PressledgerClient } from '../../client/src/client.ts';
import { Thumbnails } from '../../src/conversions/thumbnails.ts';
import { decodeEvent } from '../../src/event-store/codec.ts';
import { BASE, refusal } from '../support/api.ts';
import { PDF, startWithConversion } from '../support/conversion.ts';
import { eraseAccount } from '../support/erase-account.ts';
import { signedIn } from '../support/operator.ts';
import { MANIFEST } from '../support/samples.ts';
import { pdfOf } from '../support/written-pdf.ts';

const FULL = {
  html: '<p class="late">x</p>',
  files: { 'style.css': 'aDEgeyBjb2xvcjogdGVhbCB9' },
  format: 'pdf',
  page_size: 'A5',
  landscape: true,
  single_page: false,
  margin_top: '2cm',
  margin_right: '1cm',
  margin_bottom: '1cm',
  margin_left: '1cm',
  print_background: true,
  scale: 0.5,
  page_ranges: '1-2',
  prefer_css_page_size: false,
  media: 'screen',
  header_html: '<span class="title"></span>',
  footer_html: '<span class="pageNumber"></span>',
  wait_for: { selector: '.late', delay_ms: 5 },
  tagged: false,
  outline: true,
  metadata: { title: 'A title', keywords: ['a', 'b'] },
  javascript: true,
  deterministic: true,
  deterministic_time: '2026-11-26T12:00:00Z',
  fail_on: ['timeout'],
  filename: 'letter.pdf',
  reference: 'Order 1',
  tags: { customer: 'Ä & Co' },
};

const picturePath = (id: string): string => `${BASE}/conversions/${id}/picture/`;
const thumbnailPath = (id: string): string => `${BASE}/conversions/${id}/thumbnail/`;
const requestPath = (id: string): string => `${BASE}/conversions/${id}/request/`;

void test('a request as it was sent, to send again', async (t) => {
  const api = await startWithConversion(t);
  const { key } = api.account;
  const headers = await signedIn(api, api.account.email);
  const read = (id: string) => api.call('GET', requestPath(id), { headers });
  const url = { url: 'https://example.com/?q=1', headers: { 'X-A': 'b' } };
  const surrounded = {
    html: '<p>x</p>',
    width: '80mm',
    height: '200mm',
    css: 'p { color: red }',
    color_scheme: 'dark',
    viewport: { width: 1280, height: 720, device_scale_factor: 2 },
    timezone: 'Europe/Zurich',
    locale: 'de-CH',
  };
  const picture = { html: '<p>x</p>', format: 'png', media: 'screen', filename: 'a.png' };
  for (const body of [FULL, surrounded, picture, url]) {
    const created = await api.call('POST', `${BASE}/pdf/`, { key, body });
    const answer = await read(String(created.body['id']));
    t.equal(answer.status, 200);
    t.equal(answer.headers.get('cache-control'), 'no-store');
    const { source, options, ...document } = answer.body;
    t.equal(source, 'html' in body ? 'html' : 'url');
    const again = { ...document, ...(options as object) };
    t.match(again, body);
    if (body === FULL) t.strictSame(again, { ...FULL, page_ranges: '1-2' });
    t.equal(
      'page_size' in again,
      !('width' in body) && body !== picture,
      'fields that exclude each other',
    );
    const repeated = await api.call('POST', `${BASE}/pdf/`, { key, body: again });
    t.equal(repeated.status, 202);
    const copy = (await read(String(repeated.body['id']))).body;
    t.strictSame(copy, answer.body, 'it is the same request');
    const byKey = await api.call('GET', requestPath(String(created.body['id'])), { key });
    const { headers: sent, cookies, ...others } = options as Record<string, unknown>;
    t.strictSame(byKey.body, { source, ...document, options: others }, 'a key gets no credentials');
    t.equal(sent === undefined, 'html' in body, 'the account itself does');
    t.equal(cookies, undefined);
  }
});

void test('the manifest, as it was recorded', async (t) => {
  const api = await startWithConversion(t);
  const { key, id: accountId } = api.account;
  const read = (id: string) => api.call('GET', `${BASE}/conversions/${id}/manifest/`, { key });
  const id = await api.create();
  t.strictSame(refusal(await read(id)), { status: 409, error: 'not_ready' });
  await api.complete(accountId, id, PDF);
  t.strictSame((await read(id)).body, MANIFEST);
  const failed = await api.create();
  await api.fail(accountId, failed, 'The page took too long.');
  t.strictSame(refusal(await read(failed)), { status: 422, error: 'conversion_failed' });
});

void test('the picture of a page that failed, while it is stored', async (t) => {
  const api = await startWithConversion(t, { env: { FAILED_RETENTION_SECONDS: '60' } });
  const { key, id: accountId } = api.account;
  const stranger = await api.newAccount();
  const read = (id: string, of = key) => api.call('GET', picturePath(id), { key: of });
  const picture = Buffer.from('\xff\xd8 a picture', 'latin1');
  const id = await api.create();
  const notFound = { status: 404, error: 'not_found' };
  t.strictSame(refusal(await read(id)), notFound, 'it has not ended');
  await api.fail(accountId, id, 'The page took too long.', 'timeout', picture);
  const answer = await fetch(api.origin + picturePath(id), { headers: { 'X-API-Key': key } });
  t.strictSame(Buffer.from(await answer.arrayBuffer()), picture);
  t.match(Object.fromEntries(answer.headers), {
    'content-type': 'image/jpeg',
    'x-content-type-options': 'nosniff',
    'content-security-policy': /^default-src 'none'.*sandbox/,
    'cache-control': 'no-store',
  });
  const client = new PressledgerClient({ server: api.origin, apiKey: key });
  t.strictSame(Buffer.from(await client.picture(id)), picture);
  t.strictSame(refusal(await read(id, stranger.key)), notFound);
  t.notOk((await api.log()).some(({ type }) => type === 'DocumentDownloaded'));
  t.notOk('picture' in (await api.get(id)).body, 'a record is as it was');

  const [without, completed] = [await api.create(), await api.create()];
  await api.fail(accountId, without, 'x');
  await api.complete(accountId, completed, PDF);
  for (const other of [without, completed]) t.strictSame(refusal(await read(other)), notFound);
  const gone = { status: 410, error: 'gone' };
  api.clock.time += 61_000;
  t.strictSame(refusal(await read(id)), gone, 'its time is over');
  const taken = await api.create();
  await api.fail(accountId, taken, 'x', 'timeout', picture);
  t.equal((await read(taken)).status, 200);
  await api.call('DELETE', `${BASE}/conversions/${taken}/`, { key });
  t.strictSame(refusal(await read(taken)), gone, 'deleted');
  let left = 0;
  for await (const blob of api.blobs.list()) left += Number(blob.key.startsWith(taken));
  t.equal(left, 0);
  const erased = await api.create();
  await api.fail(accountId, erased, 'x', 'timeout', picture);
  await eraseAccount(api, accountId, api.context());
  t.strictSame(refusal(await read(erased)), { status: 401, error: 'unauthorized' });
  for await (const blob of api.blobs.list()) t.notMatch(blob.key, erased);
});

/** The width and height of a PNG. */
const sizeOf = (png: Buffer) => [png.readUInt32BE(16), png.readUInt32BE(20)];

void test('a picture that comes too late may be asked for again', async (t) => {
  // A thread does not start within a millisecond.
  const thumbnails = new Thumbnails(pino({ level: 'silent' }), 1);
  t.teardown(() => thumbnails.close());
  await t.rejects(thumbnails.firstPage('ada', pdfOf(['First'])), {
    code: 'service_unavailable',
    message: /^It took more than 0.001 s to draw the first page\. Try again later/,
    retryAfter: 10,
  });
});

void test('a picture of the first page, while the PDF is stored', async (t) => {
  const api = await startWithConversion(t, { env: { RETENTION_SECONDS: '60' } });
  const { key, id: accountId } = api.account;
  const stranger = await api.newAccount();
  const read = (id: string, of = key) => api.call('GET', thumbnailPath(id), { key: of });
  const id = await api.create();
  t.strictSame(refusal(await read(id)), { status: 409, error: 'not_ready' });
  await api.complete(accountId, id, pdfOf(['First', 'Second']));
  const answer = await fetch(api.origin + thumbnailPath(id), { headers: { 'X-API-Key': key } });
  t.match(Object.fromEntries(answer.headers), {
    'content-type': 'image/png',
    'cache-control': 'no-store',
  });
  const png = Buffer.from(await answer.arrayBuffer());
  t.strictSame(sizeOf(png), [480, 240], 'as wide as said, in the shape of the page');
  const blank = await api.create();
  await api.complete(accountId, blank, pdfOf(['']));
  const client = new PressledgerClient({ server: api.origin, apiKey: key });
  t.notSame(Buffer.from(await client.thumbnail(blank)), png, 'it shows the text');
  t.notOk((await api.log()).some(({ type }) => type === 'DocumentDownloaded'));

  const notFound = { status: 404, error: 'not_found' };
  t.strictSame(refusal(await read(id, stranger.key)), notFound);
  const broken = await api.create();
  await api.complete(accountId, broken, PDF);
  t.strictSame(refusal(await read(broken)), notFound, 'nothing that can be drawn');
  const failed = await api.create();
  await api.fail(accountId, failed, 'x');
  t.strictSame(refusal(await read(failed)), { status: 422, error: 'conversion_failed' });
  await api.call('DELETE', `${BASE}/conversions/${blank}/`, { key });
  const gone = { status: 410, error: 'gone' };
  t.strictSame(refusal(await read(blank)), gone, 'deleted');
  api.clock.time += 61_000;
  t.strictSame(refusal(await read(id)), gone, 'its time is over');
});

void test('documents that are another account’s, deleted, lost or erased', async (t) => {
  const api = await startWithConversion(t, { env: { RETENTION_SECONDS: '60' } });
  const { key, id: accountId } = api.account;
  const stranger = await api.newAccount();
  const [kept, lost] = [await api.create(), await api.create()];
  for (const id of [kept, lost]) await api.complete(accountId, id, PDF);
  const read = (id: string, name: string, of = key) =>
    api.call('GET', `${BASE}/conversions/${id}/${name}/`, { key: of });
  const names = ['request', 'manifest'];
  for (const name of names) {
    const notFound = { status: 404, error: 'not_found' };
    t.strictSame(refusal(await read(kept, name, stranger.key)), notFound);
  }
  for (const event of await api.store.readAll()) {
    const refs = decodeEvent(event).data as Readonly<Record<string, unknown>>;
    for (const ref of [refs['request'], refs['manifest']] as ({ key: string } | undefined)[]) {
      if (ref?.key.startsWith(lost) === true) await api.blobs.delete(ref.key);
    }
  }
  const gone = { status: 410, error: 'gone' };
  for (const name of names) t.strictSame(refusal(await read(lost, name)), gone, 'lost');
  api.clock.time += 61_000;
  for (const name of names) t.strictSame(refusal(await read(kept, name)), gone, 'retention');
  await eraseAccount(api, accountId, api.context());
  for (const name of names) {
    t.strictSame(refusal(await read(kept, name)), { status: 401, error: 'unauthorized' });
  }
});
