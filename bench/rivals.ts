/** What people would otherwise run: puppeteer-cluster, and a loop of raw DevTools calls. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer, { type Page } from 'puppeteer';
import { Cluster } from 'puppeteer-cluster';
import type { Command, Params } from '../src/renderer/chrome/connection.ts';
import { launchChrome } from '../src/renderer/chrome/launch.ts';

/** Tabs that render at once; the service has its own default. */
const TABS = 4;
const TIMEOUT_MS = 60_000;

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
    puppeteer,
    puppeteerOptions: {
      executablePath: chromePath,
      headless: 'shell',
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    },
  });
  await cluster.task(async ({ page, data }: { page: Page; data: string }) => {
    await page.setContent(data);
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

/** A context for each document, four at once in one browser. */
export async function startRawLoop(chromePath: string): Promise<Rival> {
  const directory = await mkdtemp(join(tmpdir(), 'pressledger-raw-'));
  const chrome = await launchChrome({ path: chromePath, directory, proxyPort: 9 });
  const send = <M extends Command>(method: M, params: Params<M>, session?: string) =>
    chrome.connection.send(method, params, TIMEOUT_MS, session);
  const one = async (html: string): Promise<void> => {
    const { browserContextId } = await send('Target.createBrowserContext', {});
    const { targetId } = await send('Target.createTarget', {
      url: 'about:blank',
      browserContextId,
    });
    const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
    await send('Page.enable', {}, sessionId);
    const loaded = new Promise<void>((resolve) => {
      const off = chrome.connection.on('Page.loadEventFired', () => resolve(off()), sessionId);
    });
    await send('Page.setDocumentContent', { frameId: targetId, html }, sessionId);
    await loaded;
    const { data } = await send('Page.printToPDF', { generateTaggedPDF: true }, sessionId);
    check(Buffer.from(data, 'base64'));
    await send('Target.disposeBrowserContext', { browserContextId });
  };
  return {
    all: async (documents) => {
      const queue = documents.values();
      const work = async (): Promise<void> => {
        for (const document of queue) await one(document);
      };
      await Promise.all(Array.from({ length: TABS }, work));
    },
    one,
    close: async () => {
      await chrome.end();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function check(pdf: Uint8Array): void {
  if (Buffer.from(pdf.subarray(0, 5)).toString('latin1') !== '%PDF-') throw new Error('no PDF');
}
