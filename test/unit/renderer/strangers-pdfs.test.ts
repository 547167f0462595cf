/** PDFs of other programs: what their readers see stays so, what is damaged is repaired, and nothing false is claimed. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import tap, { type Test, test } from 'tap';
import { inflateSync } from 'node:zlib';
import { Thumbnails } from '../../../src/conversions/thumbnails.ts';
import { PdfString } from '../../../src/pdf/values.ts';
import type { Work, WorkStep } from '../../../src/pdf/work-plan.ts';
import { workOnPdf } from '../../../src/pdf/work.ts';
import { testDirectory } from '../../support/directory.ts';
import { openPdf } from '../../support/pdf.ts';
import { pdfOf, pdfOfObjects } from '../../support/written-pdf.ts';

const place = { directory: testDirectory(tap), deadlineMs: 120_000 };
const thumbnails = new Thumbnails(pino({ level: 'silent' }));
tap.teardown(() => thumbnails.close());

const done = async (work: Omit<Work, 'areFinished'>) => {
  const result = await workOnPdf({ ...work, areFinished: true }, place);
  return { ...result, content: Buffer.from(result.content) };
};
const source = (content: Uint8Array) => ({ content });

const stream = (entries: string, content: string): Buffer =>
  Buffer.from(`<<${entries}/Length ${content.length}>>\nstream\n${content}\nendstream`, 'latin1');
const catalog = (more = ''): string => `<</Type/Catalog/Pages 2 0 R${more}>>`;
/** One page, whose content is object 4, with more objects from 6 on. */
const pageOf = (
  content: Buffer,
  { more = '', page = '', objects = [], trailer = '' }: Partial<Parts> = {},
): Buffer =>
  pdfOfObjects(
    [
      catalog(more),
      '<</Type/Pages/Count 1/Kids[3 0 R]>>',
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 200]/Resources<</Font<</F1 5 0 R>>${more.includes('OCG') ? '/Properties<</L 6 0 R>>' : ''}>>/Contents 4 0 R${page}>>`,
      content,
      '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
      ...objects,
    ],
    trailer,
  );
interface Parts {
  readonly more: string;
  readonly page: string;
  readonly objects: readonly (string | Buffer)[];
  readonly trailer: string;
}

/** The output of a program of Poppler, which reads PDFs independently; undefined where there is none. */
function poppler(program: string, pdf: Buffer, ...args: readonly string[]): Buffer | undefined {
  const path = join(place.directory, 'read.pdf');
  writeFileSync(path, pdf);
  const { status, stdout, error } = spawnSync(program, [...args, path], {
    maxBuffer: 2 ** 26,
  });
  if (error) return undefined;
  if (status !== 0) throw new Error(`${program} ended with ${status}`);
  return stdout;
}

/** The share of dark pixels of the first pages, by PDFium. */
async function pdfiumDarkness(pdf: Buffer, pages = 1): Promise<readonly number[]> {
  const shares: number[] = [];
  for (let page = 1; page <= pages; page += 1) {
    const one = page === 1 ? pdf : qpdfPage(pdf, page);
    const png = await thumbnails.firstPage('ada', one);
    if (png === undefined) throw new Error('PDFium draws nothing');
    const at = png.indexOf('IDAT');
    const rows = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)));
    shares.push(rows.filter((each) => each < 128).length / rows.length);
  }
  return shares;
}

/** One page alone, by the program and not by our code. */
function qpdfPage(pdf: Buffer, page: number): Buffer {
  const [from, to] = ['from.pdf', 'to.pdf'].map((name) => join(place.directory, name));
  writeFileSync(from ?? '', pdf);
  execFileSync('qpdf', [from ?? '', '--pages', '.', String(page), '--', to ?? '']);
  return readFileSync(to ?? '');
}

/** The share of dark pixels of the first page, by two readers: PDFium and Poppler. */
async function darkness(t: Test, pdf: Buffer): Promise<readonly number[]> {
  const shares = [...(await pdfiumDarkness(pdf))];
  const grey = poppler('pdftoppm', pdf, '-gray', '-r', '72', '-f', '1', '-l', '1');
  if (grey === undefined) t.comment('pdftoppm is not here');
  // Its head has three lines.
  else shares.push(grey.subarray(15).filter((each) => each < 128).length / (grey.length - 15));
  return shares;
}

/** PDFium's rows begin with a number that is none of a pixel. */
const FEW = 0.001;

const HIDDEN = stream('', '/OC /L BDC BT /F1 60 Tf 10 100 Td (HIDDENSECRET) Tj ET EMC');
const LAYER = '<</Type/OCG/Name(Layer)>>';
const layered = (config: string, content = HIDDEN): Buffer =>
  pageOf(content, { more: `/OCProperties<</OCGs[6 0 R]/D<<${config}>>>>`, objects: [LAYER] });
const HIDDEN_BY_LIST = layered('/OFF[6 0 R]/Order[6 0 R]');
const HIDDEN_BY_STATE = layered('/BaseState/OFF');
const SHOWN = layered('/BaseState/OFF/ON[6 0 R]/Order[6 0 R]/Locked[6 0 R]');

void test('hidden layers stay hidden when documents are joined and pages chosen', async (t) => {
  const other = pdfOf(['']);
  const all: readonly (readonly [string, Work])[] = [
    ['joined', { sources: [source(HIDDEN_BY_LIST), source(other)], steps: [] }],
    ['with a shown one', { sources: [source(HIDDEN_BY_STATE), source(SHOWN)], steps: [] }],
    ['twice', { sources: [source(HIDDEN_BY_LIST)], steps: [{ type: 'pages', pages: '1,1' }] }],
    [
      'joined, then chosen',
      {
        sources: [source(other), source(HIDDEN_BY_LIST), source(HIDDEN_BY_STATE)],
        steps: [{ type: 'pages', pages: '3,2' }],
      },
    ],
    ['unchanged', { sources: [source(HIDDEN_BY_STATE)], steps: [] }],
  ];
  for (const [name, work] of all) {
    const { content } = await done(work);
    for (const dark of await darkness(t, content)) t.ok(dark < FEW, name);
    t.notOk(content.includes('PressledgerLayers'), name);
  }
  const { content } = await done({ sources: [source(SHOWN), source(HIDDEN_BY_LIST)], steps: [] });
  for (const dark of await darkness(t, content)) t.ok(dark > 0.01, 'a shown one is shown');
  const written = content.toString('latin1');
  t.match(written, /\/OCGs\s*\[ ?\d+ 0 R \d+ 0 R ?\]/);
  t.match(written, /\/OFF\s*\[ ?\d+ 0 R ?\]/);
  t.match(written, /\/Order\s*\[ ?\d+ 0 R \d+ 0 R ?\]/);
  t.match(written, /\/Locked\s*\[ ?\d+ 0 R ?\]/);
});

void test('an annotation of a hidden layer is not shown by the mark of a test', async (t) => {
  const look = stream('/Type/XObject/Subtype/Form/BBox[0 0 400 200]', '0 0 400 200 re f');
  const note = pageOf(stream('', ''), {
    more: '/OCProperties<</OCGs[6 0 R]/D<</OFF[6 0 R]>>>>',
    page: '/Annots[7 0 R]',
    objects: [
      LAYER,
      '<</Type/Annot/Subtype/Stamp/Rect[0 0 400 200]/F 4/OC 6 0 R/AP<</N 8 0 R>>>>',
      look,
    ],
  });
  const steps: readonly WorkStep[] = [{ type: 'watermark', stamp: pdfOf(['']) }];
  const { content } = await done({ sources: [source(note)], steps });
  for (const dark of await darkness(t, content)) t.ok(dark < FEW);
});

const OWN = 'BT /F1 24 Tf 20 20 Td (Own) Tj ET';
/** What a page's content may leave; the stamp fills the page. */
const STATES: readonly (readonly [string, string])[] = [
  ['nothing', OWN],
  ['an open state with a clip', `q 0 0 10 10 re W n q ${OWN}`],
  ['a state too many, and a matrix', `${OWN} Q Q 0.01 0 0 0.01 0 0 cm`],
  ['an array without end', `${OWN} [ /oops`],
  ['a string without end', `${OWN} (oops`],
  ['a hexadecimal string without end', `${OWN} <ab`],
  ['a dictionary without end', `${OWN} /P <</A`],
  ['a text without end', OWN.replace(' ET', '')],
  ['a hidden layer', `${OWN} /OC /L BDC`],
  ['a path that clips', `${OWN} 0 0 1 1 re W`],
  ['a text that clips', `7 Tr ${OWN}`],
  ['a comment', `${OWN} % oops`],
  ['an image without end', `${OWN} BI /W 1 /H 1 ID xx`],
  ['a number', `${OWN} 12`],
  ['a clip and a colour of its own', `0 0 10 10 re W n 1 g 1 G ${OWN}`],
];

/** All pages in one document, each with a layer that is hidden. */
const LEFT = pdfOfObjects([
  catalog('/OCProperties<</OCGs[4 0 R]/D<</OFF[4 0 R]>>>>'),
  `<</Type/Pages/Count ${STATES.length}/Kids[${STATES.map((_, n) => `${5 + 2 * n} 0 R`).join(' ')}]>>`,
  '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  LAYER,
  ...STATES.flatMap(([, left], n) => [
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 200]/Resources<</Font<</F1 3 0 R>>/Properties<</L 4 0 R>>>>/Contents ${6 + 2 * n} 0 R>>`,
    stream('', left),
  ]),
]);

