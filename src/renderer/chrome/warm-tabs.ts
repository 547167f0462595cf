/** The tabs of one browser: some that were never used, and for each account lately served its own. */
import { CommandRefused, type Connection } from '../browser/connection.ts';
import { ChromeGone } from '../browser/failure.ts';
import type { Tab, TabProxy } from './tab.ts';
import { type Kind, openTab, resetTab } from './window.ts';

/** Accounts whose tab is kept. */
export const WARM_ACCOUNTS = 3;
/** The uses after which a tab is closed: what a page left unseen ends with its process. */
const MAX_USES = 100;
const MAX_IDLE_MS = 60_000;

/** Opens the way to the network of one tab. */
export type OpenProxy = () => Promise<TabProxy>;

/** A tab that only one account's documents were in. */
export interface AccountTab {
  readonly tab: Tab;
  readonly accountId: string;
  /** The documents before the one that it was taken for. */
  readonly uses: number;
  /** True if another document of its account may follow. */
  readonly mayStay: boolean;
}

interface Idle extends AccountTab {
  readonly timer: NodeJS.Timeout;
}

export class WarmTabs {
  readonly #connection: Connection;
  readonly #openProxy: OpenProxy;
  /** Called when a tab could not be closed: something may run on in the browser. */
  readonly #onUnclean: () => void;
  /** Tabs that were never used, one for each kind. A document takes one; the next is prepared after it. */
  readonly #spares = new Map<Kind, Promise<Tab>>();
  /** Those that wait for HTML of their account, the least recently used first. */
  readonly #idle = new Map<string, Idle>();
  /** The accounts that were served last. */
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
   * Takes a tab for one document. Give it back by `release`.
   * @throws {ChromeGone} when the browser opens none
   */
  async take(accountId: string, kind: Kind): Promise<AccountTab> {
    const wasLately = this.#lately.includes(accountId);
    const others = this.#lately.filter((each) => each !== accountId);
    this.#lately = [accountId, ...others].slice(0, WARM_ACCOUNTS);
    const idle = kind === 'html' ? this.#idle.get(accountId) : undefined;
    if (idle !== undefined) {
      this.#idle.delete(accountId);
      clearTimeout(idle.timer);
      if (!idle.tab.tainted) return idle;
      await this.#close(idle.tab);
    }
    const spare = this.#spares.get(kind);
    this.#spares.delete(kind);
    let tab = await (spare ?? this.#open(kind));
    if (tab.tainted) {
      void tab.close();
      tab = await this.#open(kind);
    }
    // What a URL's server leaves in a tab is never cleaned up.
    return { tab, accountId, uses: 0, mayStay: kind === 'html' && wasLately };
  }

  /**
   * Makes the tab ready for its account's next document, or closes it. Never rejects.
   * @param isReusable false when its document did anything that may outlive it; asked again when its window is gone
   */
  async release(
    { tab, accountId, uses, mayStay }: AccountTab,
    isReusable: () => boolean,
  ): Promise<void> {
    // Not before: it would take processor time from the document.
    this.#prepare();
    if (this.#closed) return;
    const isKept = mayStay && isReusable() && !tab.tainted && uses + 1 < MAX_USES;
    if (!(isKept && (await resetTab(tab)) && isReusable())) {
      // The next document waits: until then this one's scripts may still ask the network, and where the tab
      // does not close, the browser is to be another one.
      await this.#close(tab);
      return;
    }
    const timer = setTimeout(() => this.#forget(accountId), MAX_IDLE_MS);
    timer.unref();
    this.#idle.set(accountId, { tab, accountId, uses: uses + 1, mayStay: true, timer });
    const [oldest] = this.#idle.keys();
    if (oldest !== undefined && this.#idle.size > WARM_ACCOUNTS) this.#forget(oldest);
  }

  /** The browser is about to end, and its tabs with it. */
  close(): void {
    this.#closed = true;
    for (const { timer } of this.#idle.values()) clearTimeout(timer);
  }

  #forget(accountId: string): void {
    const idle = this.#idle.get(accountId);
    if (idle === undefined) return;
    this.#idle.delete(accountId);
    clearTimeout(idle.timer);
    void this.#close(idle.tab);
  }

  async #close(tab: Tab): Promise<void> {
    if (!(await tab.close()) && !this.#closed) this.#onUnclean();
  }

  async #open(kind: Kind): Promise<Tab> {
    const proxy = await this.#openProxy();
    try {
      return await openTab(this.#connection, kind, proxy);
    } catch (cause) {
      await proxy.close();
      if (cause instanceof CommandRefused) throw cause;
      // A browser that does not even open a tab is broken, whatever the page would have been.
      throw new ChromeGone('Chrome opens no window.', { cause });
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
