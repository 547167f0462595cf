import type { PrintOptions } from '../../domain/events.ts';
import { lengthMillimetres, sheetMillimetres } from '../../domain/page.ts';
import type { Issues } from '../schemas/issues.ts';

/** Less than a point of room is none. */
const LEAST_ROOM_MM = 25.4 / 72;

/** Margins must leave room on the page; a page whose size its style sheet chooses is not known yet. */
export function checkMargins(issues: Issues, options: PrintOptions): void {
  if (options.prefer_css_page_size) return;
  const [width, height] = sheetMillimetres(options);
  const sides = [
    ['margin_left', 'margin_right', 'wide', width],
    ['margin_top', 'margin_bottom', 'high', height],
  ] as const;
  for (const [first, second, extent, size] of sides) {
    if (
      size - lengthMillimetres(options[first]) - lengthMillimetres(options[second]) >=
      LEAST_ROOM_MM
    )
      continue;
    const page = `${options.page_size}${options.landscape ? ' landscape' : ''}`;
    const message = `${first} and ${second} leave no room on the page: ${page} is ${+size.toFixed(1)} mm ${extent}.`;
    issues.add(first, message);
    issues.add(second, message);
  }
}

const MAX_PAGE = 100_000;

export function checkPageRanges(issues: Issues, ranges: string): void {
  for (const range of ranges.split(',')) {
    const match = /^\s*(\d{1,6})(?:\s*-\s*(\d{1,6}))?\s*$/.exec(range);
    const first = Number(match?.[1] ?? 0);
    const last = Number(match?.[2] ?? first);
    if (first < 1 || last < first || last > MAX_PAGE) {
      issues.add(
        'page_ranges',
        'Must be page numbers from 1 and ranges of them, such as 1-5, 8, 11-13.',
      );
      return;
    }
  }
}
