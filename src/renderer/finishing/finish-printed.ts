/**
 * The work that a request asks for on its printed PDF. A plain request loads nothing of it. The order is the one of
 * `finishPrinted`; nothing comes after what signs.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { PrintOptions } from '../../domain/event-fields.ts';
import { INVOICE_PROFILES } from '../../domain/invoice-profiles.ts';
import { lengthPoints } from '../../domain/page.ts';
import type { Conformance, PdfRequest, SignatureTexts } from '../../domain/request-document.ts';
import { sizeText } from '../../text/size.ts';
import { PageFailure } from '../browser/failure.ts';
import type { RenderedDocument } from '../messages.ts';
import type { PdfFile } from '../../pdf/finish.ts';
import type { DocumentPlan, FinishedDocument } from '../../pdf/finish-document.ts';
import { fieldPlace, type ShownSignature, shownText } from './signature-field.ts';
import { printedStamp } from './stamps.ts';
import {
  type PrintStamp,
  type Work,
  WorkFailure,
  type WorkResult,
  type WorkStep,
} from '../../pdf/work-plan.ts';

/** The document is read whole, and has some objects of the thread's memory for each of its own. */
const MAX_PDF_BYTES = 64 * 1024 * 1024;
/** Findings that a failure names. */
const MAX_NAMED = 5;

const NAMES: Readonly<Record<Conformance, string>> = {
  'pdfa-2b': 'PDF/A-2b',
  'pdfa-2u': 'PDF/A-2u',
  'pdfa-3b': 'PDF/A-3b',
  'pdfa-3u': 'PDF/A-3u',
  'pdfa-3a': 'PDF/A-3a',
  'pdfua-1': 'PDF/UA-1',
};

/** Files that are to lie within a PDF. */
export const filesOf = (
  attachments: NonNullable<PdfRequest['attachments']>,
): DocumentPlan['attachments'] =>
  attachments.map(({ content, relationship = 'Unspecified', ...each }) => ({
    ...each,
    relationship,
    content: Buffer.from(content, 'base64'),
  }));

export function signatureOf(
  sign: SignatureTexts,
  shown: FinishingContext['field'],
): NonNullable<DocumentPlan['signature']> {
  const { reason, location, field } = sign;
  const place = field && shown && fieldPlace(field);
  return {
    token: randomBytes(16),
    time: shown?.time ?? new Date(),
    reason,
    location,
    field: place && shown && { ...place, picture: shown.picture, text: shownText(shown) },
  };
}

function planOf(
  request: PdfRequest,
  { options, namesLanguage, field }: FinishingContext,
): DocumentPlan {
  const { conformance = [], attachments = [], invoice, sign } = request;
  const files = filesOf(attachments);
  const margins = {
    top: lengthPoints(options.margin_top),
    bottom: lengthPoints(options.margin_bottom),
  };
  const signature = sign && signatureOf(sign, field);
  const plan = { conformance, attachments: files, margins, namesLanguage, signature };
  if (invoice === undefined) return plan;
  const { filename, version, relationship } = INVOICE_PROFILES[invoice.profile];
  const xml = {
    filename,
    relationship,
    type: 'text/xml',
    description: 'Factur-X invoice',
    content: Buffer.from(invoice.xml, 'base64'),
  };
  // The metadata name it: it comes first.
  return {
    ...plan,
    attachments: [xml, ...files],
    invoice: { filename, version, level: invoice.profile },
  };
}

export interface WorkLimits {
  /** Milliseconds that remain of the conversion's time. */
  remaining(): number;
  /** Aborted when nobody needs the PDF any more. */
  readonly unneeded: AbortSignal;
}

/** What work on a PDF has from the renderer. */
export interface WorkMeans {
  readonly limits: WorkLimits;
  readonly printStamp: PrintStamp;
}

/**
 * @param directory for the files of the work
 * @throws {PageFailure} `unreadable_pdf`, `too_large`, `page_range`, `timeout`, `renderer_failed`
 */
export async function worked(
  work: Work,
  directory: string,
  { limits, printStamp }: WorkMeans,
): Promise<WorkResult> {
  const { workOnPdf } = await import('../../pdf/work.ts');
  const { unneeded } = limits;
  const place = { directory, deadlineMs: limits.remaining(), unneeded };
  try {
    return await workOnPdf(work, place, printStamp);
  } catch (error) {
    throw error instanceof WorkFailure ? new PageFailure(error.fault, error.message) : error;
  }
}

