/** The rules of `pdf` in a request that a schema cannot say. */
import { INVOICE_PROFILES } from '../domain/invoice-profiles.ts';
import type { Conformance, PdfRequest } from '../domain/request-document.ts';
import { isBase64 } from './files.ts';
import { issueOfInvoice } from './invoice.ts';
import type { Pdf } from './pdf-schema.ts';
import { FILENAME, ONE_LINE_FORM, ONE_LINE_PATTERN } from './schema.ts';
import type { ValidationIssues } from './validation.ts';

const NAME = new RegExp(FILENAME);
const ONE_LINE = new RegExp(ONE_LINE_PATTERN);
const BASE64_FORM = 'Must be base64 with its padding, and without line breaks.';

const isArchive = (each: Conformance): boolean => each.startsWith('pdfa-');
const isPartThree = (each: Conformance): boolean => each.startsWith('pdfa-3');

/** Checks what is asked of the PDF. @param isTagged false where the request wants no tags */
export function checkPdf(issues: ValidationIssues, pdf: Pdf, isTagged: boolean): void {
  const { conformance = [], attachments = [], invoice } = pdf;
  const archives = new Set(conformance.filter(isArchive));
  if (archives.size > 1) {
    issues.add('pdf.conformance', 'Must have one part and level of PDF/A at most.');
  } else if (archives.size === 1 && !conformance.some(isPartThree)) {
    const what = 'PDF/A-2 allows no such files within a PDF: ask for part 3.';
    if (attachments.length > 0) issues.add('pdf.attachments', what);
    if (invoice !== undefined) issues.add('pdf.invoice', what);
  }
  const needsTags = conformance.find((each) => each === 'pdfua-1' || each === 'pdfa-3a');
  if (needsTags !== undefined && !isTagged) {
    issues.add('tagged', `Must not be false with ${needsTags}, which needs tags.`);
  }
  checkAttachments(issues, attachments, invoice && INVOICE_PROFILES[invoice.profile].filename);
  if (invoice === undefined) return;
  const issue = isBase64(invoice.xml)
    ? issueOfInvoice(Buffer.from(invoice.xml, 'base64'), invoice.profile)
    : BASE64_FORM;
  if (issue !== undefined) issues.add('pdf.invoice.xml', issue);
}

function checkAttachments(
  issues: ValidationIssues,
  attachments: NonNullable<Pdf['attachments']>,
  ofInvoice: string | undefined,
): void {
  const names = new Set(ofInvoice === undefined ? [] : [ofInvoice]);
  for (const [n, { filename, content, description }] of attachments.entries()) {
    const field = `pdf.attachments.${n}`;
    if (!NAME.test(filename) || filename.trim() === '') {
      issues.add(
        `${field}.filename`,
        'Must be a name without slashes, backslashes, control characters or line ends.',
      );
    } else if (names.has(filename)) issues.add(`${field}.filename`, 'Is given twice.');
    names.add(filename);
    if (!isBase64(content)) issues.add(`${field}.content`, BASE64_FORM);
    if (description !== undefined && !ONE_LINE.test(description)) {
      issues.add(`${field}.description`, ONE_LINE_FORM);
    }
  }
}

/** What the renderer is to do, with all that follows from what is asked for; undefined where that is nothing. */
export function pdfRequest(pdf: Pdf | undefined): PdfRequest | undefined {
  if (pdf === undefined) return undefined;
  const { conformance_required, attachments = [], invoice } = pdf;
  const asked = [...new Set(pdf.conformance)];
  const conformance: readonly Conformance[] =
    invoice === undefined || asked.some(isPartThree) ? asked : ['pdfa-3b', ...asked];
  if (conformance.length === 0 && attachments.length === 0) return undefined;
  return {
    conformance,
    ...(conformance_required === false && { conformance_required }),
    ...(attachments.length > 0 && { attachments }),
    ...(invoice && { invoice }),
  };
}
