import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'tap';
import type { Conversion } from '../../client/src/types.ts';
import { eventually } from '../support/deadline.ts';
import { balanceOf, readLog, violations } from '../support/invariants.ts';
import { servePages } from '../support/pages.ts';
import { openPdf } from '../support/pdf.ts';
import { startService } from '../support/service.ts';
import { JPEG } from '../support/tiny-images.ts';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

const threePages = (text: string): string =>
  `<h1>One</h1><p style="break-before:page">${text}</p><p style="break-before:page">three`;

void test('conversions over HTTP with a real Chrome', async (t) => {
  const origin = await servePages(t, {
    '/hello': { body: '<!doctype html><title>Hi</title><h1>Served by a page</h1>' },
    '/text': { type: 'text/plain', body: 'plain' },
    '/gone': { status: 410, body: '<h1>gone</h1>' },
  });
  const service = await startService(t, {
    ALLOW_PRIVATE_NETWORK: 'true',
    RATE_LIMIT_PRO: '100000',
  });
  const client = service.client();
  const { dataDir } = service.place;
  const download = async (record: Conversion): Promise<Buffer> =>
    await buffer(await client.download(record));
  const accountId = /"accountId":"([^"]+)"/.exec(readLog(dataDir)[0]?.data ?? '')?.[1] ?? '';
  const kept: { readonly id: string; readonly hash: string }[] = [];

  await t.test('HTML becomes a PDF', async (sub) => {
    const created = await client.create({ html: '<h1>Invoice 4711</h1>', page_size: 'A5' });
    sub.strictSame(Object.keys(created).toSorted(), ['created_at', 'id', 'status']);
    sub.match(created, { id: /^conv_[0-9a-z]{26}$/, status: 'pending', created_at: ISO });
    const record = await client.wait(created.id);
    sub.match(record, { id: created.id, status: 'completed', completed_at: ISO });
    sub.equal(record.created_at, created.created_at);
    sub.ok(record.file_url?.startsWith(`${service.url}/files/${created.id}.pdf?token=`));
    const file = await download(record);
    sub.match((await openPdf(file)).text, /Invoice 4711/);
    kept.push({ id: created.id, hash: sha256(file) });
    sub.notOk('pdf' in record, 'nothing is said of what nobody asked for');
  });

  await t.test('a request is rendered again, and what differs is named', async (sub) => {
    const again = async (request: Parameters<typeof client.create>[0]) => {
      const first = await client.wait((await client.create(request)).id);
      const second = await client.wait((await client.rerender(first.id)).id);
      sub.match(second, { status: 'completed', rerender_of: first.id });
      return { first, second };
    };
    const plain = await again({ html: threePages('two') });
    sub.strictSame(plain.second.rerender?.pages ?? [], [], 'its date alone, if that');
    const clock = threePages(
      '<script>document.write(Date.now(), crypto.getRandomValues(new Uint8Array(9)))</script>',
    );
    const changing = await again({ html: clock });
    sub.strictSame(changing.second.rerender, { equal: false, pages: [2] });
    const optimized = await again({ html: clock, pdf: { optimize: true } });
    sub.strictSame(optimized.second.rerender, { equal: false, pages: [2] });
    const sealed = await again({ html: clock, pdf: { encrypt: { user_password: 'secret' } } });
    sub.strictSame(sealed.second.rerender, { equal: false }, 'nothing is known of its pages');
    const fixed = await again({ html: clock, deterministic: true });
    sub.strictSame(fixed.second.rerender, { equal: true });
    sub.equal(fixed.second.sha256, fixed.first.sha256);
    const served = await again({ url: `${origin}/hello`, deterministic: true });
    sub.strictSame(served.second.rerender, { equal: true }, 'a URL is fetched again');
  });

  await t.test('what a test key makes has a watermark and costs nothing', async (sub) => {
    const { key } = await client.createKey('tests', { test: true, scopes: ['convert'] });
    const tester = service.client(key);
    const before = balanceOf(readLog(dataDir), accountId);
    const first = await tester.wait((await tester.create({ html: threePages('two') })).id);
    const again = await client.wait((await client.rerender(first.id)).id);
    for (const record of [first, again]) {
      sub.match(record, { status: 'completed', test: true });
      const { pages } = await openPdf(await download(record));
      sub.ok(pages.every(({ text }) => /TEST\s+made with a test key\s+TEST/.test(text)));
    }
    sub.strictSame(again.rerender?.pages ?? [], [], 'the same watermark');
    sub.equal(balanceOf(readLog(dataDir), accountId), before);
  });

  await t.test('a PDF conforms, and its record says so', async (sub) => {
    const html = '<!doctype html><html lang=en><title>Report</title><h1>Report</h1><p>Whole.';
    const attachments = [{ filename: 'a.txt', content: 'YQ==', type: 'text/plain' }];
    const pdf = { conformance: ['pdfa-3u' as const, 'pdfua-1' as const], attachments };
    const record = await client.wait((await client.create({ html, pdf })).id);
    sub.match(record, { status: 'completed', pdf: { conformance: ['pdfa-3u', 'pdfua-1'] } });
    const file = await download(record);
    sub.equal(sha256(file), record.sha256, 'the log proves the finished PDF');
    sub.match(file.toString('latin1'), '<pdfuaid:part>1</pdfuaid:part>');

    const faulty = { html: `${html}<img src="${JPEG}">`, pdf };
    const failed = await client.wait((await client.create(faulty)).id);
    sub.match(failed, {
      status: 'failed',
      failure_code: 'not_conforming',
      error_message: /PDF\/UA-1: page 1: an image has no alternative text/,
    });
    const less = { ...faulty, pdf: { ...pdf, conformance_required: false } };
    const made = await client.wait((await client.create(less)).id);
    sub.match(made, { status: 'completed', pdf: { conformance: ['pdfa-3u'] } });
    sub.match(made.warnings?.[0], /does not conform to PDF\/UA-1: page 1: an image/);
  });

  await t.test('a URL becomes a PDF', async (sub) => {
    const { id } = await client.create({ url: `${origin}/hello` });
    const record = await client.wait(id);
    sub.equal(record.status, 'completed', record.error_message ?? 'no error');
    sub.match((await openPdf(await download(record))).text, /Served by a page/);
  });

  await t.test('what fails says why and costs nothing', async (sub) => {
    const before = balanceOf(readLog(dataDir), accountId);
    const cases = [
      [{ url: `${origin}/gone` }, /410/],
      [{ url: `${origin}/text` }, /text\/plain/],
      [{ url: 'http://127.0.0.1:1/' }, /./],
      [{ html: '<p>one page</p>', page_ranges: '7' }, /page/i],
    ] as const;
    for (const [options, reason] of cases) {
      const record = await client.wait((await client.create(options)).id);
      sub.equal(record.status, 'failed', JSON.stringify(options));
      sub.match(record.error_message, reason);
      sub.notMatch(record.error_message, /net::|\bat \S+:\d+|node_modules/, 'nothing internal');
      sub.notOk('file_url' in record || 'completed_at' in record);
    }
    const refunded = () => balanceOf(readLog(dataDir), accountId) === before || undefined;
    sub.ok(await eventually('every refund', refunded));
  });

  await t.test('a record is there as soon as the 202 is', async (sub) => {
    const statuses = await Promise.all(
      Array.from({ length: 25 }, async (_, n) => {
        const { id } = await client.create({ html: `<p>${n}</p>` });
        return (await client.get(id)).status;
      }),
    );
    sub.equal(statuses.length, 25);
    for (const status of statuses) sub.match(status, /^(pending|processing|completed)$/);
  });

  await t.test('a client may ask to be answered at the end', async (sub) => {
    const headers = { 'X-API-Key': service.firstStart.apiKey };
    const { id } = await client.create({ html: '<p>wait</p>', wait_for: { delay_ms: 3000 } });
    const path = `${service.url}/api/v1/conversions/${id}/`;
    const at = await fetch(path, { headers });
    sub.match(
      ((await at.json()) as Conversion).status,
      /^(pending|processing)$/,
      'at once without',
    );
    sub.equal(at.headers.get('preference-applied'), null);
    const held = await fetch(path, { headers: { ...headers, Prefer: 'wait=30' } });
    sub.equal(held.headers.get('preference-applied'), 'wait=30');
    sub.equal(((await held.json()) as Conversion).status, 'completed');
    const brief = await client.create({ html: '<p>x</p>', wait_for: { delay_ms: 5000 } });
    sub.match((await client.get(brief.id, { waitSeconds: 1 })).status, /^(pending|processing)$/);
  });

  await t.test('a restart keeps everything', async (sub) => {
    const unfinished = await Promise.all(
      Array.from({ length: 5 }, (_, n) => client.create({ html: `<p>later ${n}</p>` })),
    );
    const [first] = kept;
    const link = (await client.get(first?.id ?? '')).file_url ?? '';
    sub.match(await service.restart(), { code: 0, signal: null });
    const again = service.client();
    const record = await again.get(first?.id ?? '');
    sub.equal(record.status, 'completed');
    sub.equal(sha256(await buffer(await again.download(record))), first?.hash);
    const oldLink = await fetch(link.replace(/^http:\/\/[^/]+/, service.url));
    sub.equal(oldLink.status, 200, 'a link from before the restart');
    sub.equal(sha256(Buffer.from(await oldLink.arrayBuffer())), first?.hash);
    for (const { id } of unfinished) sub.equal((await again.wait(id)).status, 'completed');
  });

  const settled = () => violations(readLog(dataDir), { settled: true }).length === 0 || undefined;
  await eventually('everything to settle', settled).catch(() => {});
  t.strictSame(violations(readLog(dataDir), { settled: true }), []);
  t.match(await service.stop(), { code: 0, signal: null });
  t.strictSame(await service.leftovers(), []);
});

