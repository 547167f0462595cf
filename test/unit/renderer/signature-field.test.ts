/** The place of a signature's field on a page as it is shown, and what the field says. */
import { test } from 'tap';
import type { PageGeometry } from '../../../src/pdf/page-geometry.ts';
import { type FieldMisplaced, placed } from '../../../src/pdf/signature-field.ts';
import { fieldPage, shownText } from '../../../src/renderer/finishing/signature-field.ts';

const A4: PageGeometry = { box: [0, 0, 600, 800], rotate: 0, unit: 1 };
/** 10 points from the left, 20 from the top, 100 wide and 50 high. */
const FIELD = { x: 10, y: 20, width: 100, height: 50 };

type Rect = readonly number[];

/** Where a point of the page is when the page is shown, in points from its top left corner. */
function seen(
  { box: [left, bottom, right, top], rotate, unit }: PageGeometry,
  x: number,
  y: number,
) {
  const [fromLeft, fromTop] = [(x - left) * unit, (top - y) * unit];
  const [width, height] = [(right - left) * unit, (top - bottom) * unit];
  switch (rotate) {
    case 90:
      return [height - fromTop, fromLeft];
    case 180:
      return [width - fromLeft, height - fromTop];
    case 270:
      return [fromTop, width - fromLeft];
    default:
      return [fromLeft, fromTop];
  }
}

const PAGES: readonly (readonly [string, PageGeometry, Rect])[] = [
  ['upright', A4, [10, 730, 110, 780]],
  ['turned by 90', { ...A4, rotate: 90 }, [20, 10, 70, 110]],
  ['turned by 180', { ...A4, rotate: 180 }, [490, 20, 590, 70]],
  ['turned by 270', { ...A4, rotate: 270 }, [530, 690, 580, 790]],
  ['of a part of its sheet', { ...A4, box: [100, 200, 500, 700] }, [110, 630, 210, 680]],
  ['of a part, turned', { box: [100, 200, 500, 700], rotate: 90, unit: 1 }, [120, 210, 170, 310]],
  ['with a large unit', { box: [0, 0, 60, 80], rotate: 0, unit: 10 }, [1, 73, 11, 78]],
  ['with a large unit, turned', { box: [0, 0, 60, 80], rotate: 270, unit: 10 }, [53, 69, 58, 79]],
];

for (const [name, page, expected] of PAGES) {
  void test(`a field is where it is asked for on a page ${name}`, (t) => {
    const { rect, matrix } = placed(page, FIELD);
    t.strictSame(rect, expected);
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = rect;
    const corners = [seen(page, x0, y0), seen(page, x1, y1)];
    const sorted = (n: 0 | 1) => corners.map((each) => each[n] ?? 0).toSorted((a, b) => a - b);
    t.strictSame(
      [sorted(0), sorted(1)],
      [
        [10, 110],
        [20, 70],
      ],
      'as people see it',
    );
    // The upper side of the picture is up when the page is shown.
    const [, , c = 0, d = 1] = matrix ?? [];
    const middle = seen(page, 0, 0);
    const above = seen(page, c, d);
    const up = [0, 1].map((n) => Math.round(((above[n] ?? 0) - (middle[n] ?? 0)) / page.unit));
    t.strictSame(
      up.map((each) => each + 0),
      [0, -1],
      'upright',
    );
    t.end();
  });
}

void test('a field beyond its page is refused, in words, and half a point is not', (t) => {
  const wide = { ...FIELD, x: 500.5 };
  t.strictSame(placed(A4, wide).rect, [500.5, 730, 600, 780], 'it ends with the page');
  const cases: readonly (readonly [PageGeometry, object])[] = [
    [A4, { x: 502 }],
    [A4, { y: 752 }],
    [{ ...A4, rotate: 90 }, { y: 552 }],
    [{ ...A4, unit: 0.5 }, { x: 202 }],
  ];
  for (const [page, place] of cases) {
    const what = JSON.stringify(place);
    t.throws(() => placed(page, { ...FIELD, ...place }), { code: 'not_signed' }, what);
  }
  try {
    placed({ ...A4, rotate: 90 }, { ...FIELD, y: 552 });
  } catch (error) {
    t.match(
      (error as FieldMisplaced).message,
      /ends 38\.8 mm from the left and 212\.4 mm from the top, but its page is 282\.2 mm wide and 211\.7 mm high/,
    );
  }
  t.end();
});

const TIME = new Date('2026-11-27T03:04:05.678Z');

void test('a field says who signs, when, why and where, and all of it is text', (t) => {
  const texts = { reason: '<b>Approved</b> & "read"', location: 'Köln' };
  const shown = { signer: '<script>Ada</script>', time: TIME, texts };
  const said = '<script>Ada</script>, 2026-11-27 03:04:05 UTC, <b>Approved</b> & "read", Köln';
  t.equal(shownText(shown), said);
  const page = fieldPage(shown, { x: '0mm', y: '0mm', width: '70mm', height: '20mm' });
  t.match(page, '&#60;script&#62;Ada&#60;/script&#62;');
  t.match(page, '&#60;b&#62;Approved&#60;/b&#62; &#38; &#34;read&#34;');
  t.equal(page.match(/<script>/g)?.length, 1, 'the script is ours');
  t.equal(shownText({ signer: '', time: TIME, texts: {} }), '2026-11-27 03:04:05 UTC');
  t.end();
});
