/** Work on PDFs of strangers: what is made of them, and that hostile ones end with words, in bounded time and memory. */
import { once } from 'node:events';
import { deflateSync } from 'node:zlib';
import tap, { test } from 'tap';
import { nameTree } from '../../../src/pdf/bookmarks.ts';
import { pagesOf } from '../../../src/pdf/page-tree.ts';
import { PdfObjects } from '../../../src/pdf/pdf-objects.ts';
import { withMemoryOf } from '../../../src/limits/wasm-memory.ts';
import { hasLineBeforeEnd } from '../../../src/pdf/qpdf.ts';
import { Ref } from '../../../src/pdf/values.ts';
import { workOnPdf } from '../../../src/pdf/work.ts';
import { type PrintStamp, type Work, WorkFailure } from '../../../src/pdf/work-plan.ts';
import { testDirectory } from '../../support/directory.ts';
import { openPdf } from '../../support/pdf.ts';
import { pdfOf, pdfOfObjects } from '../../support/written-pdf.ts';

const LONG_MS = 120_000;

const place = { directory: testDirectory(tap), deadlineMs: LONG_MS };
const done = async (work: Work) => {
  const result = await workOnPdf(work, place);
  return { ...result, content: Buffer.from(result.content) };
};
const source = (content: Uint8Array, password?: string) => ({ content, password });

const catalog = '<</Type/Catalog/Pages 2 0 R>>';
const stream = (entries: string, content: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`<<${entries}/Length ${content.length}>>\nstream\n`),
    content,
    Buffer.from('\nendstream'),
  ]);
/** A table of 120 MB that packs into 120 kB. */
const BOMB = deflateSync(Buffer.alloc(120 * 2 ** 20, 1), { level: 1 });

const text = async (content: Uint8Array): Promise<readonly string[]> =>
  (await openPdf(Buffer.from(content))).pages.map((each) => each.text);

void test('documents are joined with their bookmarks, links, names and files', async (t) => {
  const first = pdfOf(['One', 'Two'], { title: 'First', bookmarks: true });
  const second = pdfOf(['Three'], { title: 'Second', bookmarks: true });
  const file = { filename: 'a.txt', type: 'text/plain', relationship: 'Data' };
  const attached = await done({
    sources: [source(first)],
    steps: [{ type: 'attach', attachments: [{ ...file, content: Buffer.from('1') }] }],
  });
  const joined = await done({
    sources: [source(attached.content), source(second)],
    steps: [{ type: 'attach', attachments: [{ ...file, content: Buffer.from('2') }] }],
  });
  t.equal(joined.pages, 3);
  t.equal(joined.title, 'First');
  const opened = await openPdf(joined.content);
  t.strictSame(
    opened.pages.map((each) => each.text),
    ['One', 'Two', 'Three'],
  );
  t.strictSame(opened.outline, ['One', 'Two', 'Three']);
  t.equal(
    joined.content.toString('latin1').match(/\/F \(a\.txt\)/g)?.length,
    2,
    'both files are there',
  );
  const again = await done({
    sources: [source(joined.content)],
    steps: [
      { type: 'pages', pages: '3,1' },
      { type: 'rotate', rotate: 270, pages: '1' },
      { type: 'metadata', metadata: { title: 'Zwei für eins', keywords: ['a', 'b'] } },
    ],
    optimize: true,
  });
  const end = await openPdf(again.content);
  t.strictSame(await text(again.content), ['Three', 'One']);
  t.strictSame(end.outline, ['One', 'Three']);
  t.equal(end.info['Title'], 'Zwei für eins');
  t.equal(end.info['Keywords'], 'a, b');
  t.notOk(again.content.includes(deflateSync('(Two) Tj')), 'nothing of a dropped page is left');
});

void test('an encrypted document needs its password', async (t) => {
  const plain = pdfOf(['Secret']);
  const locked = await done({
    sources: [source(plain)],
    steps: [],
    encrypt: { user_password: 'pass' },
  });
  t.equal(locked.pages, 1);
  const opened = await done({ sources: [source(locked.content, 'pass')], steps: [] });
  t.strictSame(await text(opened.content), ['Secret']);
  const fault = 'unreadable_pdf';
  const without = { sources: [source(plain), source(locked.content)], steps: [] };
  await t.rejects(workOnPdf(without, place), {
    fault,
    message: 'Source 2 is encrypted: give its password, or send it without.',
  });
  const wrong = { sources: [source(locked.content, 'other')], steps: [] };
  await t.rejects(workOnPdf(wrong, place), {
    fault,
    message:
      'The password does not open the file: give the right one, or send the file without encryption.',
  });
});

