/** The Chrome of one worker: started before it is needed, replaced before it is worn out. */
import { setTimeout as delay } from 'node:timers/promises';
import { ChromeGone } from './browser/failure.ts';
import type { LaunchedChrome } from './browser/launch.ts';
import { ChromeMemory, MAX_WARM_BYTES } from './browser/memory.ts';
import { cpuTicks, hasEnded, killGroup } from './browser/processes.ts';
import { type AccountTab, type OpenProxy, WarmTabs } from './chrome/warm-tabs.ts';
import type { Kind } from './chrome/window.ts';

const MAX_AGE_MS = 60 * 60 * 1000;
const USES_BETWEEN_CHECKS = 50;
/** The process of a tab that was closed takes a moment to end. */
const AFTER_LARGE_PAGE_MS = 1_000;
const ASK_TIMEOUT_MS = 10_000;
/**
 * A process that takes so many clock ticks in each of these times is at work, also on a machine where many others are. What
 * is left to do for a tab that was closed ends before the last of them.
 */
const BUSY_MS = 400;
const BUSY_TICKS = 2;
const BUSY_LOOKS = 3;
const MUCH_TICKS = 20;

export interface Browser {
  readonly chrome: LaunchedChrome;
  readonly tabs: WarmTabs;
  readonly memory: ChromeMemory;
  /** @see sharedProcesses */
  shared: readonly number[];
  /** The processor time that these had taken when the last document took its tab. */
  ticksBefore: number;
  /** By `performance.now()`. */
  readonly startedAt: number;
}

/** A tab for one document, and its browser. */
export interface TakenTab extends AccountTab {
  readonly browser: Browser;
}

export interface BrowsersOptions {
  readonly launch: () => Promise<LaunchedChrome>;
  readonly openProxy: OpenProxy;
  readonly onMissing: (error: unknown) => void;
  readonly onEnded: (chrome: LaunchedChrome) => void;
  /** The most that one document may use beside what a warm browser holds. */
  readonly maxPageBytes: number;
  readonly maxWarmBytes?: number;
  readonly maxAgeMs?: number;
}

/** Those that all tabs share, by Chrome's names: one has their network, and one draws their canvases. */
const SHARED_TYPES: readonly string[] = ['network.mojom.NetworkService', 'GPU'];

/** The ids of the processes that all tabs share. */
async function sharedProcesses({ connection }: LaunchedChrome): Promise<readonly number[]> {
  const asked = connection.send('SystemInfo.getProcessInfo', undefined, ASK_TIMEOUT_MS);
  const { processInfo } = await asked;
  return processInfo.filter(({ type }) => SHARED_TYPES.includes(type)).map(({ id }) => id);
}

/**
 * Ends a browser of which a shared process has ended. Chrome starts another one and tells nobody: requests fail as if the
 * page had aborted them, canvases are blank, and a new process cannot sign in to the proxies of the tabs.
 * @throws {ChromeGone} when one has ended
 */
export function checkShared({ chrome, shared }: Browser): void {
  // The processes of a browser that was closed end, and the reason for that is the document's.
  if (!chrome.connection.isOpen || !shared.some(hasEnded)) return;
  const gone = new ChromeGone('A process of Chrome that all tabs share has ended.');
  chrome.connection.close(gone);
  throw gone;
}

const sharedTicks = ({ shared }: Browser): number =>
  shared.reduce((sum, pid) => sum + cpuTicks(pid), 0);

/** True if the shared processes worked so much for the last document that they may work still. Most need 0 to 70 ms for one. */
export const mayBeBusy = (browser: Browser): boolean =>
  sharedTicks(browser) - browser.ticksBefore >= MUCH_TICKS;

export class Browsers {
  readonly #options: BrowsersOptions;
  #current: Promise<Browser> | undefined;
  #inUse: Browser | undefined;
  /** Worn out, and still rendering its last document. */
  #retired: Browser | undefined;
  #replacing: Promise<void> | undefined;
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

