/** PDFs that mean harm: work on each ends within its bounds, with words, and so does its picture. */
import { constants, deflateRawSync, deflateSync } from 'node:zlib';
import { pino } from 'pino';
import tap, { test } from 'tap';
import { Thumbnails } from '../../src/conversions/thumbnails.ts';
import { WorkFailure, type WorkStep } from '../../src/pdf/work-plan.ts';
import { workOnPdf } from '../../src/pdf/work.ts';
import { testDirectory } from '../support/directory.ts';
import { startService } from '../support/service.ts';
import { pdfOf, pdfOfObjects } from '../support/written-pdf.ts';

const MIB = 2 ** 20;
/** On a busy machine; without bounds the first of them takes 32 s on a quiet one. */
const SOON_MS = 60_000;
/** A thread with its code, and a PDF that is passed on. Without bounds they take gigabytes. */
const MOST_BYTES = 400 * MIB;

const ABSURD = '/Predictor 12/Columns 2147483647/Colors 1/BitsPerComponent 8';
const MANY_COLOURS = '/Predictor 15/Columns 99999/Colors 2147483647/BitsPerComponent 16';

const stream = (entries: string, content: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`<<${entries}/Length ${content.length}>>\nstream\n`),
    content,
    Buffer.from('\nendstream'),
  ]);

const text = deflateSync('BT /F1 24 Tf 20 100 Td (x) Tj ET');
const flate = (parameters: string): string => `/Filter/FlateDecode/DecodeParms<<${parameters}>>`;

