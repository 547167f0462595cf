/** A render worker: one thread, one Chrome with warm tabs, an egress proxy for each tab, one document at a time. */
import { readFile, rm } from 'node:fs/promises';
import { type MessagePort, parentPort, threadId, workerData } from 'node:worker_threads';
import { resultWithin } from '../async/with-timeout.ts';
import { errorMessage } from '../errors/error-message.ts';
import { plainText } from '../text/plain-text.ts';
import { ChromeGone, PageFailure, TabCrashed } from './browser/failure.ts';
import { type LaunchedChrome, launchChrome } from './browser/launch.ts';
import { maxChromeBytes, maxProcessBytes } from './browser/memory.ts';
import { type Browser, Browsers, checkShared, mayBeBusy, type TakenTab } from './browsers.ts';
import { Deadline } from './chrome/deadline.ts';
import { followPage, type Page } from './chrome/page.ts';
import { takePicture } from './chrome/picture.ts';
import type { Tab, TabProxy } from './chrome/tab.ts';
import { fixWorld } from './deterministic.ts';
import { workOnDocuments } from './finishing/document-work.ts';
import { type EgressProxy, startEgressProxy } from './egress/proxy.ts';
import type { EgressSession } from './egress/session.ts';
import {
  type FinishingContext,
  finishPrinted,
  type WorkMeans,
} from './finishing/finish-printed.ts';
import { InstalledFonts } from './installed-fonts.ts';
import type {
  Crashed,
  Failed,
  RenderResult,
  RenderTask,
  WarmUpResult,
  WorkerMessage,
  WorkerNotice,
  WorkerSettings,
  WorkerTask,
} from './messages.ts';
import { type RenderedPage, renderDocument } from './render.ts';
import { DOES_NOT_FIT, fieldOptions, fieldPage } from './finishing/signature-field.ts';
import type { PrintStamp } from '../pdf/work-plan.ts';
import { stampOptions } from './finishing/stamps.ts';
import { incompleteness } from './warnings.ts';
import { type PrintBeside, renderTest } from './finishing/watermark.ts';

const MAX_MESSAGE_LENGTH = 1_000;
/** A Chrome that is not up after this is waited for within the time of the document. */
const READY_MS = 20_000;

const settings = workerData as WorkerSettings;
const USED_TOO_MUCH =
  'The page used more memory than the ' +
  `${Math.round(settings.maxPageMemoryBytes / 2 ** 20)} MiB that a page may use.`;
const tell = (notice: WorkerNotice): void => parentPort?.postMessage(notice, []);

const fonts = new InstalledFonts();

/** By their ports. Each tab has its own. */
const proxies = new Map<number, EgressProxy>();
/** Resolves when what the last document left is removed: no other one begins before that. */
let cleaning = Promise.resolve();

async function openProxy(): Promise<TabProxy> {
  const proxy = await startEgressProxy({
    allowPrivateNetwork: settings.allowPrivateNetwork,
    extraPorts: settings.egressPorts,
  });
  const { port } = proxy;
  proxies.set(port, proxy);
  const close = async (): Promise<void> => {
    proxies.delete(port);
    await proxy.close();
  };
  return { ...proxy, close };
}

async function launch(): Promise<LaunchedChrome> {
  const launched = await launchChrome({
    path: settings.chromePath,
    directory: settings.directory,
    maxProcessBytes: maxProcessBytes(settings.maxPageMemoryBytes),
    maxChromeBytes: maxChromeBytes(settings.maxPageMemoryBytes),
  });
  tell({ kind: 'chromeStarted', pid: launched.pid, thread: threadId });
  return launched;
}

const browsers = new Browsers({
  launch,
  openProxy,
  maxPageBytes: settings.maxPageMemoryBytes,
  onMissing: (error) => tell({ kind: 'chromeMissing', message: errorMessage(error) }),
  onEnded: ({ pid }) => {
    tell({ kind: 'chromeEnded', pid, thread: threadId });
  },
});

function beginSession({ proxy }: Tab): EgressSession {
  const own = proxies.get(proxy?.port ?? 0);
  if (own === undefined) throw new ChromeGone('The tab is closed.');
  return own.beginSession();
}

async function take({ accountId, request, options }: RenderTask): Promise<TakenTab> {
  await cleaning;
  // The window of a deterministic document is opened when its clock is fixed.
  const needsBlank = request.html === undefined || options.deterministic;
  return await browsers.take(accountId, needsBlank ? 'url' : 'html');
}

/** Of the document that is being rendered, and what is printed beside it. Aborted when nobody needs it any more. */
let underWay: AbortController | undefined;
const GIVEN_UP = new PageFailure('cancelled', 'The conversion was cancelled.');

