/**
 * One page that is as long as the document: measures the document as it will stand on paper, and prints it on a sheet of
 * that length. Page breaks and `@page` of the document do not count.
 */
import { rm } from 'node:fs/promises';
import type { PrintOptions } from '../../domain/event-fields.ts';
import {
  inches,
  lengthMillimetres,
  MAX_SIDE_MM,
  MIN_SIDE_MM,
  sheetMillimetres,
} from '../../domain/page.ts';
import { PageFailure } from '../browser/failure.ts';
import type { PdfFile } from '../../pdf/finish.ts';
import { type Page, upTo } from './page.ts';
import { endWindow, setWindow } from './surroundings.ts';

const PIXELS_PER_INCH = 96;
/** What is added to the length where the first one has not been enough: paper is laid out a little otherwise than a screen. */
const SLACK = 1.05;
const SLACK_PIXELS = 20;
const MAX_TRIES = 4;
/** Chrome shrinks a document that is wider than its paper by this at most. */
const MAX_SHRINK = 2;

/** The part of the sheet that is printed on. */
export interface Sheet {
  /** Inches. */
  readonly height: number;
  /** True where only empty boxes are below it: the page after it is left out. */
  readonly isCut: boolean;
}

/** The rules that keep a document from being parted into pages. */
export const onePageRules = (options: PrintOptions): string =>
  `@page{size:auto!important;margin:${(['top', 'right', 'bottom', 'left'] as const)
    .map((side) => options[`margin_${side}`])
    .join(' ')}!important}` +
  '*,::before,::after{break-before:auto!important;break-after:auto!important;page:auto!important}';

const pixels = (millimetres: number): number => inches(millimetres) * PIXELS_PER_INCH;
const marginsOf = (
  options: PrintOptions,
  first: 'top' | 'left',
  last: 'bottom' | 'right',
): number =>
  lengthMillimetres(options[`margin_${first}`]) + lengthMillimetres(options[`margin_${last}`]);

interface Extent {
  readonly width: number;
  readonly height: number;
  /** The lower edge of the last text or picture. */
  readonly bottom: number;
}

/**
 * Prints the document on one page.
 * @param print prints it on the sheet and saves that
 * @throws {PageFailure} `too_large` when it is too long, or does not stay on one page
 */
export async function printOnOnePage(
  page: Page,
  options: PrintOptions,
  print: (sheet: Sheet) => Promise<PdfFile>,
): Promise<PdfFile> {
  const margins = marginsOf(options, 'top', 'bottom');
  const across = pixels(sheetMillimetres(options)[0] - marginsOf(options, 'left', 'right'));
  const width = Math.max(1, Math.floor(across / options.scale));
  const sheetOf = (height: number): number =>
    Math.max(MIN_SIDE_MM, (height * options.scale * 25.4) / PIXELS_PER_INCH + margins);
  // In a window that is hardly tall, an element that is as tall as the window adds nothing.
  let { height, factor } = await measured(page, options, width);
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const millimetres = sheetOf(height);
    if (millimetres > MAX_SIDE_MM) throw tooLong(millimetres);
    const sheet = { height: inches(millimetres), isCut: false };
    const file = await print(sheet);
    if (file.pages === 1) return file;
    await rm(file.path);
    const { bottom } = await extent(page, options, width * factor, height * factor);
    const isEmptyBelow = tries > 0 && bottom <= height * factor;
    if (isEmptyBelow) return await print({ ...sheet, isCut: true });
    height = Math.max(height, bottom / factor) * SLACK + SLACK_PIXELS;
  }
  throw new PageFailure(
    'too_large',
    'The document does not stay on one page: a part of it is as tall as the page whatever its height (100vh), or a page ' +
      'break is forced by !important. Change that, by css if need be, or leave single_page out.',
  );
}

const tooLong = (millimetres: number): PageFailure =>
  new PageFailure(
    'too_large',
    `The document would be ${(millimetres / 1000).toFixed(1)} m long on one page, of at most ${MAX_SIDE_MM / 1000} m. ` +
      'Leave single_page out, make the paper wider, or the scale smaller.',
  );

/** @returns the height in pixels of the paper, and the pixels of the document for each of its width */
async function measured(
  page: Page,
  options: PrintOptions,
  width: number,
): Promise<{ readonly height: number; readonly factor: number }> {
  const first = await extent(page, options, width, 1);
  if (first.width <= width) return { height: first.height + 1, factor: 1 };
  const factor = Math.min(first.width / width, MAX_SHRINK);
  const { height } = await extent(page, options, width * factor, 1);
  return { height: height / factor + 1, factor };
}

/** The extent of the document in a window of this size. */
async function extent(
  page: Page,
  { viewport }: PrintOptions,
  width: number,
  height: number,
): Promise<Extent> {
  const { tab, worlds } = page;
  const size = { width: Math.floor(width), height: Math.max(1, Math.ceil(height)) };
  await setWindow(tab, size, viewport);
  const found = await upTo(page, 'rest', worlds.ask<Extent>('extent()'));
  await endWindow(tab, viewport);
  if (found === undefined) {
    throw new PageFailure('renderer_failed', 'The page did not tell how long it is.');
  }
  return found;
}
