/** What people would otherwise run: puppeteer-cluster, and loops of raw DevTools calls. They print at load. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import puppeteer, { type Page } from 'puppeteer';
import { Cluster } from 'puppeteer-cluster';
import {
  type Command,
  Connection,
  type Params,
  type Result,
} from '../src/renderer/browser/connection.ts';
import { chromeFlags } from '../src/renderer/browser/flags.ts';
import { isAddress } from './documents.ts';
import type { Site } from './site.ts';

/** Tabs that render at once; the service has its own default. */
const TABS = 4;
const TIMEOUT_MS = 60_000;
const IS_ROOT = process.getuid?.() === 0;

export interface Rival {
  /** Converts all of them, at most four at once. */
  all(documents: readonly string[]): Promise<void>;
  /** Converts one. */
  one(document: string): Promise<void>;
  close(): Promise<void>;
}

/** A context for each document, as its documentation proposes. */
export async function startPuppeteerCluster(chromePath: string): Promise<Rival> {
  const cluster = await Cluster.launch({
    concurrency: Cluster.CONCURRENCY_CONTEXT,
    maxConcurrency: TABS,
    timeout: TIMEOUT_MS,
    puppeteer,
    puppeteerOptions: {
      executablePath: chromePath,
      headless: 'shell',
      args: IS_ROOT ? ['--no-sandbox'] : [],
    },
  });
  await cluster.task(async ({ page, data }: { page: Page; data: string }) => {
    if (isAddress(data)) await page.goto(data);
    else await page.setContent(data);
    check(await page.pdf({ format: 'a4' }));
  });
  const one = async (document: string): Promise<void> => {
    await cluster.execute(document);
  };
  return {
    all: async (documents) => {
      await Promise.all(documents.map(one));
    },
    one,
    close: () => cluster.close(),
  };
}

/** Chrome with our flags, but for the proxy. */
class RawChrome {
  readonly #connection: Connection;
  readonly #end: () => Promise<void>;

  private constructor(connection: Connection, end: () => Promise<void>) {
    this.#connection = connection;
    this.#end = end;
  }

  static async start(path: string): Promise<RawChrome> {
    const directory = await mkdtemp(join(tmpdir(), 'pressledger-raw-'));
    const flags = chromeFlags({ proxyPort: 0, sandbox: !IS_ROOT }).filter(
      (flag) => !flag.startsWith('--proxy'),
    );
    const own = ['--remote-debugging-pipe', `--user-data-dir=${directory}`, 'about:blank'];
    const child = spawn(path, [...flags, ...own], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    const [, , , commands, messages] = child.stdio;
    if (!(commands instanceof Writable && messages instanceof Readable)) {
      throw new TypeError('Chrome has no pipes');
    }
    return new RawChrome(new Connection(commands, messages), async () => {
      const exit = once(child, 'exit');
      child.kill();
      await exit;
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    });
  }

  async send<M extends Command>(
    method: M,
    params: Params<M>,
    session?: string,
  ): Promise<Result<M>> {
    return await this.#connection.send(method, params, TIMEOUT_MS, session);
  }

  async openTab(): Promise<RawTab> {
    const { browserContextId } = await this.send('Target.createBrowserContext', {});
    const url = 'about:blank';
    const { targetId } = await this.send('Target.createTarget', { url, browserContextId });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    await this.send('Page.enable', {}, sessionId);
    return { browserContextId, targetId, sessionId };
  }

  async write({ targetId, sessionId }: RawTab, html: string): Promise<void> {
    const loaded = this.#loaded(sessionId);
    await this.send('Page.setDocumentContent', { frameId: targetId, html }, sessionId);
    await loaded;
  }

  async navigate({ sessionId }: RawTab, url: string): Promise<void> {
    const loaded = this.#loaded(sessionId);
    await this.send('Page.navigate', { url }, sessionId);
    await loaded;
  }

  async print({ sessionId }: RawTab): Promise<void> {
    const { data } = await this.send('Page.printToPDF', { generateTaggedPDF: true }, sessionId);
    check(Buffer.from(data, 'base64'));
  }

  async end(): Promise<void> {
    this.#connection.close();
    await this.#end();
  }

  #loaded(sessionId: string): Promise<void> {
    return new Promise((resolve) => {
      const off = this.#connection.on('Page.loadEventFired', () => resolve(off()), sessionId);
    });
  }
}

interface RawTab {
  readonly browserContextId: string;
  readonly targetId: string;
  readonly sessionId: string;
}

/** A context for each document, four at once in one browser. */
export async function startRawLoop(chromePath: string): Promise<Rival> {
  const chrome = await RawChrome.start(chromePath);
  const one = async (document: string): Promise<void> => {
    const tab = await chrome.openTab();
    await (isAddress(document) ? chrome.navigate(tab, document) : chrome.write(tab, document));
    await chrome.print(tab);
    await chrome.send('Target.disposeBrowserContext', { browserContextId: tab.browserContextId });
  };
  return {
    all: (documents) => inTurn(documents, Array(TABS).fill(one)),
    one,
    close: () => chrome.end(),
  };
}

/**
 * Four tabs of one browser that are used again and again, whatever a document leaves in them. HTML with a
 * script is navigated to, for a script needs a window of its own.
 */
export async function startWarmLoop(chromePath: string, site: Site): Promise<Rival> {
  const chrome = await RawChrome.start(chromePath);
  const tabs = await Promise.all(Array.from({ length: TABS }, () => chrome.openTab()));
  const through =
    (tab: RawTab) =>
    async (document: string): Promise<void> => {
      if (isAddress(document)) await chrome.navigate(tab, document);
      else if (/<script/i.test(document)) await chrome.navigate(tab, site.publish(document));
      else await chrome.write(tab, document);
      await chrome.print(tab);
    };
  const [first = () => Promise.reject(new Error('no tab'))] = tabs.map(through);
  return {
    all: (documents) => inTurn(documents, tabs.map(through)),
    one: first,
    close: () => chrome.end(),
  };
}

/** Each of the workers takes the next document as soon as it has ended one. */
async function inTurn(
  documents: readonly string[],
  workers: readonly ((document: string) => Promise<void>)[],
): Promise<void> {
  const queue = documents.values();
  await Promise.all(
    workers.map(async (one) => {
      for (const document of queue) await one(document);
    }),
  );
}

function check(pdf: Uint8Array): void {
  if (Buffer.from(pdf.subarray(0, 5)).toString('latin1') !== '%PDF-') throw new Error('no PDF');
}
