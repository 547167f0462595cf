/** The Chrome of one worker: started before it is needed, replaced before it is worn out. */
import type { LaunchedChrome } from './chrome/launch.ts';
import { memoryOfGroup } from './chrome/processes.ts';
import { WarmTabs } from './chrome/warm-tabs.ts';

/** Far above what a browser with its warm tabs needs. */
const MAX_MEMORY_BYTES = 1024 * 1024 * 1024;
const MAX_AGE_MS = 60 * 60 * 1000;
/** Reading /proc takes a few milliseconds. */
const USES_BETWEEN_CHECKS = 50;

export interface Browser {
  readonly chrome: LaunchedChrome;
  readonly tabs: WarmTabs;
}

export interface BrowsersOptions {
  readonly launch: () => Promise<LaunchedChrome>;
  readonly onMissing: (error: unknown) => void;
  readonly onEnded: (chrome: LaunchedChrome) => void;
  readonly maxMemoryBytes?: number;
  readonly maxAgeMs?: number;
}

export class Browsers {
  readonly #options: BrowsersOptions;
  readonly #born = new WeakMap<Browser, number>();
  #current: Promise<Browser> | undefined;
  #inUse: Browser | undefined;
  /** Worn out, and still rendering its last document. */
  #retired: Browser | undefined;
  #replacing = false;
  #closed = false;
  #uses = 0;

  constructor(options: BrowsersOptions) {
    this.#options = options;
  }

  /** The running browser, or a new one; a failed start is tried again by the next who asks. */
  running(): Promise<Browser> {
    if (this.#current === undefined) {
      const starting = this.#start();
      this.#current = starting;
      starting.catch((error: unknown) => {
        if (this.#current === starting) this.#current = undefined;
        this.#options.onMissing(error);
      });
    }
    return this.#current;
  }

  /** For one document, until `release`. */
  async use(): Promise<Browser> {
    const browser = await this.running();
    this.#inUse = browser;
    return browser;
  }

  release(): void {
    const retired = this.#retired;
    this.#inUse = undefined;
    this.#retired = undefined;
    if (retired) void this.#end(retired);
    this.#uses += 1;
    if (this.#uses % USES_BETWEEN_CHECKS === 0) void this.#replaceIfWorn();
  }

  /** Ends a browser that is not to be used again and starts the next one before it is needed. */
  async discard(broken: Browser): Promise<void> {
    if ((await this.#current?.catch(() => undefined)) === broken) {
      this.#current = undefined;
      if (!this.#closed) this.running().catch(() => {});
    }
    await this.#end(broken);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const running = await this.#current?.catch(() => undefined);
    this.#current = undefined;
    const ending = [running, this.#retired].filter((each) => each !== undefined);
    await Promise.all(ending.map((each) => this.#end(each)));
  }

  async #start(): Promise<Browser> {
    const chrome = await this.#options.launch();
    const discard = (): void => void this.discard(browser);
    const browser: Browser = { chrome, tabs: new WarmTabs(chrome.connection, discard) };
    this.#born.set(browser, performance.now());
    chrome.connection.onDisconnect(discard);
    await browser.tabs.prepared();
    return browser;
  }

  /** The next browser is warm before this one goes: whoever renders meanwhile notices nothing. */
  async #replaceIfWorn(): Promise<void> {
    const browser = await this.#current?.catch(() => undefined);
    if (!browser || this.#replacing || this.#closed) return;
    const { maxMemoryBytes = MAX_MEMORY_BYTES, maxAgeMs = MAX_AGE_MS } = this.#options;
    this.#replacing = true;
    try {
      const age = performance.now() - (this.#born.get(browser) ?? 0);
      if (age < maxAgeMs && (await memoryOfGroup(browser.chrome.pid)) < maxMemoryBytes) return;
      const next = this.#start();
      const fresh = await next;
      if (this.#closed || (await this.#current?.catch(() => undefined)) !== browser) {
        await this.#end(fresh);
        return;
      }
      this.#current = next;
      if (this.#inUse === browser) this.#retired = browser;
      else await this.#end(browser);
    } catch {
      // The worn one goes on; the next check tries again.
    } finally {
      this.#replacing = false;
    }
  }

  async #end(browser: Browser): Promise<void> {
    browser.tabs.close();
    await browser.chrome.end();
    this.#options.onEnded(browser.chrome);
  }
}
