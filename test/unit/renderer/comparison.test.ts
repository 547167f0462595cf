/** The limits of comparing a document that is rendered again: it holds a render slot meanwhile. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import type { BlobStore } from '../../../src/documents/port.ts';
import { FileBlobStore } from '../../../src/documents/files.ts';
import type { PrintOptions } from '../../../src/domain/event-fields.ts';
import type { RenderJob } from '../../../src/render-queue/messages.ts';
import { pagesThatDiffer } from '../../../src/renderer/finishing/comparison.ts';
import { workOnPdf } from '../../../src/pdf/work.ts';
import { newConversionId } from '../../../src/time/ids.ts';
import { testDirectory } from '../../support/directory.ts';
import { silent } from '../../support/renderer.ts';
import { accountId, CONTENT_KEY, OPTIONS } from '../../support/samples.ts';
import { storePdf } from '../../support/stored-pdf.ts';
import { pdfOf } from '../../support/written-pdf.ts';

const LONG_MS = 120_000;
/** Less than a read or a comparison may take. */
const SOON_MS = 30_000;

async function setUp(t: Test, content = pdfOf(['One', 'Two'])) {
  const directory = testDirectory(t);
  const blobs = await FileBlobStore.open(join(directory, 'blobs'));
  const conversionId = newConversionId(Date.now());
  const owner = { conversionId, contentKey: CONTENT_KEY };
  const { document, pdf } = await storePdf(blobs, owner, content, join(directory, 'tmp'));
  const contentKey = CONTENT_KEY.toString('base64url');
  const job = { conversionId, accountId: accountId(), contentKey, request: document, retry: false };
  const original = { conversionId, sha256: pdf.sha256, document, contentKey };
  const path = join(directory, 'again.pdf');
  const again = pdfOf(['One', 'Three']);
  writeFileSync(path, again);
  return async (
    limits: { remaining?: () => number; unneeded?: AbortSignal },
    { from = blobs, ...options }: Partial<PrintOptions> & { from?: Pick<BlobStore, 'read'> } = {},
  ) =>
    await pagesThatDiffer(
      { blobs: from, logger: silent },
      { ...job, original, options: { ...OPTIONS, ...options } } satisfies RenderJob,
      { path, sha256: '0'.repeat(64), bytes: again.length, pages: 2, fonts: [] },
      { remaining: () => LONG_MS, unneeded: new AbortController().signal, ...limits },
    );
}

/** A blob store that never answers. */
const away = { read: async () => await new Promise<never>(() => {}) };

void test('the pages that differ are told, of plain and of packed tables', async (t) => {
  t.strictSame(await (await setUp(t))({}), [2]);
  const work = { sources: [{ content: pdfOf(['One', 'Two']) }], steps: [], optimize: true };
  const packed = Buffer.from(
    (await workOnPdf(work, { directory: testDirectory(t), deadlineMs: LONG_MS })).content,
  );
  t.strictSame(await (await setUp(t, packed))({}), [2]);
});

void test('a picture has no pages that could differ', async (t) => {
  const compared = await setUp(t);
  const from = { read: () => t.fail('it was read') as never };
  t.equal(await compared({}, { format: 'png', from }), undefined);
});

void test('the time that remains, and a cancel, end it at each of its steps', async (t) => {
  const begun = performance.now();
  const compared = await setUp(t);
  t.equal(await compared({ remaining: () => 10 }, { from: away }), undefined, 'the read');
  t.equal(await compared({ unneeded: AbortSignal.timeout(10) }, { from: away }), undefined);
  let asked = 0;
  const remaining = (): number => {
    asked += 1;
    return asked === 1 ? LONG_MS : 0;
  };
  t.equal(await compared({ remaining }), undefined, 'the comparison');
  t.ok(performance.now() - begun < SOON_MS);
});
