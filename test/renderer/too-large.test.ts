/** What is too large to be anyone's document ends with that reason, and the next one is fine. */
import { join } from 'node:path';
import { Readable } from 'node:stream';
import tap, { test } from 'tap';
import { type PdfFile, savePdf } from '../../src/pdf/finish.ts';
import { testDirectory } from '../support/directory.ts';
import { startTestRenderer } from '../support/renderer.ts';

const renderer = await startTestRenderer();
tap.teardown(() => renderer.close());

// Chrome puts a JPEG into the PDF as it came, so comments within it make the PDF as large as one likes.
const heavy = (mebibytes: number): string => `<p>heavy</p><img id=i><script>
  const canvas = document.createElement('canvas');
  canvas.toBlob(async (small) => {
    const jpeg = new Uint8Array(await small.arrayBuffer());
    const comment = new Uint8Array(65_536);
    comment.set([0xff, 0xfe, 0xff, 0xfe]);
    const comments = Array.from({ length: ${mebibytes} * 16 }, () => comment);
    i.src = URL.createObjectURL(new Blob([jpeg.subarray(0, 2), ...comments, jpeg.subarray(2)]));
    await i.decode();
    i.className = 'there';
  }, 'image/jpeg');
</script>`;

// Chrome itself needs minutes for so many pages, more than the time limit is by default.
async function save(directory: string, pages: number): Promise<PdfFile> {
  const objects = ['<< /Type /Catalog /Pages 2 0 R >>', `<< /Type /Pages /Count ${pages} >>`];
  let pdf = '%PDF-1.4\n';
  const entries = objects.map((object, index) => {
    const entry = `${String(pdf.length).padStart(10, '0')} 00000 n \n`;
    pdf += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return entry;
  });
  const table = `xref\n0 3\n0000000000 65535 f \n${entries.join('')}`;
  const end = `trailer\n<< /Size 3 /Root 1 0 R >>\nstartxref\n${pdf.length}\n%%EOF\n`;
  const path = join(directory, `${pages}.pdf`);
  return await savePdf(Readable.from([Buffer.from(pdf + table + end)]), {
    path,
    metadata: undefined,
    syntheticOrigin: undefined,
  });
}

void test('a document of more than 10,000 pages', async (t) => {
  const directory = testDirectory(t);
  t.match(await save(directory, 10_000), { pages: 10_000 });
  await t.rejects(save(directory, 10_001), {
    name: 'PdfTooLarge',
    message: /has 10001 pages, of at most 10000/,
  });
});

void test('a PDF of more than 128 MiB', async (t) => {
  const wait_for = { selector: '.there' };
  const failed = await renderer.render({ html: heavy(130), wait_for }, {}, 60_000);
  t.match(failed, { kind: 'failed', code: 'too_large', message: /larger than 128 MiB/ });
  t.same(await renderer.files(), [], 'nothing is left of it');
  const whole = await renderer.render({ html: heavy(120), wait_for }, {}, 60_000);
  t.equal(whole.kind, 'completed');
  if (whole.kind === 'completed') t.ok(whole.bytes > 120 * 1024 * 1024);
  t.match((await renderer.pdf({ html: '<p>next</p>' })).text, /next/);
});