void test('a stamp is on each page, whatever state its content leaves', async (t) => {
  const stamp = pageOf(stream('', '0 0 400 200 re f'));
  for (const type of ['stamp', 'watermark'] as const) {
    const { content } = await done({ sources: [source(LEFT)], steps: [{ type, stamp }] });
    const { pages } = await openPdf(content);
    for (const [n, [name]] of STATES.entries()) {
      t.match(pages[n]?.text, 'Own', `${type}: ${name}: its own text stays`);
    }
    const grey = poppler('pdftoppm', content, '-gray', '-r', '18');
    // 100 by 50 pixels, behind a head of three lines.
    const head = 'P5\n100 50\n255\n';
    for (const [n, [name]] of (grey ? STATES : []).entries()) {
      const from = n * (head.length + 5_000) + head.length;
      const pixels = grey?.subarray(from, from + 5_000) ?? Buffer.alloc(0);
      t.ok(pixels.length === 5_000 && pixels.every((each) => each < 128), `${type}: ${name}`);
    }
    t.strictSame(
      (await pdfiumDarkness(content, STATES.length)).filter((each) => each < 0.95),
      [],
    );
  }
});

void test('a page that cannot be stamped is named', async (t) => {
  const page = pageOf(stream('', OWN)).toString('latin1');
  for (const box of ['[0 0 000 200]', '(no box here)', ' null']) {
    const flat = Buffer.from(page.replace('[0 0 400 200]', box), 'latin1');
    const steps: readonly WorkStep[] = [{ type: 'stamp', stamp: pdfOf(['x']) }];
    await t.rejects(done({ sources: [source(flat)], steps }), {
      fault: 'unreadable_pdf',
      message: 'Page 1 cannot be stamped: it has no area.',
    });
  }
});

