/** Work on finished documents, which needs no page. */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DocumentStep, DocumentWork, Encryption } from '../../domain/request-document.ts';
import { sizeText } from '../../text/size.ts';
import { PageFailure } from '../browser/failure.ts';
import { type FinishingContext, filesOf, worked, type WorkLimits } from './finish-printed.ts';
import type { RenderedDocument } from '../messages.ts';
import type { WorkStep } from '../../pdf/work-plan.ts';

const MAX_PDF_BYTES = 128 * 1024 * 1024;

function stepOf(step: DocumentStep, stamps: Iterator<Uint8Array>): readonly WorkStep[] {
  switch (step.type) {
    case 'stamp': {
      const { value: stamp } = stamps.next();
      return stamp === undefined ? [] : [{ type: 'stamp', stamp, pages: step.pages }];
    }
    case 'pages':
    case 'rotate':
      return [step];
    case 'attach':
      return [{ type: 'attach', attachments: filesOf(step.attachments) }];
    case 'metadata': {
      const { type, ...metadata } = step;
      return [{ type, metadata }];
    }
    // What is joined and written needs no step.
    case 'merge':
    case 'encrypt':
    case 'optimize':
      return [];
  }
}

function encryptionOf(steps: readonly DocumentStep[]): Encryption | undefined {
  return steps.find((step) => step.type === 'encrypt');
}

/**
 * @throws {PageFailure} `unreadable_pdf`, `too_large`, `page_range`, `timeout`
 */
export async function workOnDocuments(
  { sources, steps }: DocumentWork,
  outputPath: string,
  { stamps, watermark }: Pick<FinishingContext, 'stamps' | 'watermark'>,
  limits: WorkLimits,
): Promise<RenderedDocument> {
  const started = performance.now();
  const printed = stamps.values();
  const { content, pages, title, repaired, signed, program } = await worked(
    {
      sources: sources.map(({ file, password }) => {
        return { content: Buffer.from(file, 'base64'), password };
      }),
      areFinished: true,
      steps: [
        ...steps.flatMap((step) => stepOf(step, printed)),
        ...(watermark === undefined ? [] : [{ type: 'watermark', stamp: watermark } as const]),
      ],
      encrypt: encryptionOf(steps),
      optimize: steps.some(({ type }) => type === 'optimize'),
    },
    dirname(outputPath),
    limits,
  );
  if (content.length > MAX_PDF_BYTES) {
    const most = sizeText(MAX_PDF_BYTES);
    throw new PageFailure('too_large', `The PDF is larger than ${most}.`);
  }
  await writeFile(outputPath, content, { flag: 'wx', mode: 0o600 });
  const print = performance.now() - started;
  const what = sources.length === 1 ? () => 'The file' : (n: number) => `Source ${n}`;
  const shortfalls = [
    ...repaired.map((n) => `${what(n)} was damaged, and was repaired.`),
    ...signed.map(
      (n) => `${what(n)} was signed: its signature does not hold for the result, and was removed.`,
    ),
  ];
  return {
    path: outputPath,
    sha256: createHash('sha256').update(content).digest('hex'),
    bytes: content.length,
    pages,
    fonts: [],
    title,
    timings: { load: 0, ready: 0, print },
    ...(shortfalls.length > 0 && { shortfalls }),
    page: {
      // The program that did it, in the place of Chrome.
      chrome: { product: program, revision: '', sandboxed: true, flags: [] },
      fonts: [],
      resources: [],
      resources_left_out: 0,
      tunnels: [],
      console_errors: [],
      console_errors_left_out: 0,
      waits: [],
    },
  };
}
