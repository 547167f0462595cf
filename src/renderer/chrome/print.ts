/** Prints: turns the options of a conversion into Chrome's print command, and saves the result. */
import type { PrintOptions } from '../../domain/event-fields.ts';
import { inches, lengthMillimetres, sheetMillimetres } from '../../domain/page.ts';
import { needsTags, type RequestDocument } from '../../domain/request-document.ts';
import { CommandRefused, type Params } from '../browser/connection.ts';
import { PageFailure } from '../browser/failure.ts';
import { type PdfFile, PdfTooLarge, savePdf } from '../../pdf/finish.ts';
import type { Sheet } from './single-page.ts';
import type { Tab } from './tab.ts';
import { type VerifyLink, verifyLink } from './verify-link.ts';

/** Few round trips: base64 of this is a message of some megabytes. */
const READ_BYTES = 4 * 1024 * 1024;
// Chrome prints templates of its own where one is missing; this one prints nothing.
const EMPTY_TEMPLATE = '<span></span>';

const marginInches = (length: string): number => inches(lengthMillimetres(length));

/** HTML lies at an address that is made up for it: a header that asks for the address shows none. */
const HIDE_ADDRESS = '.url{display:none!important}';

/**
 * Gives a header or footer its defaults. Chrome prints it in letters of 0.75 pt, from the left edge of the paper. The
 * defaults are a size that can be read and, if the template has no style of its own, the side margins of the page. The rules
 * have no specificity, so that any style of the template goes before them.
 */
function withDefaults(
  template: string | undefined,
  order: RequestDocument,
  options: PrintOptions,
  link?: VerifyLink,
): string {
  if (template === undefined && link === undefined) return EMPTY_TEMPLATE;
  const { margin_left, margin_right } = options;
  const rules = [
    ':where(html){font-size:8pt}',
    ':where(#header,#footer):where(:not(:has([style]:not(.default),style:not(.default)))){' +
      `padding-left:${margin_left};padding-right:${margin_right}}`,
    order.html === undefined ? '' : HIDE_ADDRESS,
    link?.css ?? '',
  ];
  // The link comes first: a template may leave elements open.
  return `<style class=default>${rules.join('')}</style>${link?.html ?? ''}${template ?? ''}`;
}

function printParams(
  options: PrintOptions,
  request: RequestDocument,
  sheet?: Sheet,
): Params<'Page.printToPDF'> {
  const [width, height] = sheetMillimetres(options);
  const { header_html, footer_html, verify_url, pdf } = request;
  const isLink = pdf?.conformance?.some(needsTags) !== true;
  const link = verify_url === undefined ? undefined : verifyLink(verify_url, options, isLink);
  const framed = header_html !== undefined || footer_html !== undefined || link !== undefined;
  return {
    paperWidth: inches(width),
    paperHeight: sheet?.height ?? inches(height),
    marginTop: marginInches(options.margin_top),
    marginRight: marginInches(options.margin_right),
    marginBottom: marginInches(options.margin_bottom),
    marginLeft: marginInches(options.margin_left),
    printBackground: options.print_background,
    scale: options.scale,
    pageRanges: sheet?.isCut === true ? '1' : (options.page_ranges ?? ''),
    preferCSSPageSize: options.prefer_css_page_size,
    displayHeaderFooter: framed,
    headerTemplate: framed ? withDefaults(header_html, request, options) : '',
    footerTemplate: framed ? withDefaults(footer_html, request, options, link) : '',
    // Chrome makes the outline from the tags.
    generateTaggedPDF: options.tagged || options.outline,
    generateDocumentOutline: options.outline,
    transferMode: 'ReturnAsStream',
  };
}

/** @returns the handle of the stream that the PDF is read from */
export async function printPage(
  tab: Tab,
  options: PrintOptions,
  request: RequestDocument,
  sheet?: Sheet,
): Promise<string> {
  try {
    const { stream } = await tab.send('Page.printToPDF', printParams(options, request, sheet));
    if (stream === undefined) throw new Error('Chrome printed without a stream');
    return stream;
  } catch (cause) {
    if (!(cause instanceof CommandRefused)) throw cause;
    if (/page range/i.test(cause.message)) {
      throw pageRangeFailure(options.page_ranges ?? '', cause);
    }
    throw new PageFailure(
      'renderer_failed',
      'Chrome could not print the page with these options. Margins, scale, page size, header or ' +
        'footer may leave it no room, and a header or footer cannot load external files.',
      { cause },
    );
  }
}

export interface PrintOrder {
  readonly request: RequestDocument;
  readonly options: PrintOptions;
  /** @see savePdf */
  readonly pageTitle: string | undefined;
  /** A file that is not there yet. */
  readonly outputPath: string;
  /** The PDF is dated to this. */
  readonly fixedTime?: number | undefined;
}

/**
 * Saves what `printPage` printed.
 * @throws {PageFailure} `too_large`; `page_range` where fewer pages were printed than are asked for
 */
export async function savePrinted(
  tab: Tab,
  { request, options, pageTitle, outputPath, fixedTime }: PrintOrder,
  stream: string,
): Promise<PdfFile> {
  const { html, metadata } = request;
  const origin = html === undefined ? undefined : tab.window?.origin;
  const syntheticOrigin = origin && `${origin}/`;
  const details = { path: outputPath, metadata, pageTitle, syntheticOrigin, fixedTime };
  const file = await savePdf(pdfParts(tab, stream), details).catch((error: unknown) => {
    throw error instanceof PdfTooLarge ? new PageFailure('too_large', error.message) : error;
  });
  const ranges = options.page_ranges;
  if (ranges !== undefined && file.pages < pagesAskedFor(ranges)) throw pageRangeFailure(ranges);
  return file;
}

/** The content of a stream that `printPage` returned. Closes the stream, for Chrome keeps a file for each. */
async function* pdfParts(tab: Pick<Tab, 'send'>, handle: string): AsyncGenerator<Buffer> {
  const read = () => {
    const part = tab.send('IO.read', { handle, size: READ_BYTES });
    // One that is asked for beyond the end is not waited for.
    part.catch(() => {});
    return part;
  };
  try {
    // Chrome tells the end with a part of its own: the next one is always asked for already.
    let [part, next] = [read(), read()];
    for (;;) {
      const { data, base64Encoded, eof } = await part;
      yield Buffer.from(data, base64Encoded === true ? 'base64' : 'utf8');
      if (eof) return;
      [part, next] = [next, read()];
    }
  } finally {
    // Nobody waits for it, and a tab that is gone took its streams along.
    tab.send('IO.close', { handle }).catch(() => {});
  }
}

function pageRangeFailure(ranges: string, cause?: unknown): PageFailure {
  return new PageFailure(
    'page_range',
    `The page ranges ${JSON.stringify(ranges)} do not fit the document: a page is asked for that it ` +
      'does not have.',
    { cause },
  );
}

/** The pages that ranges ask for by number, at least; `3-` asks for page 3. */
function pagesAskedFor(ranges: string): number {
  const pages = new Set<number>();
  for (const range of ranges.split(',')) {
    const [, from = '', dash, to = ''] = /^\s*(\d*)\s*(-?)\s*(\d*)\s*$/.exec(range) ?? [];
    const first = Number(from === '' ? 1 : from);
    const last = dash === '-' ? Number(to === '' ? first : to) : first;
    for (let page = first; page <= Math.min(last, first + 100_000); page += 1) pages.add(page);
  }
  return pages.size;
}
