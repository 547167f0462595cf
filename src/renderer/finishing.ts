/** The work that a request asks for on its printed PDF. A plain request loads nothing of it. */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { PrintOptions } from '../domain/event-fields.ts';
import { INVOICE_PROFILES } from '../domain/invoice-profiles.ts';
import { lengthMillimetres } from '../domain/page.ts';
import type { Conformance, PdfRequest } from '../domain/request-document.ts';
import { PageFailure } from './browser/failure.ts';
import type { RenderedDocument } from './messages.ts';
import type { PdfFile } from './pdf/finish.ts';
import type { DocumentPlan, FinishedDocument } from './pdf/finish-document.ts';

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

const points = (length: string): number => (lengthMillimetres(length) / 25.4) * 72;

function planOf(request: PdfRequest, options: PrintOptions, namesLanguage: boolean): DocumentPlan {
  const { conformance = [], attachments = [], invoice } = request;
  const files = attachments.map(({ content, relationship = 'Unspecified', ...each }) => ({
    ...each,
    relationship,
    content: Buffer.from(content, 'base64'),
  }));
  const margins = { top: points(options.margin_top), bottom: points(options.margin_bottom) };
  const plan = { conformance, attachments: files, margins, namesLanguage };
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

async function finished(bytes: Buffer, plan: DocumentPlan): Promise<FinishedDocument> {
  const [{ finishDocument }, { PdfTooComplex }] = await Promise.all([
    import('./pdf/finish-document.ts'),
    import('./pdf/pdf-objects.ts'),
  ]);
  try {
    return finishDocument(bytes, plan);
  } catch (error) {
    throw error instanceof PdfTooComplex ? new PageFailure('too_large', error.message) : error;
  }
}

/**
 * Attaches files and makes the PDF conform. Its file has other content then.
 * @param namesLanguage false if the language that the PDF names is Chrome's own
 * @throws {PageFailure} `not_conforming`, `too_large`
 */
export async function finishPrinted(
  printed: PdfFile,
  request: PdfRequest,
  options: PrintOptions,
  namesLanguage: boolean,
): Promise<{
  readonly file: PdfFile;
  readonly reached: Pick<RenderedDocument, 'conformance' | 'shortfalls'>;
}> {
  const plan = planOf(request, options, namesLanguage);
  if (printed.bytes > MAX_PDF_BYTES) {
    const most = `${MAX_PDF_BYTES / 1024 / 1024} MiB`;
    throw new PageFailure('too_large', `The PDF is larger than ${most}: it cannot be worked on.`);
  }
  const { bytes, conformance, findings } = await finished(await readFile(printed.path), plan);
  const missed = plan.conformance.filter((each) => !conformance.includes(each));
  if (missed.length > 0 && request.conformance_required !== false) {
    const named = findings.slice(0, MAX_NAMED).join('; ');
    const more = findings.length - MAX_NAMED;
    const rest = more > 0 ? `; and ${more} more` : '';
    const names = missed.map((each) => NAMES[each]).join(' and ');
    throw new PageFailure(
      'not_conforming',
      `The document cannot conform to ${names}: ${named}${rest}. ` +
        'Change the page, or set pdf.conformance_required to false to get the PDF without.',
    );
  }
  await writeFile(printed.path, bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const names = missed.map((each) => NAMES[each]).join(' and ');
  return {
    file: { ...printed, sha256, bytes: bytes.length },
    reached: {
      ...(plan.conformance.length > 0 && { conformance }),
      ...(missed.length > 0 && {
        shortfalls: findings.map((each) => `The PDF does not conform to ${names}: ${each}.`),
      }),
    },
  };
}
