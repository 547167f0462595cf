/** The messages that nodes take from each other: all that ours send, and nothing else. */
import fc from 'fast-check';
import { test } from 'tap';
import { MAX_MANIFEST_BYTES } from '../../src/domain/render-manifest.ts';
import { MAX_PICTURE_BYTES, parseJob, parseReport } from '../../src/render-queue/messages.ts';
import { nastyText, wild } from '../support/arbitraries.ts';
import {
  completedReport,
  failedReport,
  renderJob,
  startedReport,
} from '../support/render-queue.ts';
import { blobRef, conversionId, sha256 } from '../support/samples.ts';

const parse = (said: unknown) => parseReport(Buffer.from(JSON.stringify(said)));
const failed = failedReport();
const picture = { ...blobRef('picture'), bytes: MAX_PICTURE_BYTES };

void test('what renderers report is read as it was said', async (t) => {
  const requeued = { ...startedReport(), kind: 'requeued', attempt: 1 } as const;
  const pictured = { ...failed, picture };
  const all = [
    startedReport(),
    requeued,
    failed,
    pictured,
    completedReport(),
    completedReport(7, 3),
  ];
  for (const report of all) {
    t.strictSame(parse(report), report, report.kind);
  }
  for (const differingPages of [[], Array.from({ length: 1_000 }, (_, n) => n + 1)]) {
    const compared = { ...completedReport(), differingPages };
    t.strictSame(parse(compared), compared);
  }
  const half = { ...completedReport(), timings: { ...completedReport().timings, load: 0.25 } };
  t.strictSame(parse(half), half);
  const most = { ...completedReport(), warnings: Array<string>(20).fill('x'.repeat(300)) };
  t.strictSame(parse(most), most);
});

const done = completedReport();
const { document, timings } = done;
const REFUSED: Readonly<Record<string, object>> = {
  'a time beyond all integers': { ...startedReport(), at: 1e300 },
  'a time before all': { ...startedReport(), at: -1 },
  'a broken time': { ...startedReport(), at: 0.5 },
  'a start that is numbered': { ...startedReport(), attempt: 1 },
  'an outcome of no try': { ...failed, attempt: undefined },
  'attempt 0': { ...failed, attempt: 0 },
  'a page 0 that differs': { ...done, differingPages: [0] },
  'too many pages that differ': { ...done, differingPages: Array<number>(1_001).fill(1) },
  'attempt 4': { ...done, attempt: 4 },
  'a delivery that is a path': { ...startedReport(), delivery: '../1' },
  'a long name of a delivery': { ...startedReport(), delivery: 'x'.repeat(65) },
  'a failure that may be more': { ...failed, retryable: 1 },
  'an id that is a path': { ...startedReport(), conversionId: `${conversionId()}/..` },
  'an id and a line more': { ...startedReport(), conversionId: `${conversionId()}\n` },
  'another id’s prefix': { ...startedReport(), accountId: conversionId() },
  'a name with a slash': { ...startedReport(), renderer: 'a/1' },
  'no name': { ...startedReport(), renderer: '' },
  'a long name': { ...startedReport(), renderer: 'x'.repeat(101) },
  'a field too many': { ...startedReport(), pages: 1 },
  'another kind': { ...startedReport(), kind: 'expired' },
  'an unknown code': { ...failed, code: 'bored' },
  'a long message': { ...failed, message: 'x'.repeat(8193) },
  'another conversion’s picture': { ...failed, picture: blobRef('picture', 2) },
  'a request for a picture': { ...failed, picture: blobRef('request') },
  'a PDF for a picture': { ...failed, picture: blobRef('document') },
  'a picture too large': { ...failed, picture: { ...picture, bytes: MAX_PICTURE_BYTES + 1 } },
  'a picture of nothing': { ...failed, picture: { ...picture, bytes: 0 } },
  'a picture with a field more': { ...failed, picture: { ...picture, path: '/' } },
  'a picture that is null': { ...failed, picture: null },
  'a picture of what completed': { ...done, picture },
  'no page': { ...done, pages: 0 },
  'endless pages': { ...done, pages: 1e300 },
  'another conversion’s PDF': { ...done, document: blobRef('document', 2) },
  'a request for a PDF': { ...done, document: blobRef('request') },
  'a hash that is not its key’s': { ...done, document: { ...document, sha256: sha256(9) } },
  'endless bytes': { ...done, document: { ...document, bytes: 1e300 } },
  'a PDF with a field more': { ...done, document: { ...document, path: '/' } },
  'no PDF': { ...done, pdf: undefined },
  'a PDF without a hash': { ...done, pdf: { bytes: 10 } },
  'endless bytes of a PDF': { ...done, pdf: { ...done.pdf, bytes: 1e300 } },
  'a field more of a PDF': { ...done, pdf: { ...done.pdf, key: 'x' } },
  'a time below 0': { ...done, timings: { ...timings, load: -1 } },
  'a time missing': { ...done, timings: { ...timings, load: undefined } },
  'a long product': { ...done, chrome: 'x'.repeat(257) },
  'no warning among the warnings': { ...done, warnings: [] },
  'a warning that is not text': { ...done, warnings: [{ text: 'x' }] },
  'a warning too many': { ...done, warnings: Array<string>(21).fill('x') },
  'a long warning': { ...done, warnings: ['x'.repeat(301)] },
  'a manifest that is no JSON': { ...done, manifest: '{' },
  'a manifest that is a list': { ...done, manifest: '[]' },
  'a manifest that is nothing': { ...done, manifest: 'null' },
  'a manifest too large': { ...done, manifest: `{${' '.repeat(MAX_MANIFEST_BYTES)}}` },
  'a manifest too large in UTF-8': {
    ...done,
    manifest: JSON.stringify({ x: 'é'.repeat(MAX_MANIFEST_BYTES / 2) }),
  },
};

