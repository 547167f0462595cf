/** Stamps are documents of their own that can load nothing, printed when the sizes of the pages to stamp are known. */
import { DEFAULT_OPTIONS, type PrintOptions } from '../../domain/event-fields.ts';
import { MAX_SIDE_MM, MIN_SIDE_MM, pointsToMillimetres } from '../../domain/page.ts';
import type { Stamp } from '../../domain/request-document.ts';
import type { Size } from '../../pdf/page-geometry.ts';
import type { PrintedStamp } from '../../pdf/work-plan.ts';

/** Without margins and tags: a stamp is no part of the text. Its style sheet may choose the size of its page. */
export const STAMP_OPTIONS: PrintOptions = {
  ...DEFAULT_OPTIONS,
  margin_top: '0mm',
  margin_right: '0mm',
  margin_bottom: '0mm',
  margin_left: '0mm',
  print_background: true,
  prefer_css_page_size: true,
  tagged: false,
  javascript: false,
};

const side = (points: number): string => {
  const millimetres = pointsToMillimetres(points);
  return `${Math.min(MAX_SIDE_MM, Math.max(MIN_SIDE_MM, millimetres)).toFixed(3)}mm`;
};

/** @param paper what the page of the stamp is as large as */
export const stampOptions = (paper: Size | undefined): PrintOptions =>
  paper === undefined
    ? STAMP_OPTIONS
    : { ...STAMP_OPTIONS, width: side(paper.width), height: side(paper.height) };

/** What is printed of a stamp. */
export function printedStamp({ html, image, opacity, fit = 'page' }: Stamp): PrintedStamp {
  const fade = opacity === undefined ? '' : `<style>html{opacity:${opacity}}</style>`;
  if (html !== undefined) return { html: html + fade, fit };
  const most = fit === 'page' ? 'max-width:100%;max-height:100%' : 'flex:none';
  const middle =
    '<style>body{margin:0;position:fixed;inset:0;display:flex;align-items:center;justify-content:center}' +
    `img{${most}}</style>`;
  // Chrome finds out by the content which kind of picture it is. Its size is its own: its paper has that of the page.
  const picture = `<img src="data:image/png;base64,${image ?? ''}">`;
  return { html: `<!doctype html>${middle}${fade}${picture}`, fit: 'page' };
}