  /** Takes a tab of the browser for one document, until `release`. */
  async take(accountId: string, kind: Kind): Promise<TakenTab> {
    const browser = await this.running();
    this.#inUse = browser;
    browser.ticksBefore = sharedTicks(browser);
    browser.memory.watch();
    try {
      return { browser, ...(await browser.tabs.take(accountId, kind)) };
    } catch (error) {
      if (browser.chrome.connection.isOpen) void this.#discard(browser);
      this.#rest(browser);
      throw error;
    }
  }

  /** @see WarmTabs.release */
  async release(taken: TakenTab, isReusable: () => boolean): Promise<void> {
    await taken.browser.tabs.release(taken, isReusable);
    this.#rest(taken.browser);
  }

  /**
   * Ends a browser whose shared processes still work for a tab that was closed. A shader that never ends would have the
   * canvases of all later documents wait for it.
   */
  async endIfBusy(browser: Browser): Promise<void> {
    for (let look = 0; look < BUSY_LOOKS; look += 1) {
      const before = sharedTicks(browser);
      await delay(BUSY_MS);
      if (sharedTicks(browser) - before < BUSY_TICKS) return;
    }
    if (browser.chrome.connection.isOpen) await this.#discard(browser);
  }

  #rest(browser: Browser): void {
    browser.memory.rest();
    this.#inUse = undefined;
    if (this.#retired) void this.#end(this.#retired);
    this.#retired = undefined;
    this.#uses += 1;
    if (this.#uses % USES_BETWEEN_CHECKS === 0) void this.#replaceIfWorn();
    if (browser.memory.peak > this.#maxWarmBytes) {
      setTimeout(() => void this.#replaceIfWorn(), AFTER_LARGE_PAGE_MS).unref();
    }
  }

  /** Ends a browser that is not to be used again and starts the next one before it is needed. */
  async #discard(broken: Browser): Promise<void> {
    if ((await this.#current?.catch(() => undefined)) === broken) {
      this.#current = undefined;
      if (!this.#closed) this.running().catch(() => {});
    }
    await this.#end(broken);
  }

  async close(): Promise<void> {
    this.#closed = true;
    // It ends what it is starting.
    await this.#replacing;
    const running = await this.#current?.catch(() => undefined);
    this.#current = undefined;
    const ending = [running, this.#retired].filter((each) => each !== undefined);
    await Promise.all(ending.map((each) => this.#end(each)));
  }

  async #start(): Promise<Browser> {
    const chrome = await this.#options.launch();
    const discard = (): void => void this.#discard(browser);
    const maxBytes = this.#maxWarmBytes + this.#options.maxPageBytes;
    // All of it: which of its processes the page made grow is not known, and the next one is soon up.
    const kill = (): void => killGroup(chrome.pid);
    const memory = new ChromeMemory(chrome.pid, maxBytes, kill, chrome.cgroup);
    const tabs = new WarmTabs(chrome.connection, this.#options.openProxy, discard);
    const startedAt = performance.now();
    const browser: Browser = { chrome, tabs, memory, shared: [], ticksBefore: 0, startedAt };
    chrome.connection.onDisconnect(discard);
    try {
      await browser.tabs.prepared();
      browser.shared = await sharedProcesses(chrome);
    } catch (error) {
      // Nobody else knows of it.
      await this.#end(browser);
      throw error;
    }
    return browser;
  }

  #replaceIfWorn(): Promise<void> {
    this.#replacing ??= this.#replaceWorn().finally(() => {
      this.#replacing = undefined;
    });
    return this.#replacing;
  }

  /** The next browser is warm before this one goes, so no document waits for the change. */
  async #replaceWorn(): Promise<void> {
    const browser = await this.#current?.catch(() => undefined);
    if (!browser || this.#closed) return;
    const { maxAgeMs = MAX_AGE_MS } = this.#options;
    try {
      const age = performance.now() - browser.startedAt;
      if (age < maxAgeMs && browser.memory.used() < this.#maxWarmBytes) return;
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
      // The worn one stays in use. The next check tries again.
    }
  }

  get #maxWarmBytes(): number {
    return this.#options.maxWarmBytes ?? MAX_WARM_BYTES;
  }

  async #end(browser: Browser): Promise<void> {
    browser.memory.rest();
    browser.tabs.close();
    await browser.chrome.end();
    this.#options.onEnded(browser.chrome);
  }
}
