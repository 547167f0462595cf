/** A render worker: one thread, one Chrome with warm tabs, one egress proxy, one document at a time. */
import { rm } from 'node:fs/promises';
import { parentPort, threadId, workerData } from 'node:worker_threads';
import { plainText } from '../plain-text.ts';
import { reasonOf } from '../reason.ts';
import { type Browser, Browsers } from './browsers.ts';
import { Deadline, unlessLate } from './chrome/deadline.ts';
import { ChromeGone, PageFailure } from './chrome/failure.ts';
import { type LaunchedChrome, launchChrome } from './chrome/launch.ts';
import { maxChromeBytes, maxProcessBytes } from './chrome/memory.ts';
import { renderDocument } from './chrome/render.ts';
import type { Tab } from './chrome/tab.ts';
import { templateFault } from './chrome/render.ts';
import type { ExplainNetwork } from './chrome/navigation.ts';
import { type EgressJob, type EgressProxy, startEgressProxy } from './egress/proxy.ts';
import type {
  RenderResult,
  RenderTask,
  WarmUpResult,
  WorkerNotice,
  WorkerResult,
  WorkerSettings,
  WorkerTask,
} from './messages.ts';
import { pageManifest } from './manifest.ts';
import { Peers } from './peers.ts';

const MAX_MESSAGE_LENGTH = 1_000;

const settings = workerData as WorkerSettings;
const USED_TOO_MUCH =
  'The page used more memory than the ' +
  `${Math.round(settings.maxPageMemoryBytes / 2 ** 20)} MiB that a page may use.`;
const tell = (notice: WorkerNotice): void => parentPort?.postMessage(notice, []);

/** What may use the proxy: the Chromes of this worker. */
const peers = new Peers();
let proxy: Promise<EgressProxy> | undefined;
/** What the last document left is being removed: until then no other one begins. */
let cleaning = Promise.resolve();

function startedProxy(): Promise<EgressProxy> {
  proxy ??= startEgressProxy({
    allowPrivateNetwork: settings.allowPrivateNetwork,
    extraPorts: settings.egressPorts,
    mayConnect: (client) => peers.include(client),
  });
  return proxy;
}

async function launch(): Promise<LaunchedChrome> {
  const { port } = await startedProxy();
  const launched = await launchChrome({
    path: settings.chromePath,
    directory: settings.directory,
    proxyPort: port,
    maxProcessBytes: maxProcessBytes(settings.maxPageMemoryBytes),
    maxChromeBytes: maxChromeBytes(settings.maxPageMemoryBytes),
  });
  peers.add(launched.pid);
  tell({ kind: 'chromeStarted', threadId, pid: launched.pid, profile: launched.profile });
  return launched;
}

const browsers = new Browsers({
  launch,
  maxPageBytes: settings.maxPageMemoryBytes,
  onMissing: (error) => tell({ kind: 'chromeMissing', threadId, message: reasonOf(error) }),
  onEnded: ({ pid }) => {
    peers.delete(pid);
    tell({ kind: 'chromeEnded', threadId, pid });
  },
});

interface InHand {
  readonly browser: Browser;
  readonly tab: Tab;
}

async function takeTab(accountId: string): Promise<InHand> {
  await cleaning;
  const browser = await browsers.use();
  try {
    return { browser, tab: await browser.tabs.take(accountId) };
  } catch (error) {
    if (browser.chrome.connection.isOpen) void browsers.discard(browser);
    browsers.release();
    throw error;
  }
}

async function render(task: RenderTask): Promise<RenderResult> {
  const deadline = new Deadline(task.deadlineMs);
  const { conversionId, accountId, request, options, outputPath } = task;
  tell({ kind: 'taskTaken', threadId, conversionId });
  let inHand: InHand | undefined;
  let job: EgressJob | undefined;
  let completed = false;
  try {
    const taking = takeTab(accountId);
    inHand = await unlessLate(taking, deadline.remaining());
    if (inHand === undefined) {
      // It may still come: then it goes back unused.
      cleaning = taking.then(({ browser }) => putBack(browser, accountId, false)).catch(() => {});
      throw new Error('Chrome was not up before the time limit.');
    }
    const network = (await startedProxy()).beginJob();
    job = network;
    const explainNetwork: ExplainNetwork = (url) => network.explain(url);
    const order = { request, options, outputPath, explainNetwork };
    const rendered = await renderDocument(inHand.tab, order, deadline);
    completed = true;
    const { path, sha256, bytes, pages, timings } = rendered;
    const page = pageManifest(inHand.browser.chrome, rendered, job);
    return { kind: 'completed', path, sha256, bytes, pages, timings, page };
  } catch (error) {
    await rm(outputPath, { force: true });
    const failure = await failureOf(error, inHand, task, deadline);
    if (failure instanceof PageFailure) {
      // It may quote what a server or the client wrote.
      const message = plainText(failure.message).slice(0, MAX_MESSAGE_LENGTH);
      return { kind: 'failed', code: failure.code, message };
    }
    const code = error instanceof ChromeGone ? 'page_crashed' : 'renderer_failed';
    return { kind: 'crashed', code, message: reasonOf(error) };
  } finally {
    // What was fetched may have left cookies, connections and cached files: that is never cleaned up.
    const reusable = completed && request.html !== undefined && job?.requests === 0;
    job?.end();
    if (inHand) {
      cleaning = putBack(inHand.browser, accountId, reusable);
      // The answer need not wait for a tab that is made ready for its account's next document.
      if (!completed) await cleaning;
    }
  }
}

/** Tells whose fault it is; an error that is no PageFailure is nobody's as far as is known. */
async function failureOf(
  error: unknown,
  inHand: InHand | undefined,
  { request, options }: RenderTask,
  deadline: Deadline,
): Promise<unknown> {
  if (inHand === undefined) return error;
  const { tab, browser } = inHand;
  if (browser.memory.exceeded) return pageMemoryFailure(USED_TOO_MUCH);
  const template = tab.crashed
    ? await templateFault(browser.chrome.connection, request, options, deadline)
    : undefined;
  if (template !== undefined) return template;
  return error instanceof ChromeGone && browser.memory.wasShort
    ? pageMemoryFailure('The browser ran out of memory while it rendered the page.')
    : error;
}

function pageMemoryFailure(what: string): PageFailure {
  return new PageFailure(
    'page_memory',
    `${what} Very large images or canvases, very many elements or a script that never stops ` +
      'collecting can be the reason.',
  );
}

async function putBack(browser: Browser, accountId: string, reusable: boolean): Promise<void> {
  await browser.tabs.giveBack(accountId, reusable);
  browsers.release();
}

async function warmUp(): Promise<WarmUpResult> {
  try {
    const { product, sandboxed, sandboxNote } = (await browsers.running()).chrome;
    const info = { product, path: settings.chromePath, sandboxed, sandboxNote };
    return { kind: 'warm', chrome: info };
  } catch (error) {
    return { kind: 'cold', message: reasonOf(error) };
  }
}

async function shutDown(): Promise<WorkerResult> {
  await browsers.close();
  await (await proxy)?.close();
  return { kind: 'down' };
}

export default async function work(message: WorkerTask): Promise<WorkerResult> {
  switch (message.kind) {
    case 'warmUp':
      return await warmUp();
    case 'render':
      return await render(message.task);
    case 'shutDown':
      return await shutDown();
  }
}
