/** One document, from request to PDF, in a tab that is its account's. */
import type { PrintOptions } from '../../domain/events.ts';
import type { RequestDocument } from '../../domain/request-document.ts';
import { type PdfFile, PdfTooLarge, savePdf } from '../pdf/finish.ts';
import type { Connection } from './connection.ts';
import type { Deadline } from './deadline.ts';
import { ChromeGone, PageFailure } from './failure.ts';
import {
  type DocumentSource,
  loadDocument,
  staticMode,
  untilWhole,
  writeDocument,
} from './load.ts';
import { type ExplainNetwork, Navigation } from './navigation.ts';
import {
  BodyHashes,
  noteBrokenImages,
  type PageErrors,
  ResourceLog,
  readPageErrors,
} from './page-log.ts';
import { pageRangeFailure, pagesAskedFor, pdfParts, printPage } from './print.ts';
import {
  maySeeScrolling,
  NetworkActivity,
  scrollThrough,
  settle,
  Waits,
  waitFor,
} from './ready.ts';
import { Tab } from './tab.ts';

export interface RenderOrder extends DocumentSource {
  readonly options: PrintOptions;
  /** A file that is not there yet. */
  readonly outputPath: string;
  readonly explainNetwork: ExplainNetwork;
}

export interface RenderedDocument extends PdfFile {
  /** Milliseconds of each phase. */
  readonly timings: { readonly load: number; readonly ready: number; readonly print: number };
  readonly log: Pick<ResourceLog, 'resources' | 'leftOut'>;
  readonly errors: PageErrors;
  readonly waits: Waits;
}

const NOTHING_FETCHED = { resources: [], leftOut: 0 };
const NO_ERRORS: PageErrors = { errors: [], leftOut: 0 };

/**
 * Leaves the tab as the document left it: whoever owns it closes or resets it.
 * @throws {PageFailure} when the page is at fault
 * @throws {ChromeGone} when the tab or the browser died
 */
export async function renderDocument(
  tab: Tab,
  order: RenderOrder,
  deadline: Deadline,
): Promise<RenderedDocument> {
  const { request, options } = order;
  const started = performance.now();
  tab.begin(deadline);
  const network = request.wait_for?.network_idle === true ? new NetworkActivity(tab) : undefined;
  const hashes = new BodyHashes(tab);
  const log = new ResourceLog(tab, (resource) => hashes.ask(resource));
  const navigation = new Navigation(tab, order.explainNetwork);
  const waits = new Waits();
  // Written into a window, a byte order mark would be the document's first text.
  const html = request.html?.replace(/^\uFEFF/, '');
  const mode = html !== undefined && options.javascript && tab.clean ? staticMode(html) : undefined;
  const isStatic = html !== undefined && mode !== undefined && (tab.mode ?? mode) === mode;
  if (isStatic) tab.mode = mode;
  if (isStatic && request.wait_for === undefined) {
    return await printAtOnce(tab, order, html, deadline);
  }
  await tab.ping('Emulation.setEmulatedMedia', { media: options.media });
  tab.media = options.media;
  if (!options.javascript) {
    // It would hold for the tab's next document too.
    tab.markTainted();
    await tab.send('Emulation.setScriptExecutionDisabled', { value: true });
  }

  const { loaded, capped, syntheticOrigin } = isStatic
    ? await writeDocument(tab, html)
    : await loadDocument(tab, order, navigation, deadline);
  if (loaded) deadline.phase = 'was getting ready';
  const loadedAt = performance.now();
  waits.note('load', loadedAt - started, capped);

  if (request.wait_for) await waitFor(tab, request.wait_for, network, deadline, waits);
  // A load that has not ended is given up: Chrome would wait for it again, two seconds, before printing.
  if (!loaded) await tab.send('Page.stopLoading', undefined);
  if (loaded && !isStatic && maySeeScrolling(request)) await scrollThrough(tab, deadline, waits);
  await untilWhole(tab, navigation, deadline);
  const settled = isStatic || (await settle(tab, navigation, deadline, waits));
  if (!settled) await tab.send('Page.stopLoading', undefined);
  await untilWhole(tab, navigation, deadline);
  if (loaded && settled) deadline.phase = 'was being printed';
  const readyAt = performance.now();

  const stream = await printPage(tab, options, request);
  const [file, errors] = await Promise.all([
    save(tab, order, stream, syntheticOrigin),
    // Nothing runs in a static document, so there is nothing to ask it.
    isStatic ? NO_ERRORS : readPageErrors(tab),
    hashes.settled(),
    isStatic ? undefined : noteBrokenImages(tab, log),
  ]);
  return {
    ...file,
    timings: {
      load: loadedAt - started,
      ready: readyAt - loadedAt,
      print: performance.now() - readyAt,
    },
    log,
    errors,
    waits,
  };
}