/** A text field, one that waits for a signature, and two that are signed: one by itself, one by its parent. */
const SIGNED = (() => {
  const value =
    '<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/adbe.pkcs7.detached/ByteRange[0 9 9 9]/Contents<00>>>';
  const widget = '/Type/Annot/Subtype/Widget/Rect[0 0 0 0]/P 3 0 R';
  return pdfOfObjects([
    '<</Type/Catalog/Pages 2 0 R/Perms<</DocMDP 4 0 R>>/AcroForm<</SigFlags 3/Fields[5 0 R 6 0 R 7 0 R 8 0 R]>>>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Annots[5 0 R 6 0 R 7 0 R 9 0 R]>>',
    value,
    `<<${widget}/FT/Tx/T(name)/V(Ada)>>`,
    `<<${widget}/FT/Sig/T(waiting)>>`,
    `<<${widget}/FT/Sig/T(own)/V 4 0 R/Lock<</Action/All>>>>`,
    '<</FT/Sig/T(above)/Kids[9 0 R]>>',
    `<<${widget}/Parent 8 0 R/T(inner)/V 4 0 R>>`,
  ]);
})();

const blank = (found: string): string => ' '.repeat(found.length);

void test('signatures, which would not hold, are removed; other fields stay', async (t) => {
  const plain = source(pdfOf(['One']));
  const one = { type: 'pages', pages: '1' } as const;
  for (const sources of [[source(SIGNED)], [plain, source(SIGNED)]]) {
    const made = await done({ sources, steps: [], areFinished: true });
    t.strictSame(made.signed, [sources.length]);
    const written = made.content.toString('latin1');
    t.notMatch(written, /\/(ByteRange|Perms|SigFlags|Lock)\b/);
    t.match(written, /\(Ada\)/);
    t.match(written, /\(waiting\)/);
  }
  t.strictSame((await done({ sources: [plain], steps: [one], areFinished: true })).signed, []);
  const unsigned = SIGNED.toString('latin1').replaceAll(/\/Perms<<[^>]*>>|\/V 4 0 R/g, blank);
  const waiting = await done({
    sources: [source(Buffer.from(unsigned, 'latin1'))],
    steps: [],
    areFinished: true,
  });
  t.strictSame(waiting.signed, [], 'nothing is signed yet');
  const printed = await done({ sources: [source(SIGNED)], steps: [], optimize: true });
  t.strictSame(printed.signed, [], 'the place for our own signature is kept');
  t.equal(waiting.content.toString('latin1').match(/\/FT \/Sig/g)?.length, 3);
});

const HOSTILE: readonly (readonly [string, Buffer, RegExp])[] = [
  ['nothing', Buffer.alloc(0), /is not a PDF/],
  ['text', Buffer.from('hello'), /is not a PDF/],
  ['a name only', Buffer.from('%PDF-1.7\n%%EOF\n'), /is (damaged|not a PDF)/],
  ['a file that is cut off', pdfOf(['x']).subarray(0, 200), /^The file is damaged or not complete/],
  ['an end of a file only', pdfOf(['x']).subarray(-300), /is damaged|is not a PDF/],
  [
    'pages within themselves',
    pdfOfObjects([catalog, '<</Type/Pages/Count 1/Kids[2 0 R]>>']),
    /damaged|no pages/,
  ],
  ['no pages', pdfOfObjects([catalog, '<</Type/Pages/Count 0/Kids[]>>']), /no pages|damaged/],
  ['a catalog of nothing', pdfOfObjects(['null']), /damaged|no pages/],
  ['arrays without end', pdfOfObjects([`<</Type/Catalog/A ${'['.repeat(200_000)}`]), /./],
  [
    'a bomb',
    Buffer.concat([
      Buffer.from('%PDF-1.7\n1 0 obj\n'),
      stream('/Type/XRef/Size 9/W[1 2 1]/Root 2 0 R/Filter/FlateDecode', BOMB),
      Buffer.from('\nendobj\nstartxref\n9\n%%EOF\n'),
    ]),
    /damaged|more memory/,
  ],
];

void test('a hostile document ends with words', async (t) => {
  for (const [name, content, said] of HOSTILE) {
    const steps = [{ type: 'pages', pages: '1' } as const];
    try {
      const result = await workOnPdf({ sources: [source(content)], steps, optimize: true }, place);
      t.ok(result.pages > 0, `${name}: has pages`);
      t.ok(said.source === '^$' || said.source === '.', `${name}: was expected to fail`);
    } catch (error) {
      if (!(error instanceof WorkFailure)) throw error;
      t.match(error.message, said, `${name}: ${error.message}`);
    }
  }
});

void test('too many pages are refused', async (t) => {
  const many = pdfOf(Array.from({ length: 300 }, () => 'x'));
  const pages = Array.from({ length: 40 }, () => '1-300').join(',');
  const work = { sources: [source(many)], steps: [{ type: 'pages', pages }] } as const;
  await t.rejects(workOnPdf(work, place), {
    fault: 'too_large',
    message: 'The document has 12000 pages, of at most 10000.',
  });
});

void test('a list of pages or names that is longer than the stack is read', (t) => {
  const kids = '4 0 R '.repeat(150_000);
  const names = '<</Names[(x) 4 0 R]>>';
  const objects = new PdfObjects(
    pdfOfObjects([
      catalog,
      `<</Type/Pages/Count 150000/Kids[${kids}]>>`,
      `<</Kids[${kids}5 0 R]>>`,
      '<</Type/Page/Parent 2 0 R>>',
      names,
    ]),
  );
  t.strictSame(pagesOf(objects), [new Ref(4)]);
  t.strictSame(
    nameTree(objects, new Ref(3)).map(([{ bytes }]) => bytes),
    ['x'],
  );
  t.end();
});

