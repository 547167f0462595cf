/** A whole renderer node beside a real queue and blob store, for tests. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { UnencryptedText } from '../../src/blob-store/encryption.ts';
import { FileBlobStore } from '../../src/blob-store/files.ts';
import { BUDGETS } from '../../src/budgets.ts';
import { systemClock } from '../../src/clock.ts';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import { newConversionId } from '../../src/ids.ts';
import { InProcessRenderQueue } from '../../src/render-queue/in-process.ts';
import type { RenderReport } from '../../src/render-queue/messages.ts';
import { type RendererSettings, startRendererNode } from '../../src/renderer/node.ts';
import { testDirectory } from './directory.ts';
import { silent } from './renderer.ts';
import { accountId, CONTENT_KEY, OPTIONS } from './samples.ts';

interface ChromeRecord {
  readonly pid: number;
  readonly profile: string;
}

export async function startNode(
  t: Test,
  changes: Partial<RendererSettings> = {},
  directory: string = testDirectory(t),
  queue = new InProcessRenderQueue(),
) {
  const tempDir = join(directory, 'tmp');
  const blobs = await FileBlobStore.open(join(directory, 'blobs'));
  const reports: RenderReport[] = [];
  const wakes: (() => void)[] = [];
  queue.reports(async (report) => {
    reports.push(report);
    for (const wake of wakes.splice(0)) wake();
  });
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
      tempDir,
      ...changes,
    },
    name: 'test-node',
    clock: systemClock,
    logger: silent,
  });
  t.teardown(() => node.stop());

  const reported = async (id: string, wanted: (report: RenderReport) => boolean) => {
    for (;;) {
      const found = reports.find((each) => each.conversionId === id && wanted(each));
      if (found) return found;
      await new Promise<void>((resolve) => wakes.push(resolve));
    }
  };
  const offer = async (request: RequestDocument, attempt = 1): Promise<string> => {
    const conversionId = newConversionId(Date.now());
    const text = new UnencryptedText(JSON.stringify(request));
    const staged = text.stage(blobs, { conversionId, contentKey: CONTENT_KEY }, 'request');
    await staged.store();
    const contentKey = CONTENT_KEY.toString('base64url');
    const job = { conversionId, accountId: accountId(), request: staged.ref, contentKey };
    await queue.offer({ ...job, options: OPTIONS, attempt });
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
    ended: (id: string) => reported(id, (report) => report.kind !== 'started'),
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
