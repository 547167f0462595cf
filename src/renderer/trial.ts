/** Starts a Chrome, prints one page the way a conversion goes and ends it: whether this machine can make PDFs at all. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChromeStartError } from './browser/failure.ts';
import { type LaunchedChrome, launchChrome } from './browser/launch.ts';
import { Deadline } from './chrome/deadline.ts';
import { writeDocument } from './chrome/load.ts';
import { openTab } from './chrome/window.ts';
import { startEgressProxy } from './egress/proxy.ts';

/** The longest wait for Chrome's PDF. */
const ANSWER_MS = 10_000;

export interface Trial extends Pick<LaunchedChrome, 'product' | 'isShell' | 'sandboxNote'> {
  /** The size of the PDF. */
  readonly bytes: number;
  /** Milliseconds from the start of Chrome to the PDF. */
  readonly milliseconds: number;
}

/** @throws {ChromeStartError} one line: it does not start or does not print */
export async function tryChrome(path: string): Promise<Trial> {
  const directory = await mkdtemp(join(tmpdir(), 'pressledger-trial-'));
  const began = performance.now();
  try {
    const chrome = await launchChrome({ path, directory });
    try {
      const { product, isShell, sandboxNote } = chrome;
      const { length: bytes } = await print(chrome);
      const milliseconds = Math.round(performance.now() - began);
      return { product, isShell, sandboxNote, bytes, milliseconds };
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new ChromeStartError(
        `Chrome at ${path} starts and does not print (${reason}): set CHROME_PATH to another.`,
        { cause },
      );
    } finally {
      await chrome.end();
    }
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
  }
}

async function print({ connection }: LaunchedChrome): Promise<Buffer> {
  // Nothing passes it but the sign-in of the tab.
  const proxy = await startEgressProxy({ allowPrivateNetwork: false, extraPorts: [] });
  try {
    const tab = await openTab(connection, 'html', proxy);
    tab.begin(new Deadline(ANSWER_MS));
    await writeDocument(tab, '<h1>Pressledger</h1>');
    const { data } = await tab.send('Page.printToPDF', {});
    const pdf = Buffer.from(data, 'base64');
    if (!pdf.subarray(0, 5).equals(Buffer.from('%PDF-'))) throw new Error('it printed no PDF');
    return pdf;
  } finally {
    await proxy.close();
  }
}
