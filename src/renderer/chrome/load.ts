/** Brings the document into the tab: HTML on an origin of its own, or a URL by navigation. */
import { randomBytes } from 'node:crypto';
import type { RequestCookie, RequestDocument } from '../../domain/request-document.ts';
import { CommandRefused, type EventParams, type Params } from './connection.ts';
import { type Deadline, resultWithin } from './deadline.ts';
import { PageFailure } from './failure.ts';
import type { Navigation } from './navigation.ts';
import { beginClock } from './page-clock.ts';
import type { Tab } from './tab.ts';

/** The time that a page has for its end once what it waits for was given up. */
const GIVEN_UP_MS = 2_000;
/** The longest wait for the load event. A page whose document has ended is taken as it is after that. */
const LOAD_CAP_MS = 15_000;
/** The time after which the next script of a written document is stopped, once one was. */
const SCRIPT_STOP_MS = 100;

export interface DocumentSource {
  readonly request: RequestDocument;
  /** Has the files that came with HTML served on its origin from now on. */
  readonly serveFiles: (origin: string) => void;
  /** Has every request that is under way fail, and every one that comes. */
  readonly giveUpNetwork: () => void;
}

export interface LoadedDocument {
  /** True when the load event came; without it the page still prints. */
  readonly loaded: boolean;
  /** True when it did not come in time. */
  readonly capped: boolean;
  /** The origin that HTML was served on; undefined for a URL. */
  readonly syntheticOrigin: string | undefined;
}

/** @throws {PageFailure} when there is no page, or its document is not all there */
export async function loadDocument(
  tab: Tab,
  { request, serveFiles, giveUpNetwork }: DocumentSource,
  navigation: Navigation,
  deadline: Deadline,
): Promise<LoadedDocument> {
  tab.markDirty();
  await tab.watchNetwork(true);
  const url =
    request.html === undefined
      ? await prepareUrl(tab, request, request.url ?? '')
      : serveHtml(tab, request.html, serveFiles);
  const { errorText, isDownload } = await tab.send('Page.navigate', { url });
  if (errorText !== undefined) navigation.fail(errorText, undefined, isDownload);
  navigation.check();
  const cap = deadline.share(0.5, LOAD_CAP_MS);
  await resultWithin(tab.untilGone(navigation.loaded()), cap);
  navigation.checkWhole(cap);
  const capped = !navigation.hasLoaded;
  if (capped) {
    // A script or style sheet that never comes would keep all text after it from the paper.
    giveUpNetwork();
    const over = tab.untilGone(navigation.loaded());
    await resultWithin(over, deadline.share(0.5, GIVEN_UP_MS));
  }
  return {
    loaded: navigation.hasLoaded,
    capped,
    syntheticOrigin: request.html === undefined ? undefined : url,
  };
}

/**
 * Writes HTML whose scripts need no origin into the tab's new window, where they run. A script that takes longer than a
 * load may is stopped.
 * @throws {PageFailure} `timeout` when that does not help
 */
export async function runWritten(
  tab: Tab,
  html: string,
  navigation: Navigation,
  deadline: Deadline,
): Promise<LoadedDocument> {
  tab.markDirty();
  await tab.watchNetwork(true);
  const cap = deadline.share(0.5, LOAD_CAP_MS);
  const { promise: shown, resolve } = Promise.withResolvers<true>();
  tab.on('Page.loadEventFired', () => resolve(true));
  const written = Promise.all([beginClock(tab), writeDocument(tab, html)]).then(() => true);
  let ended = await resultWithin(written, cap);
  const capped = ended === undefined;
  while (ended === undefined) {
    tab.markTainted();
    await tab.send('Runtime.terminateExecution', undefined);
    ended = await resultWithin(written, SCRIPT_STOP_MS);
  }
  const over = tab.untilGone(shown);
  const loaded = (await resultWithin(over, capped ? GIVEN_UP_MS : cap)) === true;
  navigation.noteWritten(loaded);
  return { loaded, capped: capped || !loaded, syntheticOrigin: undefined };
}

/**
 * Resolves when the document shown is all there: a page may have moved on to another by itself.
 * @throws {PageFailure} when it does not come whole
 */
