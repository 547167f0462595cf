/**
 * Brings the document into the tab: HTML is written into the window that waits for it, or served at its address, and a URL is
 * navigated to.
 */
import type { RequestCookie, RequestDocument } from '../../domain/request-document.ts';
import { CommandRefused, type EventParams, type Params } from '../browser/connection.ts';
import { PageFailure } from '../browser/failure.ts';
import type { Navigation } from './navigation.ts';
import { type Page, untilWhole, upTo } from './page.ts';
import { beginClock } from './run-ahead.ts';
import type { Tab } from './tab.ts';

/** Characters of HTML from which on the proxy sends it: DevTools would take it apart and put it together again four times. */
const LARGE = 1024 * 1024;

export interface LoadedDocument {
  /** True when the load event came; without it the page still prints. */
  readonly loaded: boolean;
  /** True when it did not come in time. */
  readonly capped: boolean;
}

/** @throws {PageFailure} when there is no page, or its document is not all there */
export async function loadDocument(page: Page): Promise<LoadedDocument> {
  const { tab, navigation, egress, request } = page;
  const { html, url = '' } = request;
  if (html === undefined) await navigate(tab, request, url, navigation);
  else {
    const origin = tab.window?.origin ?? '';
    // A byte order mark would be the document's first text.
    const whole = html.replace(/^\uFEFF/, '');
    egress.servePage(origin, Buffer.from(whole), filesOf(request));
    if (whole.length >= LARGE) await navigate(tab, request, `${origin}/`, navigation);
    else await Promise.all([beginClock(tab), writeDocument(tab, whole)]);
  }
  navigation.check();
  await untilWhole(page, navigation.loaded());
  const capped = !navigation.hasLoaded;
  if (capped) {
    // A script or style sheet that never comes would keep all text after it from the paper.
    egress.giveUp();
    await upTo(page, 'givenUp', navigation.loaded());
  }
  return { loaded: navigation.hasLoaded, capped };
}

const filesOf = ({ files = {} }: RequestDocument): ReadonlyMap<string, Buffer> =>
  new Map(Object.entries(files).map(([name, content]) => [name, Buffer.from(content, 'base64')]));

type Paused = EventParams<'Fetch.requestPaused'>;

/** Writes HTML into the tab's window, where its scripts run. */
export async function writeDocument(tab: Tab, html: string): Promise<void> {
  await tab.send('Page.setDocumentContent', { frameId: tab.frameId, html });
}

/** @throws {PageFailure} when the navigation does not end in a document */
async function navigate(
  tab: Tab,
  request: RequestDocument,
  url: string,
  navigation: Navigation,
): Promise<void> {
  const { headers = {}, cookies = [] } = request;
  await Promise.all([
    Object.keys(headers).length > 0 ? addHeaders(tab, new URL(url).origin, headers) : undefined,
    cookies.length > 0 ? setCookies(tab, url, cookies) : undefined,
  ]);
  const { errorText, isDownload } = await tab.send('Page.navigate', { url });
  if (errorText !== undefined) navigation.fail(errorText, undefined, isDownload);
}

/** Adds headers for the document's origin only, on each hop: a redirect elsewhere carries none. */
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
  await tab.send('Fetch.enable', { patterns: [{ urlPattern: `${origin}/*` }] });
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