/** Files below a directory that hold the text; one that goes meanwhile holds none. */
function filesWith(directory: string, text: string): string[] {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return names.filter((name) => {
    try {
      return readFileSync(name).includes(text);
    } catch {
      return false;
    }
  });
}

void test('neither a request nor its PDF lies readable in DATA_DIR', async (t) => {
  const service = await startService(t);
  const { dataDir } = service.place;
  const client = service.client();
  const words = 'Zyxomma petiolatum';
  const inPdf = Buffer.from(words, 'utf16le').swap16().toString('hex').toUpperCase();
  // The one is stored as a row, the other as a file.
  const bodies = [`<p>${words}</p>`, `<p>${words}</p><!--${'x'.repeat(100_000)}-->`];
  for (const html of bodies) {
    const { id } = await client.create({ html, metadata: { title: words } });
    const file = await buffer(await client.download(await client.wait(id)));
    t.ok(file.includes(inPdf), 'it would be found in the PDF');
  }
  t.ok(filesWith(dataDir, 'ConversionCompleted').length > 0, 'the log is looked through');
  const readable = (): string[] =>
    [words, inPdf, '%PDF-1.'].flatMap((text) => filesWith(dataDir, text));
  t.strictSame(readable(), []);
  t.match(await service.stop(), { code: 0 });
  t.strictSame(readable(), []);
});