void test('what no renderer of ours reports is not read', async (t) => {
  for (const [what, said] of Object.entries(REFUSED)) t.equal(parse(said), undefined, what);
  for (const text of ['', '{', 'null', '[]', '"started"']) {
    t.equal(parseReport(Buffer.from(text)), undefined, text);
  }
  const broken = Buffer.from(JSON.stringify({ ...failed, message: 'Z' }));
  broken[broken.indexOf('"Z"') + 1] = 0xff;
  t.equal(parseReport(broken), undefined, 'no UTF-8');
});

void test('a field that is changed to anything is refused, or still of its form', async (t) => {
  const report = fc.constantFrom(startedReport(), failed, { ...failed, picture }, done);
  const field = fc.oneof(
    fc.constantFrom(...Object.keys({ ...done, ...failed, picture })),
    nastyText,
  );
  fc.assert(
    fc.property(report, field, wild, (from, name, value) => {
      const said = Object.fromEntries([...Object.entries(from), [name, value]]);
      const read = parse(said);
      if (read === undefined) return;
      t.strictSame(Object.keys(read).toSorted(), Object.keys(from).toSorted());
      for (const number of [read.at, 'attempt' in read ? read.attempt : 1]) {
        if (!Number.isSafeInteger(number)) throw new Error(`${number} was let through.`);
      }
    }),
    { numRuns: 2000 },
  );
});

const parsed = (job: unknown) => parseJob(Buffer.from(JSON.stringify(job)));

void test('a job is taken as it was offered, and nothing that only looks like one', (t) => {
  const job = renderJob(1);
  t.strictSame(parsed(job), job);
  const { key } = renderJob(2).request;
  const bad: unknown[] = [
    null,
    [],
    'job',
    { ...job, conversionId: '../../../../tmp/victim' },
    { ...job, accountId: 'acct_1' },
    { ...job, retry: 1 },
    { ...job, retry: undefined },
    { ...job, request: { ...job.request, key } },
    { ...job, request: { ...job.request, sha256: 'x' } },
    { ...job, options: { ...job.options, scale: '1' } },
    { ...job, more: true },
    { ...job, contentKey: undefined },
    { ...job, contentKey: `${job.contentKey}A` },
    { ...job, contentKey: Buffer.alloc(32, 0xff).toString('base64') },
  ];
  for (const each of bad) t.equal(parsed(each), undefined, JSON.stringify(each)?.slice(0, 80));
  t.equal(parseJob(Buffer.from('{')), undefined);
  t.equal(parseJob(Buffer.from([0xff, 0xfe])), undefined);
  t.end();
});
