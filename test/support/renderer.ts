/** A render pool with real Chrome, shared by the tests of a file. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { PrintOptions } from '../../src/domain/event-fields.ts';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import { BUDGETS } from '../../src/limits/budgets.ts';
import { findChrome } from '../../src/renderer/browser/find.ts';
import { endNode } from '../../src/renderer/browser/processes.ts';
import type { RenderResult } from '../../src/renderer/messages.ts';
import { type RenderPool, startRenderPool } from '../../src/renderer/pool.ts';
import { type OpenedPdf, openPdf } from './pdf.ts';
import { accountId, OPTIONS } from './samples.ts';

export const silent = pino({ level: 'silent' });

export async function installedChrome(): Promise<string> {
  const { path } = await findChrome({
    chromePath: process.env['CHROME_PATH'],
    searchPath: process.env['PATH'],
    fallbackFile: join(import.meta.dirname, '../../setup/chrome/executable'),
  });
  return path;
}

export interface TestRenderer {
  readonly pool: RenderPool;
  readonly directory: string;
  render(
    request: RequestDocument,
    options?: Partial<PrintOptions>,
    deadlineMs?: number,
    account?: string,
    signer?: string,
    isTest?: boolean,
  ): Promise<RenderResult>;
  /** Renders and opens the PDF. @throws when it did not complete */
  pdf(
    request: RequestDocument,
    options?: Partial<PrintOptions>,
    account?: string,
  ): Promise<OpenedPdf>;
  /** Renders, and gives the PDF as it is. @throws when it did not complete */
  bytes(request: RequestDocument, options: Partial<PrintOptions>, account: string): Promise<Buffer>;
  files(): Promise<string[]>;
  close(): Promise<void>;
}

export async function startTestRenderer(
  settings: {
    concurrency?: number;
    allowPrivateNetwork?: boolean;
    chromePath?: string;
    maxPageMemoryBytes?: number;
  } = {},
): Promise<TestRenderer> {
  const directory = await mkdtemp(join(tmpdir(), 'pressledger-renderer-'));
  const pool = await startRenderPool({
    concurrency: settings.concurrency ?? 1,
    worker: {
      chromePath: settings.chromePath ?? (await installedChrome()),
      directory,
      allowPrivateNetwork: settings.allowPrivateNetwork ?? false,
      egressPorts: [],
      maxPageMemoryBytes: settings.maxPageMemoryBytes ?? BUDGETS.maxPageMemoryBytes.default,
    },
    logger: silent,
  });
  const render: TestRenderer['render'] = async (
    request,
    options = {},
    deadlineMs = 60_000,
    account = accountId(),
    signer,
    isTest,
  ) =>
    await pool.render({
      conversionId: randomUUID(),
      accountId: account,
      request,
      options: { ...OPTIONS, ...options },
      signer,
      isTest,
      pictures: true,
      deadlineMs,
      outputPath: join(directory, `${randomUUID()}.pdf`),
    });
  return {
    pool,
    directory,
    render,
    pdf: async (request, options, account) => {
      const result = await render(request, options, undefined, account);
      if (result.kind !== 'completed') throw new Error(`${result.kind}: ${result.message}`);
      return await openPdf(result.path);
    },
    bytes: async (request, options, account) => {
      const result = await render(request, options, undefined, account);
      if (result.kind !== 'completed') throw new Error(`${result.kind}: ${result.message}`);
      const pdf = await readFile(result.path);
      await rm(result.path);
      return pdf;
    },
    files: async () => (await readdir(directory)).filter((name) => name.endsWith('.pdf')),
    close: async () => {
      await pool.close();
      await endNode(directory);
    },
  };
}
