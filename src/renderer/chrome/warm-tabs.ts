/** The tabs of one browser: some that were never used, and for each account lately served its own. */
import type { Connection } from './connection.ts';
import { type FallbackUse, mayFollow } from './fallback-fonts.ts';
import { ChromeGone } from './failure.ts';
import { Tab } from './tab.ts';
import { resetTab } from './window.ts';

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
  /** True if its account was served lately, so that another document of it may follow. */
  expected: boolean;
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
  /** The accounts that tabs were taken for last. */
  #lately: readonly string[] = [];
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
  async take(accountId: string, fallback: FallbackUse): Promise<Tab> {
    const tab = await this.#take(accountId, fallback);
    if (fallback.leaves !== 'none') tab.fallback = fallback.leaves;
    return tab;
  }

  async #take(accountId: string, { needs }: FallbackUse): Promise<Tab> {
    const warm = this.#warm.get(accountId);
    if (warm && (warm.tab.tainted || !mayFollow(warm.tab.fallback, needs))) {
      await this.#drop(accountId, warm);
    } else if (warm) {
      clearTimeout(warm.idle);
      warm.expected = true;
      this.#warm.delete(accountId);
      this.#warm.set(accountId, warm);
      return warm.tab;
    }
    const spare = this.#spares.shift();
    this.#prepare();
    let tab = await (spare ?? Tab.open(this.#connection));
    if (tab.tainted) tab = await Tab.open(this.#connection);
    const expected = this.#lately.includes(accountId);
    this.#lately = [accountId, ...this.#lately.filter((each) => each !== accountId)].slice(
      0,
      WARM_ACCOUNTS,
    );
    this.#warm.set(accountId, { tab, expected, uses: 0, staticUses: 0 });
    return tab;
  }

  /**
   * Makes the tab ready for its account's next document, or closes it. Never rejects.
   * @param reusable false when its document did anything that may outlive it
   */
  async release(accountId: string, reusable: boolean): Promise<void> {
    const warm = this.#warm.get(accountId);
    if (!warm || this.#closed) return;
    const sound = reusable && !warm.tab.tainted;
    // A window is opened only where another document of this account is likely and may follow in this process. After a
    // mixed one, none that needs fallback fonts may.
    const isExpected = warm.expected && warm.tab.fallback !== 'mixed';
    const isKept = sound && (warm.tab.clean || isExpected);
    if (!(isKept && (await this.#renew(warm)))) {
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

  async #renew(warm: Warm): Promise<boolean> {
    const { tab } = warm;
    warm.staticUses += 1;
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
