/** The size of a page as it is shown, and how it is turned for that. */
import { inherited } from './page-tree.ts';
import type { PdfObjects } from './pdf-objects.ts';
import { MalformedPdf, type PdfValue, type Ref } from './values.ts';

export interface PageGeometry {
  /** The part of the page that is shown: left, bottom, right, top, in units of the page. */
  readonly box: readonly [number, number, number, number];
  /** Degrees that the page is turned by when it is shown, clockwise. */
  readonly rotate: number;
  /** Points of a unit of the page. */
  readonly unit: number;
}

/** Turns what lies on the page against it, so that it stands upright when the page is shown (ISO 32000-1, 12.5.5). */
export const UPRIGHT: Readonly<Record<number, readonly number[]>> = {
  90: [0, 1, -1, 0, 0, 0],
  180: [-1, 0, 0, -1, 0, 0],
  270: [0, -1, 1, 0, 0, 0],
};

const numbersIn = (objects: PdfObjects, value: PdfValue): readonly number[] =>
  objects.list(value).map((each) => {
    const number = objects.resolve(each);
    return typeof number === 'number' ? number : 0;
  });

type Box = PageGeometry['box'];

export function boxIn(objects: PdfObjects, page: Ref, key: string): Box | undefined {
  const [x0, y0, x1, y1] = numbersIn(objects, inherited(objects, page, key));
  if (x0 === undefined || y0 === undefined || x1 === undefined || y1 === undefined)
    return undefined;
  return [Math.min(x0, x1), Math.min(y0, y1), Math.max(x0, x1), Math.max(y0, y1)];
}

/** Points of a page as it is shown, or of paper. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The size of a page as it is shown. */
export function shownSize({ box: [left, bottom, right, top], rotate, unit }: PageGeometry): Size {
  const [across, down] = [(right - left) * unit, (top - bottom) * unit];
  const isTurned = rotate % 180 !== 0;
  return isTurned ? { width: down, height: across } : { width: across, height: down };
}

const hasArea = ([left, bottom, right, top]: Box): boolean => right > left && top > bottom;

/** @throws {MalformedPdf} */
export function geometryOf(objects: PdfObjects, page: Ref): PageGeometry {
  const media = boxIn(objects, page, 'MediaBox');
  if (media === undefined) throw new MalformedPdf('a page has no size');
  const crop = boxIn(objects, page, 'CropBox') ?? media;
  // What is shown is never more than the page.
  const common: Box = [
    Math.max(media[0], crop[0]),
    Math.max(media[1], crop[1]),
    Math.min(media[2], crop[2]),
    Math.min(media[3], crop[3]),
  ];
  const turned = inherited(objects, page, 'Rotate');
  const unit = objects.resolve(objects.dictionary(page).get('UserUnit'));
  return {
    box: hasArea(common) ? common : media,
    rotate: typeof turned === 'number' ? ((turned % 360) + 360) % 360 : 0,
    unit: typeof unit === 'number' && unit > 0 ? unit : 1,
  };
}