const giveUp = (): void => underWay?.abort();

/**
 * Resolves once Chrome is up, and what the last document left is removed: neither is this document's time. Or when nobody
 * needs the document any more.
 * @throws {Error} when Chrome does not start
 */
async function chromeReady(unneeded: AbortSignal): Promise<void> {
  const { promise: givenUp, resolve } = Promise.withResolvers<void>();
  unneeded.addEventListener('abort', () => resolve(), { once: true });
  const ready = cleaning.then(() => browsers.running());
  await resultWithin(Promise.race([ready, givenUp]), READY_MS);
}

async function render(task: RenderTask, port: MessagePort): Promise<RenderResult> {
  const own = new AbortController();
  underWay = own;
  try {
    if (task.request.document === undefined) await chromeReady(own.signal);
    port.postMessage('begun', []);
    return await renderAll(task, own.signal);
  } catch (error) {
    await rm(task.outputPath, { force: true });
    return ended(error);
  } finally {
    underWay = undefined;
  }
}

/** The end of a conversion that an error is. */
function ended(error: unknown): Failed | Crashed {
  if (error instanceof PageFailure) {
    // It may quote what a server or the client wrote.
    const message = plainText(error.message).slice(0, MAX_MESSAGE_LENGTH);
    return { kind: 'failed', code: error.code, message };
  }
  const code = error instanceof ChromeGone ? 'page_crashed' : 'renderer_failed';
  return { kind: 'crashed', code, message: errorMessage(error) };
}

/** Prints the document, and what it needs beside its page. */
async function renderAll(task: RenderTask, unneeded: AbortSignal): Promise<RenderResult> {
  const deadline = new Deadline(task.deadlineMs);
  const limits = { remaining: () => deadline.remaining(), unneeded };
  const printBeside: PrintBeside = async (what, html, options, end = unneeded) => {
    const outputPath = `${task.outputPath}.beside`;
    const request = { html };
    const deadlineMs = deadline.remaining();
    const printing = { ...task, request, options, pictures: false, deadlineMs, outputPath };
    const printed = await renderOne(printing, end, { isOffline: true });
    if (printed.kind === 'failed') {
      const message = `The ${what} cannot be printed. ${printed.message}`;
      throw new PageFailure(printed.code, message);
    }
    if (printed.kind === 'crashed') {
      const { code, message } = printed;
      throw code === 'page_crashed' ? new ChromeGone(message) : new Error(message);
    }
    const pdf = await readFile(outputPath);
    await rm(outputPath);
    return { pdf, pages: printed.pages };
  };
  const printStamp: PrintStamp = async (html, papers, end) => {
    const printed: Uint8Array[] = [];
    for (const paper of papers) {
      printed.push((await printBeside('stamp', html, stampOptions(paper), end)).pdf);
    }
    return printed;
  };
  const renderPage = async (asked: RenderTask, beside: BesidePage) =>
    await renderFinished(asked, { ...beside, limits, printStamp });
  if (task.isTest === true) return await renderTest(task, printBeside, renderPage);
  const { sign } = task.request.pdf ?? {};
  if (sign?.field === undefined) return await renderPage(task, {});
  const shown = { signer: task.signer ?? '', time: new Date(), texts: sign };
  const page = fieldPage(shown, sign.field);
  const printed = await printBeside('field of the signature', page, fieldOptions(sign.field));
  if (printed.pages > 1) throw new PageFailure('not_signed', DOES_NOT_FIT);
  const field = { ...shown, picture: printed.pdf };
  return await renderPage(task, { field });
}

type BesidePage = Pick<FinishingContext, 'watermark' | 'field'>;

/** Prints a page, gives its tab back, and does what is asked for with its PDF; or works on PDFs that are there. */
async function renderFinished(
  task: RenderTask,
  beside: BesidePage & WorkMeans,
): Promise<RenderResult> {
  const { limits, watermark } = beside;
  const { document, pdf } = task.request;
  if (document !== undefined) {
    if (limits.unneeded.aborted) throw GIVEN_UP;
    const made = await workOnDocuments(document, pdf?.sign, task.outputPath, beside);
    return { kind: 'completed', ...made };
  }
  const inTime = { ...task, deadlineMs: limits.remaining() };
  const printed = await renderOne(inTime, limits.unneeded, {});
  if (printed.kind !== 'completed') return printed;
  const { namesLanguage, ...rendered } = printed;
  const asked = pdf ?? (watermark && {});
  if (asked === undefined) return rendered;
  const started = performance.now();
  const context = { options: task.options, namesLanguage, ...beside };
  const { file, reached } = await finishPrinted(rendered, asked, context);
  const print = rendered.timings.print + performance.now() - started;
  return { ...rendered, ...file, ...reached, timings: { ...rendered.timings, print } };
}

