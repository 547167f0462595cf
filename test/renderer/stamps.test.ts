/** How large a stamp is on pages of any size: it fills each of them, or has its own size in the middle. */
import tap, { test } from 'tap';
import type { RequestDocument, Stamp } from '../../src/domain/request-document.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { paint } from '../support/same-pdf.ts';
import { accountId } from '../support/samples.ts';
import { pdfOfObjects } from '../support/written-pdf.ts';

const renderer = await startTestRenderer();
tap.teardown(() => renderer.close());

const ACCOUNT = accountId();
const made = async (request: RequestDocument) => await renderer.bytes(request, {}, ACCOUNT);

/** Red all over, with a blue quarter at the top left. */
const FILLING =
  '<style>p{margin:0;position:fixed;background:#f00;inset:0}b{position:fixed;inset:0 50% 50% 0;background:#00f}</style><p></p><b></b>';

type Pixels = Awaited<ReturnType<typeof paint>>[number];

function colourAt({ width, pixels }: Pixels, x: number, y: number): string {
  const at = (Math.floor(y) * width + Math.floor(x)) * 4;
  const [red = 0, green = 0, blue = 0] = pixels.slice(at, at + 3);
  if (red > 200 && green < 80 && blue < 80) return 'red';
  if (blue > 200 && red < 80) return 'blue';
  return red > 200 && green > 200 ? 'white' : `${red} ${green} ${blue}`;
}

/** The colours near the corners of a page as it is shown, from the top left, row by row, and in its middle. */
const looks = (page: Pixels, away = 5): string => {
  const [right, bottom] = [page.width - away, page.height - away];
  const places = [
    [away, away],
    [right, away],
    [page.width * 0.55, page.height * 0.55],
    [away, bottom],
    [right, bottom],
  ] as const;
  return places.map(([x, y]) => colourAt(page, x, y)).join(' ');
};
const FILLED = 'blue red red red red';