void test('a stream without content is read, as qpdf writes it for an empty page', (t) => {
  const empty = '<</Filter/FlateDecode/Length 0>>\nstream\n\nendstream';
  const objects = new PdfObjects(pdfOfObjects([catalog, '<</Type/Pages/Count 0/Kids[]>>', empty]));
  t.equal(objects.content(3).length, 0);
  t.end();
});

void test('the work ends at its deadline, and when nobody needs it', async (t) => {
  const work = { sources: [source(pdfOf(['x']))], steps: [] };
  await t.rejects(workOnPdf(work, { ...place, deadlineMs: 1 }), {
    message: /time limit/,
    fault: 'timeout',
  });
  const given = new AbortController();
  const working = workOnPdf(work, { ...place, unneeded: given.signal });
  given.abort();
  await t.rejects(working, { message: 'The conversion was cancelled.', fault: 'cancelled' });
});

void test('a stamp that cannot be printed ends the work with the reason', async (t) => {
  const stamp = { html: 'x', fit: 'page' } as const;
  const work = { sources: [source(pdfOf(['One']))], steps: [{ type: 'stamp', stamp } as const] };
  const reason = new Error('The stamp cannot be printed.');
  const asked: unknown[] = [];
  const print: PrintStamp = (html, papers) => {
    asked.push([html, papers]);
    return Promise.reject(reason);
  };
  t.equal(await workOnPdf(work, place, print).catch((error: unknown) => error), reason);
  t.strictSame(asked, [['x', [{ width: 400, height: 200 }]]]);
});

void test('a stamp that is being printed ends with the work, and before it', async (t) => {
  const stamp = { html: 'x', fit: 'page' } as const;
  const work = { sources: [source(pdfOf(['One']))], steps: [{ type: 'stamp', stamp } as const] };
  const given = new AbortController();
  let hasEnded = false;
  const print: PrintStamp = async (_html, _papers, end) => {
    given.abort();
    if (!end.aborted) await once(end, 'abort');
    await new Promise(setImmediate);
    hasEnded = true;
    throw new Error('It was given up.');
  };
  const working = workOnPdf(work, { ...place, unneeded: given.signal }, print);
  await t.rejects(working, { message: /cancelled/, fault: 'cancelled' });
  t.ok(hasEnded);
});

void test('the program that did the work is named as it names itself', async (t) => {
  const { program } = await done({ sources: [source(pdfOf(['x']))], steps: [] });
  t.match(program, /^qpdf\/\d+\.\d+\.\d+$/);
});

void test('the program gets no more memory than it is given', (t) => {
  const head = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  const program = Uint8Array.from([...head, 5, 7, 1, 1, 0x80, 0x02, 0x80, 0x80, 0x02]);
  const changed = withMemoryOf(program, 8192);
  t.strictSame([...changed], [...head, 5, 7, 1, 1, 0x80, 0x02, 0x80, 0xc0, 0x00]);
  const unbounded = Uint8Array.from([...head, 5, 3, 1, 0, 1]);
  t.throws(() => withMemoryOf(unbounded, 8192), /another way/);
  t.end();
});

void test('what is copied into many objects stays small', async (t) => {
  const letters = 'x'.repeat(2 ** 20);
  const links = Array.from({ length: 400 }, (_, n) => `${n + 7} 0 R`).join(' ');
  const link = '<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/Dest(a)>>';
  const title = '<</Title 6 0 R/Parent 5 0 R>>';
  const described = await done({
    sources: [
      source(
        pdfOfObjects([
          '<</Type/Catalog/Pages 2 0 R/Names<</Dests<</Names[(a)[3 0 R/XYZ 4 0 R]]>>>>>>',
          '<</Type/Pages/Kids[3 0 R]/Count 1>>',
          `<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Annots[${links}]>>`,
          `(${letters})`,
          '<</Type/Outlines>>',
          title,
          ...Array.from({ length: 400 }, () => link),
        ]),
      ),
    ],
    steps: [{ type: 'pages', pages: '1' }],
  });
  t.ok(described.content.length < 2 ** 20 * 2, `${described.content.length} bytes`);
});

void test('a table of a linearised file that lacks its line end is seen', async (t) => {
  const { content } = await done({ sources: [source(pdfOf(['One']))], steps: [], optimize: true });
  t.equal(hasLineBeforeEnd(content), true);
  const written = content.toString('latin1');
  const at = Number(/\/H \[ ?(\d+) /.exec(written)?.[1]);
  const end = written.indexOf('\nendstream', at);
  const lacking = written.slice(0, end - 1) + written.slice(end);
  t.equal(hasLineBeforeEnd(Buffer.from(lacking, 'latin1')), false);
});
