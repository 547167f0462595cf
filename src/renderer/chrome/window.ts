/** Opens a new window in a tab: the same process, and nothing of the document before. */
import { Deadline, resultWithin } from './deadline.ts';
import type { Tab } from './tab.ts';
import { WINDOW_SHAPE } from './window-shape.ts';

const RESET_TIMEOUT_MS = 1_000;
/** A limit that no empty window reaches: above it a document left something behind. */
const MAX_HEAP_BYTES = 48 * 1024 * 1024;

// Browsers keep a window's name, size and orientation over every navigation. Asked in the new window's own
// world, where no script of a document has ever been.
const FORGET = `(() => {
  name = '';
  return name === '' && history.length === 1 && origin === 'null' && ${WINDOW_SHAPE};
})()`;

/**
 * Resolves when the new window has loaded: Chrome answers a navigation before that, and a document written
 * before that can be printed blank.
 */
async function openWindow(tab: Tab): Promise<boolean> {
  const { promise: shown, resolve } = Promise.withResolvers<void>();
  const loaded = new Set<string>();
  let wanted: string | undefined;
  tab.on('Page.lifecycleEvent', ({ name, loaderId }) => {
    if (name !== 'load') return;
    loaded.add(loaderId);
    if (loaderId === wanted) resolve();
  });
  const { errorText, loaderId } = await tab.send('Page.navigate', { url: 'about:blank' });
  if (errorText !== undefined || loaderId === undefined) return false;
  wanted = loaderId;
  if (loaded.has(loaderId)) resolve();
  return (await resultWithin(tab.untilGone(shown.then(() => true)), RESET_TIMEOUT_MS)) === true;
}

/**
 * Opens a new window in the same process, so that nothing of one document is left for the next.
 * @returns whether Chrome confirmed all of it; without that the tab must not be used again
 */
export async function resetTab(tab: Tab): Promise<boolean> {
  tab.end();
  tab.begin(new Deadline(RESET_TIMEOUT_MS));
  try {
    if (!(await openWindow(tab))) return false;
    const [, { result }, { usedSize }] = await Promise.all([
      tab.send('Page.resetNavigationHistory', undefined),
      tab.send('Runtime.evaluate', { expression: FORGET, returnByValue: true }),
      tab.send('Runtime.getHeapUsage', undefined),
      tab.clearCookies(),
      // A process keeps the fonts and images that it loaded, also those of data URIs. A script would find those
      // of an earlier document there at once. This drops them.
      tab.send('Network.setCacheDisabled', { cacheDisabled: true }),
      tab.send('Network.setCacheDisabled', { cacheDisabled: false }),
    ]);
    if (result.value !== tab.windowShape || usedSize > MAX_HEAP_BYTES || tab.tainted) return false;
    tab.markClean();
    return true;
  } catch {
    return false;
  } finally {
    tab.end();
  }
}