const page = (entries: string): string => `<</Type/Page/Parent 2 0 R/Resources<<>>${entries}>>`;
const pdfOfPages = (pages: readonly string[]): Buffer =>
  pdfOfObjects([
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Count ${pages.length}/Kids[${pages.map((_, n) => `${n + 3} 0 R`).join(' ')}]>>`,
    ...pages.map(page),
  ]);

/** Portrait, landscape, turned, cropped, with a trim box within or beyond, with units of its own, far from zero, odd. */
const PAGES: readonly (readonly [what: string, entries: string])[] = [
  ['A4', '/MediaBox[0 0 595 842]'],
  ['A4 landscape', '/MediaBox[0 0 842 595]'],
  ['A4 that is shown as landscape', '/MediaBox[0 0 595 842]/Rotate 90'],
  ['A4 on its head', '/MediaBox[0 0 595 842]/Rotate 180'],
  ['landscape that is shown upright', '/MediaBox[0 0 842 595]/Rotate -90'],
  ['a part of a page', '/MediaBox[0 0 595 842]/CropBox[100 400 500 500]'],
  ['a part of a page that is turned', '/MediaBox[0 0 595 842]/CropBox[100 400 500 500]/Rotate 270'],
  ['a part that is larger than the page', '/MediaBox[0 0 300 200]/CropBox[-500 -500 900 900]'],
  ['a part that is beside the page', '/MediaBox[0 0 300 200]/CropBox[400 400 500 500]'],
  ['a trim box', '/MediaBox[0 0 600 400]/TrimBox[50 50 550 350]'],
  [
    'a trim box that is not shown',
    '/MediaBox[0 0 600 400]/CropBox[0 0 300 100]/TrimBox[0 0 600 400]',
  ],
  ['a trim box without area', '/MediaBox[0 0 600 400]/TrimBox[0 0 0 0]'],
  ['units of two points', '/MediaBox[0 0 300 200]/UserUnit 2'],
  ['units of half a point, turned', '/MediaBox[0 0 900 300]/UserUnit .5/Rotate 90'],
  ['far from zero', '/MediaBox[-1000 2000 -600 2200]'],
  ['from the top right', '/MediaBox[300 500 0 0]'],
  ['a label', '/MediaBox[0 0 144 50]'],
];

/** As many as are painted of a document. */
const PAINTED = 15;

async function stamped(entries: readonly string[], stamp: Stamp): Promise<readonly Pixels[]> {
  const file = pdfOfPages(entries).toString('base64');
  const document = { sources: [{ file }], steps: [{ type: 'stamp', ...stamp }] } as const;
  return await paint(await made({ document }), 1);
}

void test('a stamp fills each page as it is shown, whatever its size', async (t) => {
  for (let from = 0; from < PAGES.length; from += PAINTED) {
    const some = PAGES.slice(from, from + PAINTED);
    const pages = await stamped(
      some.map(([, entries]) => entries),
      { html: FILLING },
    );
    t.strictSame(
      pages.map((each, n) => [some[n]?.[0], looks(each)]),
      some.map(([what]) => [what, FILLED]),
    );
  }
});

void test('so it does on pages that are printed, and is as large as its lengths say', async (t) => {
  const style =
    '<style>@page{size:A5;margin:0}@page wide{size:300mm 100mm;margin:0}.wide{page:wide}</style>';
  const html = `<!doctype html>${style}<p>one<p class=wide>two`;
  const pdf = { stamp: { html: FILLING, pages: '1-2' } };
  const options = { prefer_css_page_size: true };
  const filled = await paint(await renderer.bytes({ html, pdf }, options, ACCOUNT), 1);
  t.strictSame(
    filled.map((each) => looks(each)),
    [FILLED, FILLED],
  );
  const box = '<style>p{margin:0;position:fixed;inset:0 auto auto 0;background:#f00';
  const sized = { stamp: { html: `${box};width:100mm;height:50mm}</style><p>` } };
  const both = await paint(await renderer.bytes({ html, pdf: sized }, options, ACCOUNT), 1);
  for (const painted of both) {
    // 100 mm are 283.5 points, 50 mm are 141.7.
    t.equal(colourAt(painted, 281, 139), 'red');
    t.equal(colourAt(painted, 286, 139), 'white');
    t.equal(colourAt(painted, 281, 144), 'white');
  }
});

/** Which part of a line through the middle is red, in points. */
function redPart(painted: Pixels, along: 'x' | 'y'): readonly [from: number, to: number] {
  const { width, height } = painted;
  const places = Array.from({ length: along === 'x' ? width : height }, (_, n) => n).filter(
    (n) =>
      (along === 'x' ? colourAt(painted, n, height / 2) : colourAt(painted, width / 2, n)) ===
      'red',
  );
  return [places.at(0) ?? -1, (places.at(-1) ?? -1) + 1];
}

const isNear = (one: readonly number[], other: readonly number[]): boolean =>
  one.every((each, n) => Math.abs(each - (other[n] ?? Number.NaN)) <= 2);

/** 100 by 60 points. */
const SMALL = '<style>@page{size:100pt 60pt}html{background:#f00}</style>';

void test('a stamp that names its paper is fitted into the page, or has its size in the middle', async (t) => {
  const pages = [
    '/MediaBox[0 0 300 400]',
    '/MediaBox[0 0 300 400]/Rotate 90',
    '/MediaBox[100 100 250 300]/UserUnit 2/Rotate 270',
    '/MediaBox[0 0 900 900]/CropBox[200 300 500 700]',
  ];
  const [upright, turned] = [
    { x: [0, 300], y: [110, 290] },
    { x: [0, 400], y: [30, 270] },
  ];
  const fitted = [upright, turned, turned, upright];
  for (const [n, painted] of (await stamped(pages, { html: SMALL })).entries()) {
    t.ok(isNear(redPart(painted, 'x'), fitted[n]?.x ?? []), redPart(painted, 'x').join());
    t.ok(isNear(redPart(painted, 'y'), fitted[n]?.y ?? []), redPart(painted, 'y').join());
  }
  for (const painted of await stamped(pages, { html: SMALL, fit: 'none' })) {
    const [x, y] = [painted.width / 2, painted.height / 2];
    t.ok(isNear(redPart(painted, 'x'), [x - 50, x + 50]), redPart(painted, 'x').join());
    t.ok(isNear(redPart(painted, 'y'), [y - 30, y + 30]), redPart(painted, 'y').join());
  }
});

void test('a picture is at most as large as the page, or as large as it is', async (t) => {
  const html = '<style>html{background:#f00}</style>';
  const viewport = { width: 200, height: 100, device_scale_factor: 1 };
  const taken = await renderer.bytes({ html }, { format: 'png', viewport }, ACCOUNT);
  const image = taken.toString('base64');
  // 200 by 100 pixels are 150 by 75 points.
  const pages = ['/MediaBox[0 0 400 300]', '/MediaBox[0 0 100 200]', '/MediaBox[0 0 400 30]'];
  const fitted = [
    { x: [125, 275], y: [112, 188] },
    { x: [0, 100], y: [75, 125] },
    { x: [170, 230], y: [0, 30] },
  ];
  const own = [
    { x: [125, 275], y: [112, 188] },
    { x: [0, 100], y: [62, 138] },
    { x: [125, 275], y: [0, 30] },
  ];
  for (const [fit, expected] of [['page', fitted] as const, ['none', own] as const]) {
    for (const [n, painted] of (await stamped(pages, { image, fit })).entries()) {
      const [x, y] = [redPart(painted, 'x'), redPart(painted, 'y')];
      t.ok(isNear(x, expected[n]?.x ?? []), `${fit}, page ${n + 1}: ${x.join()}`);
      t.ok(isNear(y, expected[n]?.y ?? []), `${fit}, page ${n + 1}: ${y.join()}`);
    }
  }
});

void test('pages that differ a little share a stamp, and there are not too many sizes', async (t) => {
  const scans = Array.from(
    { length: 15 },
    (_, n) => `/MediaBox[0 0 ${595 + (n % 5)} ${842 - (n % 7)}]`,
  );
  for (const painted of await stamped(scans, { html: FILLING })) {
    t.equal(looks(painted, 10), FILLED, `${painted.width} ${painted.height}`);
  }
  const sizes = Array.from(
    { length: 51 },
    (_, n) => `/MediaBox[0 0 ${(100 * 1.02 ** n).toFixed(2)} 300]`,
  );
  const file = pdfOfPages(sizes).toString('base64');
  const work = (stamp: Stamp) =>
    ({ document: { sources: [{ file }], steps: [{ type: 'stamp', ...stamp }] } }) as const;
  const refused = await renderer.render(work({ html: FILLING }), {}, undefined, ACCOUNT);
  t.match(refused, { kind: 'failed', code: 'too_large', message: /51 sizes.*50 at most/ });
  for (const stamp of [
    { html: FILLING, pages: '1-50' },
    { html: FILLING, fit: 'none' },
  ] as const) {
    const result = await renderer.render(work(stamp), {}, undefined, ACCOUNT);
    t.match(result, { kind: 'completed', pages: 51 });
  }
});
