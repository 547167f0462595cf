/** Work on finished documents, which needs no page. */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type {
  DocumentStep,
  DocumentWork,
  Encryption,
  SignatureTexts,
} from '../../domain/request-document.ts';
import { sizeText } from '../../text/size.ts';
import { PageFailure } from '../browser/failure.ts';
import {
  type FinishingContext,
  filesOf,
  finished,
  signatureOf,
  worked,
  type WorkMeans,
} from './finish-printed.ts';
import type { RenderedDocument } from '../messages.ts';
import { printedStamp } from './stamps.ts';
import type { Work, WorkStep } from '../../pdf/work-plan.ts';

const MAX_PDF_BYTES = 128 * 1024 * 1024;

function stepOf(step: DocumentStep): readonly WorkStep[] {
  switch (step.type) {
    case 'stamp':
      return [{ type: 'stamp', stamp: printedStamp(step), pages: step.pages }];
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

type Written = Pick<Work, 'encrypt' | 'optimize'>;

/** Keeps a place for a signature, after which nothing comes but how the file is written. */
async function withPlace(
  content: Uint8Array,
  sign: SignatureTexts,
  field: FinishingContext['field'],
  write: (content: Uint8Array) => Promise<Uint8Array>,
): Promise<{ readonly content: Buffer; readonly signature: RenderedDocument['signature'] }> {
  const signature = signatureOf(sign, field);
  const plan = { conformance: [], attachments: [], margins: { top: 0, bottom: 0 } };
  const { bytes } = await finished(Buffer.from(content), {
    ...plan,
    namesLanguage: false,
    signature,
  });
  const written = Buffer.from(await write(bytes));
  const { placeOfSignature } = await import('../../pdf/signature.ts');
  const place = placeOfSignature(written, signature);
  return { content: written, signature: { ...place, ...(field && { signer: field.signer }) } };
}

/**
 * @param sign what is to be signed, if anything
 * @throws {PageFailure} `unreadable_pdf`, `too_large`, `page_range`, `not_signed`, `timeout`
 */
export async function workOnDocuments(
  { sources, steps }: DocumentWork,
  sign: SignatureTexts | undefined,
  outputPath: string,
  { watermark, field, ...means }: WorkMeans & Pick<FinishingContext, 'watermark' | 'field'>,
): Promise<RenderedDocument> {
  const started = performance.now();
  const directory = dirname(outputPath);
  const last: Written = {
    encrypt: encryptionOf(steps),
    optimize: steps.some(({ type }) => type === 'optimize'),
  };
  const made = await worked(
    {
      sources: sources.map(({ file, password }) => {
        return { content: Buffer.from(file, 'base64'), password };
      }),
      areFinished: true,
      steps: [
        ...steps.flatMap(stepOf),
        ...(watermark === undefined ? [] : [{ type: 'watermark', stamp: watermark } as const]),
      ],
      ...(sign === undefined && last),
    },
    directory,
    means,
  );
  const { pages, title, repaired, signed, program } = made;
  const write = async (content: Uint8Array): Promise<Uint8Array> =>
    last.encrypt === undefined && last.optimize !== true
      ? content
      : (await worked({ sources: [{ content }], steps: [], ...last }, directory, means)).content;
  const { content, signature } =
    sign === undefined
      ? { ...made, signature: undefined }
      : await withPlace(made.content, sign, field, write);
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
    ...(signature !== undefined && { signature }),
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
