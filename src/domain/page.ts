/** Sheets and lengths, as requests name them. */
import type { PrintOptions } from './event-fields.ts';

const MM_PER_INCH = 25.4;

const MM_PER_UNIT = { px: MM_PER_INCH / 96, cm: 10, in: MM_PER_INCH, mm: 1 } as const;

/** Upright, in millimetres (ISO 216; ANSI/ASME Y14.1). */
const SHEET_MM: Readonly<Record<PrintOptions['page_size'], readonly [number, number]>> = {
  A3: [297, 420],
  A4: [210, 297],
  A5: [148, 210],
  Letter: [8.5 * MM_PER_INCH, 11 * MM_PER_INCH],
  Legal: [8.5 * MM_PER_INCH, 14 * MM_PER_INCH],
};

export const inches = (millimetres: number): number => millimetres / MM_PER_INCH;

/** The shortest and the longest side of a sheet, in millimetres. */
export const MIN_SIDE_MM = 10;
export const MAX_SIDE_MM = 5_000;

type Paper = Pick<PrintOptions, 'page_size' | 'landscape' | 'width' | 'height' | 'single_page'>;

/** Width and height of the sheet as it is printed on, in millimetres; the most, where the document decides. */
export function sheetMillimetres({
  page_size,
  landscape,
  width,
  height,
  single_page,
}: Paper): readonly [width: number, height: number] {
  const [short, long] = SHEET_MM[page_size];
  const [across, down] = landscape ? [long, short] : [short, long];
  const named = single_page ? MAX_SIDE_MM : down;
  return [
    width === undefined ? across : lengthMillimetres(width),
    height === undefined ? named : lengthMillimetres(height),
  ];
}

/** A CSS length such as `1.5cm` in millimetres. @throws {TypeError} it is none: requests are checked */
export function lengthMillimetres(length: string): number {
  const [, number, unit] = /^(\d*\.?\d+)(px|cm|in|mm)$/.exec(length) ?? [];
  if (number === undefined || unit === undefined) throw new TypeError(`Not a length: ${length}`);
  return Number(number) * MM_PER_UNIT[unit as keyof typeof MM_PER_UNIT];
}

const POINTS_PER_INCH = 72;

/** The same in points. */
export const lengthPoints = (length: string): number =>
  inches(lengthMillimetres(length)) * POINTS_PER_INCH;

export const pointsToMillimetres = (points: number): number =>
  (points / POINTS_PER_INCH) * MM_PER_INCH;