async function renderOne(
  task: RenderTask,
  unneeded: AbortSignal,
  { isOffline = false }: { readonly isOffline?: boolean },
): Promise<(RenderedPage & { readonly kind: 'completed' }) | Failed | Crashed> {
  const deadline = new Deadline(task.deadlineMs);
  let taken: TakenTab | undefined;
  let session: EgressSession | undefined;
  let page: Page | undefined;
  let reusable = false;
  let isAtFault = false;
  let isCutOff = false;
  const giveUpTab = (): void => taken?.tab.giveUp(GIVEN_UP);
  unneeded.addEventListener('abort', giveUpTab);
  try {
    if (unneeded.aborted) throw GIVEN_UP;
    const taking = take(task);
    taken = await resultWithin(taking, deadline.remaining());
    if (taken === undefined) {
      // It may still come: then it goes back unused.
      cleaning = taking.then((late) => browsers.release(late, () => false)).catch(() => {});
      throw new Error('Chrome was not up before the time limit.');
    }
    if (unneeded.aborted) throw GIVEN_UP;
    session = beginSession(taken.tab);
    if (isOffline) session.giveUp();
    const { browser } = taken;
    taken.tab.begin(deadline);
    if (task.options.deterministic) await fixWorld(taken.tab, task.request, task.options);
    page = followPage(taken.tab, task.request, deadline, session);
    const rendered = await renderDocument(browser.chrome, page, task, session).finally(() =>
      checkShared(browser),
    );
    reusable = !(await fonts.usedFallback(rendered.fonts));
    const incomplete = incompleteness(rendered.page, task.request.fail_on);
    if (incomplete !== undefined) throw incomplete;
    if (!task.options.deterministic) return { kind: 'completed', ...rendered };
    const font_files = await fonts.filesOf(rendered.fonts);
    return { kind: 'completed', ...rendered, page: { ...rendered.page, font_files } };
  } catch (error) {
    await rm(task.outputPath, { force: true });
    const failure = failureOf(error, taken?.browser);
    if (failure instanceof PageFailure) {
      isAtFault = true;
      isCutOff = failure.code === 'timeout' || failure.code === 'cancelled';
      const picture = task.pictures && page && (await takePicture(page, failure.code));
      return { ...ended(failure), ...(picture && { picture }) };
    }
    return ended(error);
  } finally {
    unneeded.removeEventListener('abort', giveUpTab);
    if (taken) {
      // What the page sends until it is gone counts as its own. The network may have left cookies, connections and cached
      // files: those are never cleaned up.
      const isReusable = (): boolean => reusable && session?.usedNetwork === false;
      cleaning = browsers.release(taken, isReusable).finally(() => session?.end());
      // What the page sends is over when its failure is known. Neither an answer nor a next try waits for a tab that may take
      // long to close, for Chrome is busy or gone.
      if (isAtFault && !isCutOff) await cleaning;
      if (isCutOff || mayBeBusy(taken.browser)) {
        const { browser } = taken;
        cleaning = cleaning.then(() => browsers.endIfBusy(browser));
      }
    }
  }
}

/** Maps an error to a PageFailure if the page used too much memory; returns any other error unchanged. */
function failureOf(error: unknown, browser: Browser | undefined): unknown {
  if (browser?.memory.exceeded === true) return pageMemoryFailure(USED_TOO_MUCH);
  return (error instanceof ChromeGone || error instanceof TabCrashed) && browser?.memory.wasShort
    ? pageMemoryFailure('The browser ran out of memory while it rendered the page.')
    : error;
}

function pageMemoryFailure(what: string): PageFailure {
  return new PageFailure(
    'page_memory',
    `${what} Very large images or canvases, very many elements or a script that never stops ` +
      'collecting can be the reason.',
  );
}

async function warmUp(): Promise<WarmUpResult> {
  try {
    const { product, sandboxNote } = (await browsers.running()).chrome;
    return { kind: 'warm', chrome: { product, sandboxNote } };
  } catch (error) {
    return { kind: 'cold', message: errorMessage(error) };
  }
}

async function shutDown(): Promise<WorkerMessage> {
  await browsers.close();
  await Promise.all(Array.from(proxies.values(), (each) => each.close()));
  return { kind: 'down' };
}

/** What it rejects with fails the task. */
export default async function work(message: WorkerTask): Promise<WorkerMessage> {
  switch (message.kind) {
    case 'warmUp':
      return await warmUp();
    case 'render': {
      const { task, port } = message;
      port.once('message', giveUp).unref();
      return await render(task, port).finally(() => port.close());
    }
    case 'shutDown':
      return await shutDown();
  }
}