/** Changes of the pages, which come before all else. */
function stepsOf(
  { pages, rotate, stamp }: PdfRequest,
  watermark?: Uint8Array,
): readonly WorkStep[] {
  return [
    ...(pages === undefined ? [] : [{ type: 'pages', pages } as const]),
    ...(rotate === undefined ? [] : [{ type: 'rotate', rotate } as const]),
    ...(stamp === undefined
      ? []
      : [{ type: 'stamp', stamp: printedStamp(stamp), pages: stamp.pages } as const]),
    ...(watermark === undefined ? [] : [{ type: 'stamp', stamp: watermark } as const]),
  ];
}

export async function finished(bytes: Buffer, plan: DocumentPlan): Promise<FinishedDocument> {
  const [{ finishDocument }, { PdfTooComplex }, { FieldMisplaced }] = await Promise.all([
    import('../../pdf/finish-document.ts'),
    import('../../pdf/pdf-objects.ts'),
    import('../../pdf/signature-field.ts'),
  ]);
  try {
    return finishDocument(bytes, plan);
  } catch (error) {
    if (error instanceof FieldMisplaced) throw new PageFailure(error.code, error.message);
    throw error instanceof PdfTooComplex ? new PageFailure('too_large', error.message) : error;
  }
}

/**
 * Does what is asked for: choose, turn and stamp pages, attach, conform or encrypt, optimise, leave room for
 * a signature. Its file has other content then.
 * @throws {PageFailure} `not_conforming`, `not_signed`, `too_large`, `page_range`, `timeout`
 */
export async function finishPrinted(
  printed: PdfFile,
  request: PdfRequest,
  context: FinishingContext,
): Promise<{
  readonly file: PdfFile;
  readonly reached: Pick<RenderedDocument, 'conformance' | 'shortfalls' | 'signature'>;
}> {
  if (printed.bytes > MAX_PDF_BYTES) {
    const most = sizeText(MAX_PDF_BYTES);
    throw new PageFailure('too_large', `The PDF is larger than ${most}: it cannot be worked on.`);
  }
  const { watermark, field } = context;
  const directory = dirname(printed.path);
  let content: Buffer = await readFile(printed.path);
  let { pages } = printed;
  const steps = stepsOf(request, watermark);
  if (steps.length > 0) {
    const changed = await worked({ sources: [{ content }], steps }, directory, context);
    content = bufferOf(changed.content);
    pages = changed.pages;
  }
  const plan = planOf(request, context);
  const { signature } = plan;
  let reached = {};
  if (plan.attachments.length > 0 || plan.conformance.length > 0 || signature !== undefined) {
    const made = await finished(content, plan);
    content = made.bytes;
    reached = reachedBy(made, plan, request);
  }
  const { encrypt, optimize } = request;
  if (encrypt !== undefined || optimize === true) {
    const work = { sources: [{ content }], steps: [], encrypt, optimize };
    const last = await worked(work, directory, context);
    content = bufferOf(last.content);
  }
  if (signature !== undefined) {
    const { placeOfSignature } = await import('../../pdf/signature.ts');
    const place = placeOfSignature(content, signature);
    reached = { ...reached, signature: { ...place, ...(field && { signer: field.signer }) } };
  }
  await writeFile(printed.path, content);
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { file: { ...printed, sha256, bytes: content.length, pages }, reached };
}

export interface FinishingContext extends WorkMeans {
  readonly options: PrintOptions;
  /** False if the language that the PDF names is Chrome's own. */
  readonly namesLanguage: boolean;
  /** A PDF to lie over all pages, over the stamps too. */
  readonly watermark?: Uint8Array | undefined;
  /** What the signature shows on its page, where it does, and a PDF that shows it. */
  readonly field?: (ShownSignature & { readonly picture: Uint8Array }) | undefined;
}

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** @throws {PageFailure} `not_conforming` */
function reachedBy(
  { conformance, findings }: FinishedDocument,
  plan: DocumentPlan,
  request: PdfRequest,
): Pick<RenderedDocument, 'conformance' | 'shortfalls'> {
  const missed = plan.conformance.filter((each) => !conformance.includes(each));
  const names = missed.map((each) => NAMES[each]).join(' and ');
  if (missed.length > 0 && request.conformance_required !== false) {
    const named = findings.slice(0, MAX_NAMED).join('; ');
    const more = findings.length - MAX_NAMED;
    const rest = more > 0 ? `; and ${more} more` : '';
    throw new PageFailure(
      'not_conforming',
      `The document cannot conform to ${names}: ${named}${rest}. ` +
        'Change the page, or set pdf.conformance_required to false to get the PDF without.',
    );
  }
  return {
    ...(plan.conformance.length > 0 && { conformance }),
    ...(missed.length > 0 && {
      shortfalls: findings.map((each) => `The PDF does not conform to ${names}: ${each}.`),
    }),
  };
}
