/** Opens a new window in a tab: the same process, and nothing of the document before. */
import { randomBytes } from 'node:crypto';
import type { EventParams } from '../browser/connection.ts';
import { ChromeGone } from '../browser/failure.ts';
import { Deadline } from './deadline.ts';
import type { Tab } from './tab.ts';

const RESET_TIMEOUT_MS = 1_000;
/** A limit that no empty window reaches: above it a document left something behind. */
const MAX_HEAP_BYTES = 48 * 1024 * 1024;

/** True for the address of one of the tab's windows, with any query. */
export function isOwnPage(tab: Tab, url: string): boolean {
  const { protocol, hostname = '', pathname } = URL.parse(url) ?? {};
  return protocol === 'http:' && hostname.endsWith(`.${tab.site}`) && pathname === '/';
}

/**
 * Answers the requests for the addresses of the tab's windows until its document ends, and no others: what else is asked of
 * that host reaches the proxy, also from workers and frames, which interception would not see.
 * @param html for a page that loads itself again
 */
export function answerOwnPages(tab: Tab, html: string): void {
  const answer = async (paused: EventParams<'Fetch.requestPaused'>): Promise<void> => {
    const { requestId, request, frameId, resourceType } = paused;
    // Others match the patterns, too: a page knows its site.
    if (!isOwnPage(tab, request.url)) await tab.send('Fetch.continueRequest', { requestId });
    else if (frameId !== tab.frameId || resourceType !== 'Document') {
      await tab.send('Fetch.failRequest', { requestId, errorReason: 'AddressUnreachable' });
    } else {
      await tab.send('Fetch.fulfillRequest', {
        requestId,
        responseCode: 200,
        responseHeaders: [{ name: 'Content-Type', value: 'text/html; charset=utf-8' }],
        body: Buffer.from(html, 'utf8').toString('base64'),
      });
    }
  };
  // The request is gone when its page has moved on meanwhile.
  tab.on('Fetch.requestPaused', (paused) => void answer(paused).catch(() => {}));
}

/**
 * Gives Chrome the password of the tab's proxy. A context keeps it as long as it is there, whatever is cleared in it.
 * @throws {ChromeGone} when the proxy does not take it
 */
export async function signIn(tab: Tab): Promise<void> {
  const { url, ...credentials } = tab.proxy?.signIn ?? {};
  if (url === undefined) return;
  tab.on('Fetch.requestPaused', ({ requestId }) => {
    tab.send('Fetch.continueRequest', { requestId }).catch(() => {});
  });
  tab.on('Fetch.authRequired', ({ requestId }) => {
    const authChallengeResponse = { response: 'ProvideCredentials', ...credentials } as const;
    tab.send('Fetch.continueWithAuth', { requestId, authChallengeResponse }).catch(() => {});
  });
  const expression = `fetch('${url}').then(({ ok }) => ok, () => false)`;
  const [, { result }] = await Promise.all([
    tab.send('Fetch.enable', { handleAuthRequests: true, patterns: [{ urlPattern: url }] }),
    tab.send('Runtime.evaluate', { expression, awaitPromise: true }),
  ]);
  await tab.send('Fetch.disable', undefined);
  tab.end();
  if (result.value !== true) throw new ChromeGone('Chrome cannot use its proxy.');
}

/**
 * Opens a window at an origin that no other has, for HTML to be written into. Resolves when it has loaded: Chrome answers
 * a navigation before that, and a document written before that can be printed blank. The origin is a random host below
 * `.invalid`, so that documents share nothing and no server is meant; http, because an https page upgrades its http
 * images to https and loses them. It is of the tab's own site, so that the navigation stays in its process.
 */
export async function openWindow(tab: Tab): Promise<void> {
  answerOwnPages(tab, '');
  if (tab.window === undefined) {
    const address = `http://*.${tab.site}/`;
    // A question mark stands for any character unless it is escaped.
    const patterns = [{ urlPattern: address }, { urlPattern: `${address}\\?*` }];
    // Asked once, because Chrome makes each frame's loaders again for it.
    await tab.send('Fetch.enable', { patterns });
  } else {
    // No script hears that its document is left: what it would send then is not part of what was printed.
    await tab.send('Emulation.setScriptExecutionDisabled', { value: true });
  }
  const host = tab.isFixed ? 'the' : randomBytes(10).toString('hex');
  const origin = `http://${host}.${tab.site}`;
  const { errorText, loaderId } = await tab.send('Page.navigate', { url: `${origin}/` });
  if (errorText !== undefined || loaderId === undefined) {
    throw new ChromeGone('Chrome opens no window.');
  }
  if (tab.window !== undefined) {
    await tab.send('Emulation.setScriptExecutionDisabled', { value: false });
  }
  await tab.untilLoaded();
  // Chrome tells of a load event when all its listeners have run. It must not count as that of the document to come: what is
  // asked now is answered after it.
  await Promise.all([tab.untilLoaded(), tab.send('Page.resetNavigationHistory', undefined)]);
  tab.window = { origin, loaderId };
}

/**
 * Opens a new window in the same process, so that nothing of one document is left for the next.
 * @returns whether Chrome confirmed all of it; without that the tab must not be used again
 */
export async function resetTab(tab: Tab): Promise<boolean> {
  tab.end();
  tab.begin(new Deadline(RESET_TIMEOUT_MS));
  try {
    await openWindow(tab);
    const [{ origin, shape }, { usedSize }] = await Promise.all([
      tab.untilLoaded(),
      tab.send('Runtime.getHeapUsage', undefined),
      tab.clearCookies(),
      // A process keeps the fonts and images that it loaded, also those of data URIs. A script would find those
      // of an earlier document there at once. This drops them.
      tab.send('Network.setCacheDisabled', { cacheDisabled: true }),
      tab.send('Network.setCacheDisabled', { cacheDisabled: false }),
    ]);
    const isNew = origin === tab.window?.origin && shape === tab.shape;
    return isNew && usedSize <= MAX_HEAP_BYTES && !tab.tainted;
  } catch {
    return false;
  } finally {
    tab.end();
  }
}