const pageOf = (content: Buffer, resources = ''): Buffer =>
  pdfOfObjects([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 200]/Resources<<${resources}>>/Contents 4 0 R>>`,
    content,
    stream(
      `/Type/XObject/Subtype/Image/Width 2147483647/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray${flate(ABSURD)}`,
      text,
    ),
    '2147483647',
    '<</Predictor 12/Columns 6 0 R/Colors 1>>',
  ]);

/** A cross-reference stream, which has to be inflated to read anything. */
const tableOf = (parameters: string): Buffer => {
  const body = pdfOf(['x']);
  const table = stream(
    `/Type/XRef/Size 9/W[1 2 1]/Root 1 0 R${flate(parameters)}`,
    deflateSync(Buffer.alloc(36)),
  );
  const end = `\nendobj\nstartxref\n${body.length + 1}\n%%EOF\n`;
  return Buffer.concat([body, Buffer.from('\n99 0 obj\n'), table, Buffer.from(end)]);
};

/** One stream of 1 GiB, in 1 MB. */
const BOMB = deflateSync(Buffer.alloc(1024 * MIB, 32), { level: 9 });

const ATTACKS: readonly (readonly [string, Buffer, RegExp])[] = [
  ['a content with a row of 2 GB', pageOf(stream(flate(ABSURD), text)), /rows of 2147483647 bytes/],
  ['a content with 2^31 colours', pageOf(stream(flate(MANY_COLOURS), text)), /rows of \d+ bytes/],
  [
    'a content with a row of 2 GB, by references',
    pageOf(stream('/Filter/FlateDecode/DecodeParms 7 0 R', text)),
    /rows of 2147483647 bytes/,
  ],
  [
    'a content with a row of short numbers',
    pageOf(stream(flate('/Predictor 12/Columns 9999/Colors 9999/BitsPerComponent 9999'), text)),
    /rows of \d+(\.\d+)? bytes/,
  ],
  [
    'a picture with a row of 2 GB',
    pageOf(stream('', Buffer.from('400 0 0 200 0 0 cm /P Do')), '/XObject<</P 5 0 R>>'),
    /rows of 2147483647 bytes/,
  ],
  ['a content of 1 GiB', pageOf(stream('/Filter/FlateDecode', BOMB)), /memory|damaged/],
  [
    'a content of 1 GiB, packed twice',
    pageOf(stream('/Filter[/FlateDecode/FlateDecode]', deflateSync(BOMB))),
    /memory|damaged/,
  ],
];

const STEPS: readonly WorkStep[] = [
  { type: 'pages', pages: '1,1' },
  { type: 'stamp', stamp: pdfOf(['stamp']) },
];

const place = { directory: testDirectory(tap), deadlineMs: SOON_MS };

/** Runs the work; tells how much memory this process took for it. */
async function endOf(content: Buffer): Promise<{ readonly said: string; readonly bytes: number }> {
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
  try {
    await workOnPdf({ sources: [{ content }], steps: STEPS, areFinished: true }, place);
    return { said: 'done', bytes: most - before };
  } catch (error) {
    if (!(error instanceof WorkFailure)) throw error;
    return { said: `${error.fault}: ${error.message}`, bytes: most - before };
  } finally {
    clearInterval(watch);
  }
}

void test('work on a PDF that inflates without end fails within its bounds', async (t) => {
  for (const [name, content, said] of ATTACKS) {
    const started = performance.now();
    const end = await endOf(content);
    t.match(end.said, said, `${name}: ${end.said}`);
    t.notMatch(end.said, /time limit/, name);
    t.ok(end.bytes < MOST_BYTES, `${name}: ${Math.round(end.bytes / MIB)} MiB`);
    t.ok(performance.now() - started < SOON_MS, name);
  }
});

void test('a table whose rows are absurd is not inflated: the objects are found without it', async (t) => {
  for (const parameters of [ABSURD, MANY_COLOURS]) {
    const end = await endOf(tableOf(parameters));
    t.match(end.said, /^done$|memory|damaged/);
    t.ok(end.bytes < MOST_BYTES, `${Math.round(end.bytes / MIB)} MiB`);
  }
});

void test('the picture of such a PDF is bounded, too, and the next one is drawn', async (t) => {
  const thumbnails = new Thumbnails(pino({ level: 'silent' }));
  t.teardown(() => thumbnails.close());
  const before = process.memoryUsage.rss();
  for (const [name, content] of ATTACKS) {
    const started = performance.now();
    await thumbnails.firstPage('mallory', content).catch((error: unknown) => {
      // One that takes its time is late on a busy machine.
      t.match(error, { code: 'service_unavailable' }, name);
    });
    t.ok(performance.now() - started < SOON_MS, name);
    const taken = process.memoryUsage.rss() - before;
    t.ok(taken < 2 * MOST_BYTES, `${name}: ${Math.round(taken / MIB)} MiB`);
  }
  t.ok(await thumbnails.firstPage('ada', pdfOf(['x'])), 'others get theirs');
});

/** A content of many GiB, packed three times, in some hundred bytes: qpdf inflates it as long as it may. */
function endless(): Buffer {
  const block = Buffer.alloc(16 * MIB, 32);
  const whole = { level: 9, finishFlush: constants.Z_FULL_FLUSH } as const;
  const again = deflateRawSync(block, whole);
  const many = Array.from({ length: 1_000 }, () => again);
  const twice = deflateSync(Buffer.concat([deflateSync(block, whole), ...many]), { level: 9 });
  const filters = '/Filter[/FlateDecode/FlateDecode/FlateDecode]';
  return pageOf(stream(filters, deflateSync(twice, { level: 9 })));
}

void test('work that fails late does so for a part of each minute only', async (t) => {
  const service = await startService(t, {
    RENDER_TIMEOUT_MS: '4000',
    MAX_ACCOUNT_FAILED_WORK_MS: '3000',
  });
  const headers = { 'X-API-Key': service.firstStart.apiKey, 'Content-Type': 'application/json' };
  const post = async (path: string, body?: object) => {
    const sent = { headers: { ...headers, Prefer: 'wait=30' }, method: 'POST' };
    const answer = await fetch(`${service.url}/api/v1${path}`, {
      ...sent,
      ...(body && { body: JSON.stringify(body) }),
    });
    const record = (await answer.json()) as Readonly<Record<string, unknown>>;
    return { status: answer.status, retryAfter: answer.headers.get('retry-after'), record };
  };
  const file = endless();
  t.ok(file.length < 2_000, `${file.length} bytes`);
  const work = { sources: [{ file: file.toString('base64') }] };
  const first = await post('/documents/', work);
  t.match(first, { status: 200, record: { status: 'failed', failure_code: 'timeout' } });
  const good = { sources: [{ file: pdfOf(['x']).toString('base64') }] };
  const id = String(first.record['id']);
  for (const refused of [
    await post('/documents/', good),
    await post(`/conversions/${id}/retry/`),
  ]) {
    t.match(refused, {
      status: 429,
      record: { error: 'rate_limit_exceeded', message: /^Conversions of PDFs,.* that failed/ },
    });
    const seconds = Number(refused.retryAfter);
    t.ok(seconds > 5 && seconds < 120, `${seconds} s`);
  }
  const printed = await post('/pdf/', { html: '<p>x' });
  t.match(printed, { status: 200, record: { status: 'completed' } }, 'all else goes on');
});
