/** One document, from request to PDF and manifest, in a tab that is its account's. */

import { resultWithin } from '../async/with-timeout.ts';
import type { RequestDocument } from '../domain/request-document.ts';
import { isBlank } from '../text/plain-text.ts';
import { ChromeGone, PageFailure, TabCrashed } from './browser/failure.ts';
import type { LaunchedChrome } from './browser/launch.ts';
import { loadDocument } from './chrome/load.ts';
import type { Page } from './chrome/page.ts';
import { readPageErrors } from './chrome/page-log.ts';
import { printPage, savePrinted } from './chrome/print.ts';
import { savePicture } from './chrome/screenshot.ts';
import { settle } from './chrome/settle.ts';
import { printOnOnePage, type Sheet } from './chrome/single-page.ts';
import { surround } from './chrome/surroundings.ts';
import { fixedTime } from './deterministic.ts';
import type { EgressSession } from './egress/session.ts';
import { pageManifest } from './manifest.ts';
import type { RenderedDocument, RenderTask } from './messages.ts';
import type { PdfFile } from '../pdf/finish.ts';

/** A step of a page that takes longer may wait for frames. Those of most pages do not, and each frame has its price. */
const UNHURRIED_MS = 500;
const ANSWER_CAP_MS = 500;
/** The wait for a frame that never ends takes longer than this, so a page that was ready sooner is not looked at. */
const HUNG_MS = 2_000;
/** More than is kept of it. A full Chrome writes no more of it, either. */
const MAX_TITLE_CHARACTERS = 4_096;
/** What takes the place of a title is a name, not a text. */
const MAX_NAME_CHARACTERS = 100;
const TITLE = `title(${MAX_TITLE_CHARACTERS})`;
const NAME = `shownName(${MAX_NAME_CHARACTERS})`;

/** A document as it was printed, before any work on its PDF. */
export interface RenderedPage extends RenderedDocument {
  /** False if the language that the PDF names is Chrome's own. */
  readonly namesLanguage: boolean;
}

/**
 * Loads a document, completes it and prints it. Leaves the tab as the document left it: the owner closes or resets it.
 * @throws {PageFailure} when the page is at fault
 * @throws {ChromeGone} when the tab or the browser died
 */
export async function renderDocument(
  chrome: LaunchedChrome,
  page: Page,
  { request, options, outputPath }: RenderTask,
  session: EgressSession,
): Promise<RenderedPage> {
  const { tab, deadline } = page;
  const started = performance.now();
  await surround(tab, options);
  const { loaded, capped } = await tab.frames.during(loadDocument(page), UNHURRIED_MS);
  if (loaded) deadline.phase = 'was getting ready';
  const loadedAt = performance.now();
  page.waits.note('load', loadedAt - started, capped);

  const { isComplete, broken } = await tab.frames.during(
    settle(page, loaded, options),
    request.wait_for ? 0 : UNHURRIED_MS,
  );
  if (loaded && isComplete) deadline.phase = 'was being printed';
  const readyAt = performance.now();
  if (readyAt - started > HUNG_MS && (await isHung(page))) {
    throw new ChromeGone('A frame of a tab that had another document before does not end.');
  }

  const framed = request.header_html !== undefined || request.footer_html !== undefined;
  const dated = fixedTime(options);
  const templates =
    dated === undefined ? request : await datedTemplates(page, dated, options.timezone);
  const print = async (sheet?: Sheet): Promise<string> =>
    await printPage(tab, options, templates, sheet).catch((cause: unknown) => {
      throw framed && cause instanceof TabCrashed ? crashedOnTemplates(cause) : cause;
    });
  const askTitle = () => answerOf<string | undefined>(page, TITLE, undefined);
  // No question reaches a page while it is printed.
  const pageTitle = chrome.isShell ? undefined : ((await askTitle()) ?? '');
  const save = async (stream: string): Promise<PdfFile> =>
    await savePrinted(tab, { request, options, pageTitle, outputPath, fixedTime: dated }, stream);
  const { format } = options;
  let saving: Promise<PdfFile>;
  if (format === 'pdf' && !options.single_page) saving = save(await print());
  else {
    const one =
      format === 'pdf'
        ? printOnOnePage(page, options, async (sheet) => await save(await print(sheet)))
        : savePicture(page, format, options, outputPath);
    // No question reaches a page meanwhile.
    saving = Promise.resolve(await one);
  }
  const [printed, errors, title] = await Promise.all([
    saving,
    readPageErrors(tab, deadline),
    askTitle(),
    page.hashes.settled(),
  ]);
  for (const image of broken) page.requests.noteBroken(image);
  const namesLanguage =
    request.pdf !== undefined && (await answerOf(page, 'namesLanguage()', false));
  const [load, ready] = [loadedAt - started, readyAt - loadedAt];
  return {
    ...printed,
    title: title !== undefined && isBlank(title) ? await answerOf(page, NAME, '') : (title ?? ''),
    timings: { load, ready, print: performance.now() - readyAt },
    page: pageManifest(chrome, page, printed.fonts, errors, session),
    namesLanguage,
  };
}

/**
 * True if Chrome draws nothing more in a page whose scripts do not keep it from that. A document before it in the same tab
 * that kept the process busy can be the reason: in a new tab each frame ends.
 */
async function isHung(page: Page): Promise<boolean> {
  const { tab } = page;
  if (!tab.isReused || (await tab.frames.haveEnded())) return false;
  return (await answerOf(page, 'namesLanguage()', undefined)) !== undefined;
}

/** Asks the page. Never rejects: a page that does not answer at once, or not at all, has answered `otherwise`. */
async function answerOf<T>({ worlds, tab }: Page, question: string, otherwise: T): Promise<T> {
  const asked = worlds.ask<T>(question);
  const answer = await resultWithin(
    asked.then((told) => told ?? otherwise),
    ANSWER_CAP_MS,
  ).catch(() => otherwise);
  // The script that keeps it from answering would keep the next document waiting.
  if (answer === undefined) tab.markTainted();
  return answer ?? otherwise;
}

/** The request with headers and footers that show a fixed time, as Chrome writes the time of printing. */
async function datedTemplates(
  page: Page,
  time: number,
  timeZone = 'UTC',
): Promise<RequestDocument> {
  const { request } = page;
  const form = { dateStyle: 'short', timeStyle: 'short', timeZone } as const;
  const date = JSON.stringify(new Intl.DateTimeFormat('en-US', form).format(time));
  const withDate = async (template: string | undefined): Promise<string | undefined> =>
    template && (await answerOf(page, `dated(${JSON.stringify(template)}, ${date})`, template));
  const [header_html, footer_html] = [
    await withDate(request.header_html),
    await withDate(request.footer_html),
  ];
  return {
    ...request,
    ...(header_html !== undefined && { header_html }),
    ...(footer_html !== undefined && { footer_html }),
  };
}

/** A template that loads a file crashes Chrome each time, but the page may be the reason as well. */
const crashedOnTemplates = (cause: TabCrashed): PageFailure =>
  new PageFailure(
    'renderer_failed',
    "The page, or its header or footer, crashed the browser's tab while it was printed. A header or footer cannot load " +
      'external files.',
    { cause },
  );
