/** Opens a new window in a tab: the same process, and nothing of the document before. */
import { randomBytes } from 'node:crypto';
import { DEFAULT_VIEWPORT } from '../../domain/event-fields.ts';
import {
  type Command,
  CommandRefused,
  type Connection,
  type Params,
} from '../browser/connection.ts';
import { ChromeGone } from '../browser/failure.ts';
import { Deadline } from './deadline.ts';
import { Tab, type TabProxy } from './tab.ts';

const OPEN_TIMEOUT_MS = 10_000;
const RESET_TIMEOUT_MS = 3_000;
/** A limit that no empty window reaches: above it a document left something behind. */
const MAX_HEAP_BYTES = 48 * 1024 * 1024;

// Evaluates once a window has had its load event. Browsers keep a window's name, size, place and orientation over every
// navigation: all of that is told, as one text.
const LOADED = `new Promise((resolve) => {
  if (document.readyState === 'complete') resolve();
  else addEventListener('load', resolve, { once: true });
}).then(() => {
  name = '';
  const shape = [name, history.length, outerWidth, outerHeight, innerWidth, innerHeight, screenX, screenY,
    screen.orientation.type].join();
  return { origin, shape };
})`;

interface LoadedWindow {
  readonly origin: string;
  readonly shape: string;
}

/** Resolves when the window has had its load event. */
export async function untilLoaded(tab: Tab): Promise<LoadedWindow> {
  const params = { expression: LOADED, awaitPromise: true, returnByValue: true };
  const { result } = await tab.send('Runtime.evaluate', params);
  return result.value as LoadedWindow;
}

/** True for the address of one of the tab's windows, with any query. */
export function isOwnPage(tab: Tab, url: string): boolean {
  const { protocol, hostname = '', pathname } = URL.parse(url) ?? {};
  return protocol === 'http:' && hostname.endsWith(`.${tab.site}`) && pathname === '/';
}

/** The documents that a tab waits for: HTML in a window at an origin of its own, a URL in a blank one. */
export type Kind = 'html' | 'url';

/**
 * A random host below `.invalid`, so that documents share nothing and no server is meant. http, because an https page
 * upgrades its http images to https and loses them.
 */
const newOrigin = (site: string): string => `http://${randomBytes(10).toString('hex')}.${site}`;

/**
 * A new tab that waits for a document. Chrome has the password of the tab's proxy, which asks for it when the tab
 * navigates for the first time. A context keeps it as long as it is there, whatever is cleared in it.
 * @throws {ChromeGone} when the proxy does not take it, or the browser does not answer
 */
export async function openTab(connection: Connection, kind: Kind, proxy: TabProxy): Promise<Tab> {
  const { site, signIn } = proxy;
  const origin = newOrigin(site);
  const navigate = async (tab: Tab): Promise<void> => {
    tab.on('Fetch.requestPaused', ({ requestId }) => {
      tab.send('Fetch.continueRequest', { requestId }).catch(() => {});
    });
    tab.on('Fetch.authRequired', ({ requestId }) => {
      const authChallengeResponse = { response: 'ProvideCredentials', ...signIn } as const;
      tab.send('Fetch.continueWithAuth', { requestId, authChallengeResponse }).catch(() => {});
    });
    const patterns = [{ urlPattern: `${origin}/*` }];
    await tab.send('Fetch.enable', { handleAuthRequests: true, patterns });
    // Not as the address of a new target: a full Chrome asks for that before it can be told anything, and has no
    // password yet. A tab that waits for a URL stays blank: the proxy answers with nothing.
    await tab.send('Page.navigate', { url: kind === 'html' ? `${origin}/` : `${origin}/blank` });
    await tab.send('Fetch.disable', undefined);
  };
  const tab = await Tab.open(connection, proxy, navigate);
  try {
    if (!connection.framesOnCommand) await fitWindow(connection, tab.frameId);
    if (kind === 'html') await setWindow(tab, origin);
    tab.shape = (await untilLoaded(tab)).shape;
  } catch (error) {
    await tab.close();
    throw error;
  }
  tab.end();
  return tab;
}

/** Gives a full Chrome's window, which is as large as its screen allows, the size that every document is promised. */
async function fitWindow(connection: Connection, targetId: string): Promise<void> {
  const send = <M extends Command>(method: M, params: Params<M>) =>
    connection.send(method, params, OPEN_TIMEOUT_MS);
  try {
    const { windowId } = await send('Browser.getWindowForTarget', { targetId });
    const { width, height } = DEFAULT_VIEWPORT;
    await send('Browser.setContentsSize', { windowId, width, height });
  } catch (error) {
    // An older Chrome has no such command.
    if (!(error instanceof CommandRefused)) throw error;
  }
}

/**
 * Opens another window at an origin that no other has, for HTML to be written into. It is of the tab's own site, so that
 * the navigation stays in its process.
 */
export async function openWindow(tab: Tab): Promise<void> {
  // No script hears that its document is left: what it would send then is not part of what was printed.
  await tab.send('Emulation.setScriptExecutionDisabled', { value: true });
  const origin = tab.isFixed ? `http://the.${tab.site}` : newOrigin(tab.site);
  const { errorText } = await tab.send('Page.navigate', { url: `${origin}/` });
  if (errorText !== undefined) throw new ChromeGone('Chrome opens no window.');
  await tab.send('Emulation.setScriptExecutionDisabled', { value: false });
  await setWindow(tab, origin);
}

/**
 * Resolves when the tab's window has loaded: Chrome answers a navigation before that, and a document written before that
 * can be printed blank.
 */
async function setWindow(tab: Tab, origin: string): Promise<void> {
  await untilLoaded(tab);
  // Chrome tells of a load event when all its listeners have run. It must not count as that of the document to come: what is
  // asked now is answered after it.
  const [loaded, { frameTree }] = await Promise.all([
    untilLoaded(tab),
    tab.send('Page.getFrameTree', undefined),
    tab.send('Page.resetNavigationHistory', undefined),
  ]);
  if (loaded.origin !== origin) throw new ChromeGone('Chrome cannot use its proxy.');
  tab.window = { origin, loaderId: frameTree.frame.loaderId };
}

/**
 * Opens a new window in the same process, so that nothing of one document is left for the next.
 * @returns whether Chrome confirmed all of it; without that the tab must not be used again
 */
export async function resetTab(tab: Tab): Promise<boolean> {
  tab.end();
  if (!(await tab.frames.haveEnded())) return false;
  tab.begin(new Deadline(RESET_TIMEOUT_MS));
  tab.isReused = true;
  try {
    await openWindow(tab);
    const [{ shape }, { usedSize }] = await Promise.all([
      untilLoaded(tab),
      tab.send('Runtime.getHeapUsage', undefined),
      tab.clearCookies(),
      // A process keeps the fonts and images that it loaded, also those of data URIs. A script would find those
      // of an earlier document there at once. This drops them.
      tab.send('Network.setCacheDisabled', { cacheDisabled: true }),
      tab.send('Network.setCacheDisabled', { cacheDisabled: false }),
    ]);
    return shape === tab.shape && usedSize <= MAX_HEAP_BYTES && !tab.tainted;
  } catch {
    return false;
  } finally {
    tab.end();
  }
}