export async function untilWhole(
  tab: Tab,
  navigation: Navigation,
  deadline: Deadline,
): Promise<void> {
  const cap = deadline.share(0.5, LOAD_CAP_MS);
  await resultWithin(tab.untilGone(navigation.ended()), cap);
  navigation.checkWhole(cap);
}

type Paused = EventParams<'Fetch.requestPaused'>;

/** Writes HTML that needs no origin into the tab's window. */
export async function writeDocument(tab: Tab, html: string): Promise<void> {
  await tab.send('Page.setDocumentContent', { frameId: tab.frameId, html });
}

/**
 * A random host below `.invalid`, so that documents share nothing and no server is meant; http, because
 * an https page upgrades its http images to https and loses them. Of the tab's own site, so that the
 * navigation stays in its process. Only the HTML itself is answered here: what else is asked of that host
 * reaches the proxy, also from workers and frames, which interception would not see.
 */
function serveHtml(tab: Tab, html: string, serveFiles: (origin: string) => void): string {
  const origin = `http://${randomBytes(10).toString('hex')}.${tab.site}`;
  serveFiles(origin);
  const url = `${origin}/`;
  const body = Buffer.from(html, 'utf8').toString('base64');
  const answer = async ({ requestId, request, frameId, resourceType }: Paused): Promise<void> => {
    if (request.url !== url) await tab.send('Fetch.continueRequest', { requestId });
    else if (frameId === tab.frameId && resourceType === 'Document') {
      await tab.send('Fetch.fulfillRequest', {
        requestId,
        responseCode: 200,
        responseHeaders: [{ name: 'Content-Type', value: 'text/html; charset=utf-8' }],
        body,
      });
    } else await tab.send('Fetch.failRequest', { requestId, errorReason: 'AddressUnreachable' });
  };
  // The request is gone when its page has moved on meanwhile.
  tab.on('Fetch.requestPaused', (paused) => void answer(paused).catch(() => {}));
  // Chrome takes commands in turn: both hold for the navigation that follows.
  tab.interceptRequests(`http://*.${tab.site}/`).catch(() => {});
  // Each page finds the same history, one entry before its own, whatever was in its tab before.
  tab.send('Page.resetNavigationHistory', undefined).catch(() => {});
  return url;
}

async function prepareUrl(tab: Tab, request: RequestDocument, url: string): Promise<string> {
  const { headers = {}, cookies = [] } = request;
  await Promise.all([
    Object.keys(headers).length > 0
      ? addHeaders(tab, new URL(url).origin, headers)
      : tab.interceptRequests(undefined),
    cookies.length > 0 ? setCookies(tab, url, cookies) : undefined,
  ]);
  return url;
}

/** Adds headers for the document's origin only, on each hop anew: a redirect elsewhere carries none. */
async function addHeaders(
  tab: Tab,
  origin: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const own = Object.entries(headers).map(([name, value]) => ({ name, value }));
  const names = new Set(own.map(({ name }) => name.toLowerCase()));
  tab.on('Fetch.requestPaused', ({ requestId, request }: Paused) => {
    const others = Object.entries(request.headers)
      .filter(([name]) => !names.has(name.toLowerCase()))
      .map(([name, value]) => ({ name, value }));
    const toOrigin = URL.parse(request.url)?.origin === origin;
    tab
      .send(
        'Fetch.continueRequest',
        toOrigin ? { requestId, headers: [...others, ...own] } : { requestId },
      )
      .catch(() => {});
  });
  await tab.interceptRequests(`${origin}/*`);
}

async function setCookies(tab: Tab, url: string, cookies: readonly RequestCookie[]): Promise<void> {
  type Cookie = Params<'Network.setCookies'>['cookies'][number];
  const params = cookies.map(
    (each): Cookie => ({
      name: each.name,
      value: each.value,
      // A cookie without a domain is for the document's host alone.
      ...(each.domain === undefined ? { url } : { domain: each.domain }),
      path: each.path ?? '/',
      ...(each.secure === undefined ? {} : { secure: each.secure }),
      ...(each.http_only === undefined ? {} : { httpOnly: each.http_only }),
      ...(each.same_site === undefined ? {} : { sameSite: each.same_site }),
    }),
  );
  try {
    await tab.send('Network.setCookies', { cookies: params });
  } catch (cause) {
    if (!(cause instanceof CommandRefused)) throw cause;
    throw new PageFailure('navigation_failed', 'The cookies were refused as not valid.', { cause });
  }
}