/**
 * Writes and prints in one go what has nothing to load or to wait for: the commands are taken in
 * turn, so Chrome need not lay it out for a screen in between.
 */
async function printAtOnce(
  tab: Tab,
  order: RenderOrder,
  html: string,
  deadline: Deadline,
): Promise<RenderedDocument> {
  const { request, options } = order;
  const started = performance.now();
  if (tab.media !== options.media) {
    await tab.ping('Emulation.setEmulatedMedia', { media: options.media });
    tab.media = options.media;
  }
  const writing = writeDocument(tab, html);
  const printing = printPage(tab, options, request);
  // Printing fails as well when writing fails, and nobody asks it why.
  printing.catch(() => {});
  await writing;
  const writtenAt = performance.now();
  deadline.phase = 'was being printed';
  const file = await save(tab, order, await printing, undefined);
  const print = performance.now() - writtenAt;
  const load = writtenAt - started;
  const waits = new Waits();
  waits.note('load', load);
  return {
    ...file,
    timings: { load, ready: 0, print },
    log: NOTHING_FETCHED,
    errors: NO_ERRORS,
    waits,
  };
}

async function save(
  tab: Tab,
  { request, options, outputPath }: RenderOrder,
  stream: string,
  syntheticOrigin: string | undefined,
): Promise<PdfFile> {
  const { metadata } = request;
  const details = { path: outputPath, metadata, syntheticOrigin };
  const file = await savePdf(pdfParts(tab, stream), details).catch((error: unknown) => {
    throw error instanceof PdfTooLarge ? new PageFailure('too_large', error.message) : error;
  });
  const ranges = options.page_ranges;
  if (ranges !== undefined && file.pages < pagesAskedFor(ranges)) throw pageRangeFailure(ranges);
  return file;
}

/**
 * Prints the templates of a document that crashed in a new tab, around nothing. Some header and footer
 * templates crash Chrome's tab each time, so that another try is in vain.
 * @returns the failure that they are, where that tab dies of them too, or does not print
 */
export async function templateFailure(
  connection: Connection,
  request: RequestDocument,
  options: PrintOptions,
  deadline: Deadline,
): Promise<PageFailure | undefined> {
  const { header_html, footer_html } = request;
  const framed = header_html !== undefined || footer_html !== undefined;
  if (!framed || !connection.isOpen) return undefined;
  const { page_ranges: _, ...alone } = options;
  let tab: Tab | undefined;
  try {
    tab = await Tab.open(connection);
    tab.begin(deadline);
    await writeDocument(tab, '<p></p>');
    await printPage(tab, alone, request);
    return undefined;
  } catch (cause) {
    if (cause instanceof PageFailure && cause.code === 'renderer_failed') return cause;
    if (!(cause instanceof ChromeGone) || tab?.crashed !== true) return undefined;
    return new PageFailure(
      'renderer_failed',
      'The browser crashes on the header or footer. They cannot load external files.',
      { cause },
    );
  } finally {
    await tab?.close();
  }
}
