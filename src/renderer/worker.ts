/** A render worker: one thread, one Chrome, one egress proxy, one document at a time. */
import { rm } from 'node:fs/promises';
import { parentPort, threadId, workerData } from 'node:worker_threads';
import { Deadline, within } from './chrome/deadline.ts';
import { ChromeGone, PageFailure } from './chrome/failure.ts';
import { type LaunchedChrome, launchChrome } from './chrome/launch.ts';
import { renderDocument } from './chrome/render.ts';
import type { ExplainNetwork } from './chrome/watch.ts';
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

const settings = workerData as WorkerSettings;
const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
const tell = (notice: WorkerNotice): void => parentPort?.postMessage(notice, []);

let proxy: Promise<EgressProxy> | undefined;
let chrome: Promise<LaunchedChrome> | undefined;

function startedProxy(): Promise<EgressProxy> {
  proxy ??= startEgressProxy({
    allowPrivateNetwork: settings.allowPrivateNetwork,
    extraPorts: settings.egressPorts,
  });
  return proxy;
}

async function launch(): Promise<LaunchedChrome> {
  const { port } = await startedProxy();
  const launched = await launchChrome({
    path: settings.chromePath,
    directory: settings.directory,
    proxyPort: port,
  });
  tell({ kind: 'chromeStarted', threadId, pid: launched.pid, profile: launched.profile });
  launched.connection.onDisconnect(() => void discard(launched));
  return launched;
}

/** The running Chrome, or a new one; a failed start is tried again by the next who asks. */
function runningChrome(): Promise<LaunchedChrome> {
  if (chrome === undefined) {
    const starting = launch();
    chrome = starting;
    starting.catch((error: unknown) => {
      if (chrome === starting) chrome = undefined;
      tell({ kind: 'chromeMissing', threadId, message: messageOf(error) });
    });
  }
  return chrome;
}

/** Ends a Chrome that is not to be used again and starts the next one before it is needed. */
async function discard(broken: LaunchedChrome): Promise<void> {
  if ((await chrome?.catch(() => undefined)) === broken) {
    chrome = undefined;
    runningChrome().catch(() => {});
  }
  await broken.end();
  tell({ kind: 'chromeEnded', threadId, pid: broken.pid });
}

/** A tunnel is known by host and port alone, so that is what addresses are compared by. */
function place(url: string): string {
  const parsed = URL.parse(/^[a-z]+:\/\//i.test(url) ? url : `https://${url}`);
  if (parsed === null) return url;
  const standard = parsed.protocol === 'http:' ? '80' : '443';
  return `${parsed.hostname}:${parsed.port === '' ? standard : parsed.port}`;
}

function explainWith(job: EgressJob): ExplainNetwork {
  return (url) => {
    const at = (incident: { readonly url: string }): boolean => place(incident.url) === place(url);
    const refused = job.refused.findLast(at);
    if (refused) return { refused: true, reason: refused.reason };
    const failed = job.failed.findLast(at);
    return failed && { refused: false, reason: failed.reason };
  };
}

async function render(task: RenderTask): Promise<RenderResult> {
  const deadline = new Deadline(task.deadlineMs);
  tell({ kind: 'taskTaken', threadId, conversionId: task.conversionId });
  let browser: LaunchedChrome | undefined;
  let job: EgressJob | undefined;
  try {
    browser = await within(runningChrome(), deadline.remaining());
    if (browser === undefined) throw new Error('Chrome was not up before the time limit.');
    job = (await startedProxy()).beginJob();
    let unclean = false;
    const rendered = await renderDocument(
      browser.connection,
      { ...task, explainNetwork: explainWith(job) },
      deadline,
      () => {
        unclean = true;
      },
    ).finally(() => {
      if (unclean && browser?.connection.isOpen === true) void discard(browser);
    });
    const { path, sha256, bytes, pages, timings } = rendered;
    return { kind: 'completed', path, sha256, bytes, pages, timings, chrome: browser.product };
  } catch (error) {
    await rm(task.outputPath, { force: true });
    if (error instanceof PageFailure) {
      return { kind: 'failed', code: error.code, message: error.message };
    }
    const code = error instanceof ChromeGone ? 'page_crashed' : 'renderer_failed';
    return { kind: 'crashed', code, message: messageOf(error) };
  } finally {
    job?.end();
  }
}

async function warmUp(): Promise<WarmUpResult> {
  try {
    const { product, sandboxed, sandboxNote } = await runningChrome();
    const info = { product, path: settings.chromePath, sandboxed, sandboxNote };
    return { kind: 'warm', chrome: info };
  } catch (error) {
    return { kind: 'cold', message: messageOf(error) };
  }
}

async function shutDown(): Promise<WorkerResult> {
  const running = await chrome?.catch(() => undefined);
  chrome = undefined;
  await running?.end();
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
