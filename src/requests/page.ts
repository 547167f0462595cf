/** The rules of the paper, and of the surroundings of a page, that a schema cannot say. */
import { DEFAULT_VIEWPORT, PDF_ALONE, type PrintOptions } from '../domain/event-fields.ts';
import { lengthMillimetres, MAX_SIDE_MM, MIN_SIDE_MM, sheetMillimetres } from '../domain/page.ts';
import { MAX_CSS_BYTES, MAX_WINDOW_PIXELS } from './page-schema.ts';
import type { ConversionRequest } from './schema.ts';
import type { ValidationIssues } from './validation.ts';

/** Less than a point of room is none. */
const LEAST_ROOM_MM = 25.4 / 72;

/** Adds all that is wrong with the paper and its margins. */
export function checkPaper(
  issues: ValidationIssues,
  request: ConversionRequest,
  options: PrintOptions,
): void {
  if (options.format !== 'pdf') {
    for (const name of PDF_ALONE) {
      if (request[name] === undefined) continue;
      issues.add(name, `Is for PDFs alone: leave it out where format is ${options.format}.`);
    }
    return;
  }
  checkSides(issues, request);
  if (!['width', 'height'].some((side) => issues.has(side))) checkMargins(issues, options);
}

function checkSides(issues: ValidationIssues, request: ConversionRequest): void {
  const { width, height, page_size, landscape, single_page = false } = request;
  for (const [side, length] of Object.entries({ width, height })) {
    const millimetres = length === undefined ? MIN_SIDE_MM : lengthMillimetres(length);
    if (millimetres < MIN_SIDE_MM || millimetres > MAX_SIDE_MM) {
      issues.add(side, `Must be from ${MIN_SIDE_MM}mm to ${MAX_SIDE_MM}mm.`);
    }
  }
  if (single_page) {
    for (const name of ['height', 'page_ranges', 'prefer_css_page_size'] as const) {
      if (request[name] === undefined || request[name] === false) continue;
      issues.add(name, 'Cannot be combined with single_page: leave it out.');
    }
  } else if (width !== undefined && height === undefined && !issues.has('height')) {
    issues.add('width', 'Goes with height, or with single_page: give one of them.');
  } else if (height !== undefined && width === undefined && !issues.has('width')) {
    issues.add('height', 'Goes with width: give both.');
  }
  if (width === undefined && height === undefined) return;
  if (page_size !== undefined) {
    issues.add('page_size', 'Cannot be combined with width and height: leave it out.');
  }
  if (landscape === true) {
    issues.add(
      'landscape',
      'Cannot be combined with width and height: give the longer one as width.',
    );
  }
}

/** Margins must leave room on the page; a page whose size its style sheet chooses is not known yet. */
function checkMargins(issues: ValidationIssues, options: PrintOptions): void {
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
    const named = `${options.page_size}${options.landscape ? ' landscape' : ''}`;
    const page = options.width === undefined ? named : 'it';
    const message = `${first} and ${second} leave no room on the page: ${page} is ${+size.toFixed(1)} mm ${extent}.`;
    issues.add(first, message);
    issues.add(second, message);
  }
}

type Surroundings = Pick<PrintOptions, 'viewport' | 'timezone' | 'locale'>;

/** Checks what the page is to find around it, and what is added to it. @returns those options in their whole form */
export function surroundings(issues: ValidationIssues, request: ConversionRequest): Surroundings {
  const { css, viewport, timezone, locale } = request;
  if (css !== undefined && Buffer.byteLength(css) > MAX_CSS_BYTES) {
    issues.add('css', `Must have at most ${MAX_CSS_BYTES} bytes in UTF-8.`);
  }
  return {
    ...(viewport && { viewport: wholeViewport(issues, viewport) }),
    ...(timezone !== undefined && { timezone: knownTimezone(issues, timezone) }),
    ...(locale !== undefined && { locale: knownLocale(issues, locale) }),
  };
}

function wholeViewport(
  issues: ValidationIssues,
  given: NonNullable<ConversionRequest['viewport']>,
): NonNullable<PrintOptions['viewport']> {
  const viewport = { ...DEFAULT_VIEWPORT, ...given };
  const { width, height, device_scale_factor } = viewport;
  if (width * height * device_scale_factor ** 2 > MAX_WINDOW_PIXELS) {
    issues.add(
      'viewport',
      `Must have at most ${MAX_WINDOW_PIXELS} pixels: width × height × device_scale_factor².`,
    );
  }
  return viewport;
}

function knownTimezone(issues: ValidationIssues, timezone: string): string {
  try {
    const known = new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone;
    // `Intl` knows offsets such as +01:00 too, and Chrome does not take them.
    if (/^[A-Z]/i.test(known)) return known;
  } catch {
    // It is not known.
  }
  issues.add('timezone', 'Must be a time zone of the IANA database, such as Europe/Zurich.');
  return timezone;
}

function knownLocale(issues: ValidationIssues, locale: string): string {
  try {
    const [known] = Intl.DateTimeFormat.supportedLocalesOf(locale);
    if (known !== undefined) return known;
  } catch {
    // It is not of the form of BCP 47.
  }
  issues.add('locale', 'Must be a language that is known (BCP 47), such as de-CH.');
  return locale;
}
