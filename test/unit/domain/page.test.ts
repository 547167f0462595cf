/** Sheets and lengths in millimetres and points, as rulers and printers have them. */
import { test } from 'tap';
import {
  inches,
  lengthMillimetres,
  lengthPoints,
  MAX_SIDE_MM,
  MIN_SIDE_MM,
  pointsToMillimetres,
  sheetMillimetres,
} from '../../../src/domain/page.ts';
import { OPTIONS } from '../../support/samples.ts';

void test('each length is worth its unit', (t) => {
  const cases: readonly (readonly [string, number])[] = [
    ['1mm', 1],
    ['1cm', 10],
    ['1in', 25.4],
    ['96px', 25.4],
    ['0mm', 0],
    ['1.5cm', 15],
    ['.5in', 12.7],
    ['210mm', 210],
  ];
  for (const [length, millimetres] of cases)
    t.equal(lengthMillimetres(length).toFixed(6), millimetres.toFixed(6), length);
  for (const wrong of ['', '1', 'cm', '1pt', '-1cm', '1 cm', '1.cm', 'a1cm', '1cmx', '1e3mm'])
    t.throws(() => lengthMillimetres(wrong), /Not a length/, wrong);
  t.equal(lengthPoints('2in'), 144);
  t.equal(pointsToMillimetres(72), 25.4);
  t.equal(inches(50.8), 2);
  t.end();
});

void test('each sheet has its size, upright and across', (t) => {
  const cases = [
    ['A3', 297, 420],
    ['A4', 210, 297],
    ['A5', 148, 210],
    ['Letter', 215.9, 279.4],
    ['Legal', 215.9, 355.6],
  ] as const;
  const sheet = (page_size: (typeof cases)[number][0], landscape: boolean) =>
    sheetMillimetres({ ...OPTIONS, page_size, landscape }).map((each) => Number(each.toFixed(6)));
  for (const [name, short, long] of cases) {
    t.strictSame(sheet(name, false), [short, long], name);
    t.strictSame(sheet(name, true), [long, short], name);
  }
  t.end();
});

void test('a width and height of their own take the place of the named sheet', (t) => {
  t.strictSame(sheetMillimetres({ ...OPTIONS, width: '10cm' }), [100, 297]);
  t.strictSame(sheetMillimetres({ ...OPTIONS, height: '2in' }), [210, 50.8]);
  t.strictSame(
    sheetMillimetres({ ...OPTIONS, width: '5cm', height: '7cm', landscape: true }),
    [50, 70],
  );
  t.end();
});

void test('a single page is as high as a sheet may be, unless it has a height of its own', (t) => {
  t.strictSame([MIN_SIDE_MM, MAX_SIDE_MM], [10, 5000]);
  const single = { ...OPTIONS, single_page: true };
  t.strictSame(sheetMillimetres(single), [210, 5000]);
  t.strictSame(sheetMillimetres({ ...single, height: '7cm' }), [210, 70]);
  t.end();
});
