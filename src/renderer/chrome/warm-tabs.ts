/** The tabs of one browser: some that were never used, and for each account lately served its own. */
import type { Connection } from './connection.ts';
import { ChromeGone } from './failure.ts';
import { Tab, type TabProxy } from './tab.ts';
import { openWindow, resetTab } from './window.ts';

/** Accounts whose tab is kept. */
export const WARM_ACCOUNTS = 3;
/** The uses after which a tab is closed: what a page left unseen ends with its process. */
const MAX_USES = 100;
const MAX_IDLE_MS = 60_000;
/** A browser that takes longer to open a window is not going to. */
const OPEN_TIMEOUT_MS = 10_000;

/** The documents that a tab waits for: HTML in a window at an origin of its own, a URL in a blank one. */
export type Kind = 'html' | 'url';

/** Opens the way to the network of one tab. */
export type OpenProxy = () => Promise<TabProxy>;

interface Warm {
  readonly tab: Tab;
  /** True if its account was served lately, so that another document of it may follow. */
  expected: boolean;
  uses: number;
  idle?: NodeJS.Timeout;
}

export class WarmTabs {
  readonly #connection: Connection;
  readonly #openProxy: OpenProxy;
  /** Called when a tab could not be closed: something may run on in the browser. */
  readonly #onUnclean: () => void;
  /** Tabs that were never used, one for each kind. A document takes one; the next is prepared after it. */
  readonly #spares = new Map<Kind, Promise<Tab>>();
  /** Tabs by account, the least recently used first. */
  readonly #warm = new Map<string, Warm>();
  /** The accounts that tabs were taken for last. */
  #lately: readonly string[] = [];
  #closed = false;

  constructor(connection: Connection, openProxy: OpenProxy, onUnclean: () => void) {
    this.#connection = connection;
    this.#openProxy = openProxy;
    this.#onUnclean = onUnclean;
    this.#prepare();
  }

  /** Resolves when a document of an account that was never served need not wait for its tab. */
  async prepared(): Promise<void> {
    await this.#spares.get('html');
  }

  /**
   * A tab that only this account's documents were in. Give it back by `release`.
   * @throws {ChromeGone} when the browser opens none
   */
  async take(accountId: string, kind: Kind): Promise<Tab> {
    const warm = this.#warm.get(accountId);
    if (warm?.tab.tainted === true) {
      await this.#drop(accountId, warm);
    } else if (warm) {
      clearTimeout(warm.idle);
      warm.expected = true;
      this.#warm.delete(accountId);
      this.#warm.set(accountId, warm);
      return warm.tab;
    }
    const spare = this.#spares.get(kind);
    this.#spares.delete(kind);
    let tab = await (spare ?? this.#open(kind));
    if (tab.tainted) {
      void tab.close();
      tab = await this.#open(kind);
    }
    const expected = this.#lately.includes(accountId);
    this.#lately = [accountId, ...this.#lately.filter((each) => each !== accountId)].slice(
      0,
      WARM_ACCOUNTS,
    );
    this.#warm.set(accountId, { tab, expected, uses: 0 });
    return tab;
  }

  /**
   * Makes the tab ready for its account's next document, or closes it. Never rejects.
   * @param isReusable false when its document did anything that may outlive it; asked again when its window is gone
   */
  async release(accountId: string, isReusable: () => boolean): Promise<void> {
    // Not before: it would take processor time from the document.
    this.#prepare();
    const warm = this.#warm.get(accountId);
    if (!warm || this.#closed) return;
    const sound = isReusable() && !warm.tab.tainted;
    warm.uses += 1;
    // A window is opened only where another document of this account is likely.
    const isKept = sound && warm.expected && warm.uses < MAX_USES;
    if (!(isKept && (await resetTab(warm.tab)) && isReusable())) {
      // The next document waits: until then this one's scripts may still ask the network, and where the tab
      // does not close, the browser is to be another one.
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

  async #drop(accountId: string, warm: Warm): Promise<void> {
    clearTimeout(warm.idle);
    if (this.#warm.get(accountId) === warm) this.#warm.delete(accountId);
    if (!(await warm.tab.close()) && !this.#closed) this.#onUnclean();
  }

  async #open(kind: Kind): Promise<Tab> {
    const proxy = await this.#openProxy();
    try {
      const tab = await Tab.open(this.#connection, proxy);
      const opening = kind === 'url' || openWindow(tab, OPEN_TIMEOUT_MS);
      const isOpen = await Promise.resolve(opening).catch(() => false);
      tab.end();
      if (isOpen) return tab;
      void tab.close();
      throw new ChromeGone('Chrome opens no window.');
    } catch (error) {
      await proxy.close();
      throw error;
    }
  }

  #prepare(): void {
    for (const kind of ['html', 'url'] as const) {
      if (this.#closed || this.#spares.has(kind)) continue;
      const opening = this.#open(kind);
      this.#spares.set(kind, opening);
      opening.catch((error: unknown) => {
        if (this.#spares.get(kind) === opening) this.#spares.delete(kind);
        if (error instanceof ChromeGone && !this.#closed) this.#onUnclean();
      });
    }
  }
}