const xmp = (text: string): Buffer =>
  stream('/Type/Metadata/Subtype/XML', `<x:xmpmeta xmlns:x="adobe:ns:meta/">${text}</x:xmpmeta>`);
const described = (text: string): Buffer =>
  pageOf(stream('', OWN), {
    more: '/Metadata 6 0 R',
    objects: [xmp(text), '<</Title(OLDTITLE)/Author 8 0 R>>', '(OLDAUTHOR)'],
    trailer: '/Info 7 0 R',
  });
const STEPS: readonly (readonly WorkStep[])[] = [
  [],
  [{ type: 'rotate', rotate: 90 }],
  [{ type: 'stamp', stamp: pdfOf(['x']) }],
  [{ type: 'metadata', metadata: { title: 'New' } }],
  [
    {
      type: 'attach',
      attachments: [
        { filename: 'a', content: Buffer.from('1'), type: 'text/plain', relationship: 'Data' },
      ],
    },
  ],
];

void test('a claim goes with what is done to the file, and nothing of it is left', async (t) => {
  const claiming = described('<pdfaid:part>4</pdfaid:part>OLDXMP');
  for (const [n, steps] of STEPS.entries()) {
    const last = [{ encrypt: {} }, {}, { optimize: true }][n % 3];
    const { content } = await done({ sources: [source(claiming)], steps, ...last });
    const plain = await done({ sources: [source(content)], steps: [] });
    t.notMatch(plain.content.toString('latin1'), /pdfaid|OLDXMP|\/Metadata/);
  }
  const { content } = await done({ sources: [source(described('OLDXMP'))], steps: [] });
  t.match(content.toString('latin1'), /OLDXMP/, 'what claims nothing stays');
  const ofPrint = pageOf(stream('', OWN), {
    objects: [LAYER, '<</Title(x)/GTS_PDFXVersion(PDF/X-4)>>'],
    trailer: '/Info 7 0 R',
  });
  const printed = await done({ sources: [source(ofPrint)], steps: [] });
  t.equal(printed.title, 'x');
  t.notMatch(printed.content.toString('latin1'), /GTS_PDFX/);
});

