/** One document, from request to PDF, in a tab that is its account's. */
import type { PrintOptions } from '../../domain/events.ts';
import type { RequestDocument } from '../../domain/request-document.ts';
import type { PdfFile } from '../pdf/finish.ts';
import type { Connection } from './connection.ts';
import { type Deadline, resultWithin } from './deadline.ts';
import { PageFailure } from './failure.ts';
import { loadDocument, writeDocument } from './load.ts';
import type { Egress } from './navigation.ts';
import { followPage, type Page } from './page.ts';
import { type PageErrors, readPageErrors } from './page-log.ts';
import { type PrintOrder, printPage, savePrinted } from './print.ts';
import { settle } from './settle.ts';
import { Tab } from './tab.ts';

export interface RenderOrder extends PrintOrder {
  readonly egress: Egress;
}

export interface RenderedDocument extends PdfFile {
  /** Milliseconds of each phase. */
  readonly timings: { readonly load: number; readonly ready: number; readonly print: number };
  readonly page: Pick<Page, 'requests' | 'waits'>;
  readonly errors: PageErrors;
  /** The title that the page had when it was printed, as it is; empty if it had none. */
  readonly title: string;
}

/** A step of a page that takes longer may wait for frames. Those of most pages do not, and each frame has its price. */
const UNHURRIED_MS = 500;
const TITLE_CAP_MS = 500;
/** More than is kept of it. */
const MAX_TITLE_CHARACTERS = 1_000;

/**
 * Loads a document, completes it and prints it. Leaves the tab as the document left it: the owner closes or resets it.
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
  const page = followPage(tab, request, deadline, order.egress);
  await prepare(tab, options);
  const { loaded, capped } = await tab.frames.during(loadDocument(page), UNHURRIED_MS);
  if (loaded) deadline.phase = 'was getting ready';
  const loadedAt = performance.now();
  page.waits.note('load', loadedAt - started, capped);

  const { isComplete, broken } = await tab.frames.during(
    settle(page, loaded, options.media),
    request.wait_for ? 0 : UNHURRIED_MS,
  );
  if (loaded && isComplete) deadline.phase = 'was being printed';
  const readyAt = performance.now();

  const stream = await printPage(tab, options, request);
  const [file, errors, title] = await Promise.all([
    savePrinted(tab, order, stream),
    readPageErrors(tab),
    readTitle(page),
    page.hashes.settled(),
  ]);
  for (const image of broken) page.requests.noteBroken(image);
  return {
    ...file,
    timings: {
      load: loadedAt - started,
      ready: readyAt - loadedAt,
      print: performance.now() - readyAt,
    },
    page,
    errors,
    title,
  };
}

/** Reads the title of the page; it may be empty. Never rejects: a page that does not answer has none. */
async function readTitle({ worlds, tab }: Page): Promise<string> {
  const asked = worlds.ask<string>(`title(${MAX_TITLE_CHARACTERS})`);
  const title = await resultWithin(
    asked.then((answer) => answer ?? ''),
    TITLE_CAP_MS,
  ).catch(() => '');
  // The script that keeps it from answering would keep the next document waiting.
  if (title === undefined) tab.markTainted();
  return title ?? '';
}

async function prepare(tab: Tab, { media, javascript }: PrintOptions): Promise<void> {
  await tab.ping('Emulation.setEmulatedMedia', { media });
  if (javascript) return;
  // It would hold for the tab's next document too.
  tab.markTainted();
  await tab.send('Emulation.setScriptExecutionDisabled', { value: true });
}

/**
 * Prints the templates of a document that crashed in a new tab, around nothing. Some header and footer
 * templates crash Chrome's tab each time, so that another try does not help.
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
    if (tab?.crashed !== true) return undefined;
    return new PageFailure(
      'renderer_failed',
      'The browser crashes on the header or footer. They cannot load external files.',
      { cause },
    );
  } finally {
    await tab?.close();
  }
}
