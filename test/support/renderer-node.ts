/** A whole renderer node beside a real queue and blob store, for tests. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { UnencryptedText } from '../../src/documents/encryption.ts';
import { FileBlobStore } from '../../src/documents/files.ts';
import { MAX_ATTEMPTS } from '../../src/domain/conversion.ts';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import { BUDGETS } from '../../src/limits/budgets.ts';
import { InProcessRenderQueue } from '../../src/render-queue/in-process.ts';
import type {
  CompletedOutcome,
  FailedOutcome,
  RenderReport,
} from '../../src/render-queue/messages.ts';
import { type RendererSettings, startRendererNode } from '../../src/renderer/node.ts';
import { systemClock } from '../../src/time/clock.ts';
import { newConversionId } from '../../src/time/ids.ts';
import { eventually } from './deadline.ts';
import { testDirectory } from './directory.ts';
import { recordReports } from './render-queue.ts';
import { silent } from './renderer.ts';
import { accountId, CONTENT_KEY, OPTIONS } from './samples.ts';

interface ChromeRecord {
  readonly pid: number;
  readonly profile: string;
}

const isEnd = (report: RenderReport): report is CompletedOutcome | FailedOutcome =>
  report.kind === 'completed' ||
  (report.kind === 'failed' && (!report.retryable || report.attempt === MAX_ATTEMPTS));

export async function startNode(
  t: Test,
  changes: Partial<RendererSettings> = {},
  directory: string = testDirectory(t),
  queue = new InProcessRenderQueue(),
) {
  const tempDir = join(directory, 'tmp');
  const blobs = await FileBlobStore.open(join(directory, 'blobs'));
  const over = new Set<string>();
  const reports = recordReports(queue, over);
  const node = await startRendererNode({
    queue,
    blobs,
    settings: {
      concurrency: 1,
      timeoutMs: 10_000,
      chromePath: process.env['CHROME_PATH'],
      allowPrivateNetwork: false,
      egressPorts: [],
      maxPageMemoryBytes: BUDGETS.maxPageMemoryBytes.default,
      pictures: true,
      tempDir,
      ...changes,
    },
    name: 'test-node',
    clock: systemClock,
    logger: silent,
  });
  t.teardown(() => node.stop());

  /** The outcome that ends it: the third one, where each could be tried again. */
  const ended = (id: string): Promise<CompletedOutcome | FailedOutcome> =>
    eventually(`an outcome of ${id}`, () =>
      reports.filter((each) => isEnd(each)).find(({ conversionId }) => conversionId === id),
    );
  const offer = async (request: RequestDocument, retry = false): Promise<string> => {
    const conversionId = newConversionId(Date.now());
    const text = new UnencryptedText(JSON.stringify(request));
    const staged = text.stage(blobs, { conversionId, contentKey: CONTENT_KEY }, 'request');
    await staged.store();
    const contentKey = CONTENT_KEY.toString('base64url');
    const job = { conversionId, accountId: accountId(), request: staged.ref, contentKey };
    await queue.offer({ ...job, options: OPTIONS, retry });
    return conversionId;
  };
  const chromes = async (): Promise<ChromeRecord[]> => {
    const [nodeDirectory = ''] = await readdir(tempDir);
    const files = await readdir(join(tempDir, nodeDirectory));
    const records = files.filter((name) => name.endsWith('.process.json'));
    return await Promise.all(
      records.map(async (name) => {
        const text = await readFile(join(tempDir, nodeDirectory, name), 'utf8');
        return JSON.parse(text) as ChromeRecord;
      }),
    );
  };
  return {
    node,
    blobs,
    queue,
    reports,
    tempDir,
    offer,
    chromes,
    ended,
    /** Has the log say that it was cancelled, and the queue know it. */
    cancel: (id: string) => {
      over.add(id);
      return queue.discard(new Set([id]));
    },
  };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