void test('metadata that are replaced are gone from the bytes', async (t) => {
  const metadata = { title: 'New', author: 'Ada', subject: 's', keywords: ['k'] };
  const { content } = await done({
    sources: [source(described('OLDXMP'))],
    steps: [{ type: 'metadata', metadata }],
  });
  t.notMatch(content.toString('latin1'), /OLD/);
  t.equal((await openPdf(content)).info['Author'], 'Ada');
});

void test('a PDF of version 2.0 stays one', async (t) => {
  const two = Buffer.from(
    pdfOf(['x']).toString('latin1').replace('%PDF-1.7', '%PDF-2.0'),
    'latin1',
  );
  for (const steps of STEPS) {
    const { content } = await done({ sources: [source(two)], steps });
    t.equal(content.toString('latin1', 0, 8), '%PDF-2.0');
  }
  const pages: readonly WorkStep[] = [{ type: 'pages', pages: '1,1' }];
  const { content } = await done({ sources: [source(two)], steps: pages, optimize: true });
  t.equal(content.toString('latin1', 0, 8), '%PDF-2.0');
});

void test('damage that qpdf repairs is repaired, and said', async (t) => {
  const whole = pdfOf(['Text']).toString('latin1');
  const plain = pageOf(stream('', OWN.replace('Own', 'Text'))).toString('latin1');
  const damaged: readonly (readonly [string, string])[] = [
    ['no length of a stream', plain.replace(/\/Length \d+/, '')],
    ['a wrong length', plain.replace(/\/Length \d+/, '/Length 3')],
    ['a wrong place of the table', whole.replace(/startxref\n\d+/, 'startxref\n7')],
    ['lines of another kind', plain.replaceAll('\n', '\r\n')],
    ['long rows of the table', whole.replaceAll(/ ([nf]) \n/g, ' $1  \n')],
    ['wrong places in the table', whole.replaceAll(/^0{6}/gm, '000012')],
    ['letters before it', `HTTP/1.1 200 OK\r\n\r\n${whole}`],
  ];
  for (const [name, text] of damaged) {
    const { content, repaired } = await done({
      sources: [source(Buffer.from(text, 'latin1'))],
      steps: [{ type: 'rotate', rotate: 90 }],
    });
    t.match((await openPdf(content)).text, 'Text', name);
    t.strictSame(
      repaired,
      ['letters before it', 'long rows of the table'].includes(name) ? [] : [1],
      name,
    );
  }
});

void test('a PDF that is encrypted for certificates says so', async (t) => {
  const filter =
    '<</Filter/Adobe.PubSec/SubFilter/adbe.pkcs7.s5/V 4/CF<</DefaultCryptFilter<</CFM/AESV2/Length 16' +
    '/Recipients[<00>]>>>>/StmF/DefaultCryptFilter/StrF/DefaultCryptFilter>>';
  const locked = pageOf(stream('', OWN), {
    objects: [filter],
    trailer: '/Encrypt 6 0 R/ID[<00><00>]',
  });
  await t.rejects(done({ sources: [source(locked)], steps: [] }), {
    fault: 'unreadable_pdf',
    message: /^The file is encrypted for certificates, .*: send it without encryption\.$/,
  });
});

void test('titles in each of their encodings are read', async (t) => {
  const titles: readonly (readonly [bytes: string, text: string])[] = [
    ['Price 5 \xa0', 'Price 5 €'],
    ['\x84 \x93\x9e \x8d\x8e \xe9\xff', '— ﬁž “” éÿ'],
    ['\xef\xbb\xbfPrice 5 \xe2\x82\xac', 'Price 5 €'],
    ['\xfe\xff\x20\xac', '€'],
  ];
  for (const [bytes, text] of titles) {
    t.equal(new PdfString(bytes).text, text);
    const pdf = pageOf(stream('', OWN), {
      objects: [LAYER, `<</Title<${Buffer.from(bytes, 'latin1').toString('hex')}>>>`],
      trailer: '/Info 7 0 R',
    });
    t.equal((await done({ sources: [source(pdf)], steps: [] })).title, text);
  }
});
