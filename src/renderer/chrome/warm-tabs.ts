/** The tabs of one browser: some that were never used, and for each account lately served its own. */
import type { Connection } from './connection.ts';
import { Deadline, resultWithin } from './deadline.ts';
import { type FallbackLanguage, mayFollow } from './fallback-fonts.ts';
import { ChromeGone } from './failure.ts';
import { Tab, WINDOW_SHAPE } from './tab.ts';

/** The number of tabs kept unused. Another account's document takes one; the next is prepared meanwhile. */
const SPARES = 2;
/** Accounts whose tab is kept. */
export const WARM_ACCOUNTS = 3;
/** The uses after which a tab is closed: what a page left unseen ends with its process. */
const MAX_USES = 100;
/** The same for static documents. They leave nothing, but a tab is not made to last for ever. */
const MAX_STATIC_USES = 1_000;
const MAX_IDLE_MS = 60_000;

interface Warm {
  readonly tab: Tab;
  uses: number;
  staticUses: number;
  idle?: NodeJS.Timeout;
}

export class WarmTabs {
  readonly #connection: Connection;
  /** Called when a tab could not be closed: something may run on in the browser. */
  readonly #onUnclean: () => void;
  readonly #spares: Promise<Tab>[] = [];
  /** Tabs by account, the least recently used first. */
  readonly #warm = new Map<string, Warm>();
  #closed = false;

  constructor(connection: Connection, onUnclean: () => void) {
    this.#connection = connection;
    this.#onUnclean = onUnclean;
    this.#prepare();
  }

  /** Resolves when a document of an account that was never served need not wait for its tab. */
  async prepared(): Promise<void> {
    await this.#spares[0];
  }

  /**
   * A tab that only this account's documents were in. Each one taken is to be given back.
   * @param fallback of the document that comes
   * @throws {ChromeGone} when the browser opens none
   */
  async take(accountId: string, fallback: FallbackLanguage): Promise<Tab> {
    const tab = await this.#take(accountId, fallback);
    if (fallback !== 'none') tab.fallback = fallback;
    return tab;
  }

  async #take(accountId: string, fallback: FallbackLanguage): Promise<Tab> {
    const warm = this.#warm.get(accountId);
    if (warm && (warm.tab.tainted || !mayFollow(warm.tab.fallback, fallback))) {
      await this.#drop(accountId, warm);
    } else if (warm) {
      clearTimeout(warm.idle);
      this.#warm.delete(accountId);
      this.#warm.set(accountId, warm);
      return warm.tab;
    }
    const spare = this.#spares.shift();
    this.#prepare();
    let tab = await (spare ?? Tab.open(this.#connection));
    if (tab.tainted) tab = await Tab.open(this.#connection);
    this.#warm.set(accountId, { tab, uses: 0, staticUses: 0 });
    return tab;
  }

  /**
   * Makes the tab ready for its account's next document, or closes it. Never rejects.
   * @param reusable false when its document did anything that may outlive it
   */
  async release(accountId: string, reusable: boolean): Promise<void> {
    const warm = this.#warm.get(accountId);
    if (!warm || this.#closed) return;
    if (!(reusable && (await this.#renew(warm)))) {
      await this.#drop(accountId, warm);
      return;
    }
    warm.idle = setTimeout(() => void this.#drop(accountId, warm), MAX_IDLE_MS);
    warm.idle.unref();
    const [oldest] = this.#warm;
    if (oldest !== undefined && this.#warm.size > WARM_ACCOUNTS) void this.#drop(...oldest);
  }

  /** The browser is about to end, and its tabs with it. */
  close(): void {
    this.#closed = true;
    for (const { idle } of this.#warm.values()) clearTimeout(idle);
  }

  async #renew(warm: Warm): Promise<boolean> {
    const { tab } = warm;
    warm.staticUses += 1;
    if (tab.tainted) return false;
    if (tab.clean && warm.staticUses < MAX_STATIC_USES) {
      tab.end();
      return true;
    }
    warm.uses += 1;
    return warm.uses < MAX_USES && (await resetTab(tab));
  }

  async #drop(accountId: string, warm: Warm): Promise<void> {
    clearTimeout(warm.idle);
    if (this.#warm.get(accountId) === warm) this.#warm.delete(accountId);
    if (!(await warm.tab.close()) && !this.#closed) this.#onUnclean();
  }

  #prepare(): void {
    while (!this.#closed && this.#spares.length < SPARES) {
      const opening = Tab.open(this.#connection);
      this.#spares.push(opening);
      opening.catch((error: unknown) => {
        const at = this.#spares.indexOf(opening);
        if (at >= 0) void this.#spares.splice(at, 1);
        if (error instanceof ChromeGone && !this.#closed) this.#onUnclean();
      });
    }
  }
}

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
async function resetTab(tab: Tab): Promise<boolean> {
  tab.end();
  tab.begin(new Deadline(RESET_TIMEOUT_MS));
  try {
    if (!(await openWindow(tab))) return false;
    const [, { result }, { usedSize }] = await Promise.all([
      tab.send('Page.resetNavigationHistory', undefined),
      tab.send('Runtime.evaluate', { expression: FORGET, returnByValue: true }),
      tab.send('Runtime.getHeapUsage', undefined),
      tab.clearCookies(),
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
