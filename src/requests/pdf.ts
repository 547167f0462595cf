/** The rules of `pdf` in a request that a schema cannot say. */
import type { PrintOptions } from '../domain/event-fields.ts';
import { lengthMillimetres, MAX_SIDE_MM, sheetMillimetres } from '../domain/page.ts';
import { INVOICE_PROFILES } from '../domain/invoice-profiles.ts';
import {
  type Conformance,
  type Encryption,
  needsTags as doesNeedTags,
  type PdfRequest,
  type SignatureField,
  type SignatureTexts,
  type Stamp,
} from '../domain/request-document.ts';
import { isBlank } from '../text/plain-text.ts';
import { BASE64_FORM, isBase64 } from './files.ts';
import { checkTemplate } from './html.ts';
import { issueOfInvoice } from './invoice.ts';
import type { Pdf } from './pdf-schema.ts';
import { FILENAME, ONE_LINE_FORM, ONE_LINE_PATTERN } from './schema.ts';
import type { ValidationIssues } from './validation.ts';

const NAME = new RegExp(FILENAME);
const ONE_LINE = new RegExp(ONE_LINE_PATTERN);

const isArchive = (each: Conformance): boolean => each.startsWith('pdfa-');
const isPartThree = (each: Conformance): boolean => each.startsWith('pdfa-3');

export type SigningRule =
  /** The certificate that signs. */
  | { readonly by: 'account' | 'service'; readonly refusal?: never }
  /** The reason why nothing can be signed. */
  | { readonly refusal: string; readonly by?: never };

const signatureTexts = ({ sign }: Pdf): SignatureTexts | undefined =>
  sign === true ? {} : sign === false ? undefined : sign;

export const isSigned = (pdf: Pdf | undefined): boolean =>
  pdf !== undefined && signatureTexts(pdf) !== undefined;

/** Checks that there is who signs. */
export function checkSigner(issues: ValidationIssues, signing?: SigningRule): void {
  if (signing?.refusal !== undefined) issues.add('pdf.sign', signing.refusal);
}

/** Checks what is asked of the PDF. @param signing absent where it is not known who signs */
export function checkPdf(
  issues: ValidationIssues,
  pdf: Pdf,
  options: PrintOptions,
  signing?: SigningRule,
): void {
  const { tagged: isTagged, deterministic } = options;
  const { conformance = [], attachments = [], invoice } = pdf;
  const archives = new Set(conformance.filter(isArchive));
  if (archives.size > 1) {
    issues.add('pdf.conformance', 'Must have one part and level of PDF/A at most.');
  } else if (archives.size === 1 && !conformance.some(isPartThree)) {
    const what = 'PDF/A-2 allows no such files within a PDF: ask for part 3.';
    if (attachments.length > 0) issues.add('pdf.attachments', what);
    if (invoice !== undefined) issues.add('pdf.invoice', what);
  }
  checkWork(issues, pdf);
  if (isSigned(pdf)) {
    checkSigner(issues, signing);
    if (deterministic) {
      issues.add('deterministic', 'Must not be true with pdf.sign, which is different each time.');
    }
    const { field, ...texts } = signatureTexts(pdf) ?? {};
    if (field !== undefined) checkField(issues, field, pdf.rotate, options);
    for (const name of ['reason', 'location'] as const) {
      const text = texts[name];
      if (text !== undefined && !ONE_LINE.test(text)) {
        issues.add(`pdf.sign.${name}`, ONE_LINE_FORM);
      }
    }
  }
  if (deterministic && pdf.encrypt !== undefined) {
    issues.add('deterministic', 'Must not be true with pdf.encrypt, which is different each time.');
  }
  const needsTags = conformance.find(doesNeedTags);
  if (needsTags !== undefined && !isTagged) {
    issues.add('tagged', `Must not be false with ${needsTags}, which needs tags.`);
  }
  if (needsTags !== undefined && pdf.pages !== undefined) {
    const what = `Drops the tags that ${needsTags} needs: use page_ranges, which prints these pages only.`;
    issues.add('pdf.pages', what);
  }
  checkAttachments(issues, attachments, invoice && INVOICE_PROFILES[invoice.profile].filename);
  if (invoice === undefined) return;
  const issue = isBase64(invoice.xml)
    ? issueOfInvoice(Buffer.from(invoice.xml, 'base64'), invoice.profile)
    : BASE64_FORM;
  if (issue !== undefined) issues.add('pdf.invoice.xml', issue);
}

/** A line of small letters fits. */
const MIN_FIELD_MM = { width: 20, height: 5 } as const;

/** Checks a field against the page, as far as its size is known before it is printed. */
function checkField(
  issues: ValidationIssues,
  field: SignatureField,
  rotate: PdfRequest['rotate'],
  options: PrintOptions,
): void {
  for (const side of ['width', 'height'] as const) {
    if (lengthMillimetres(field[side]) >= MIN_FIELD_MM[side]) continue;
    issues.add(`pdf.sign.field.${side}`, `Must be at least ${MIN_FIELD_MM[side]}mm.`);
  }
  const sheet = sheetMillimetres(options);
  const [across, down] = rotate === 90 || rotate === 270 ? sheet.toReversed() : sheet;
  const isKnown = !options.prefer_css_page_size;
  const sides = [
    ['x', 'width', 'wide', isKnown ? across : MAX_SIDE_MM],
    ['y', 'height', 'high', isKnown ? down : MAX_SIDE_MM],
  ] as const;
  for (const [from, side, extent, most = MAX_SIDE_MM] of sides) {
    const end = lengthMillimetres(field[from]) + lengthMillimetres(field[side]);
    if (end <= most) continue;
    const what = `${from} and ${side} end at ${+end.toFixed(1)} mm: the page is`;
    issues.add(
      `pdf.sign.field.${from}`,
      `${what} ${+most.toFixed(1)} mm ${extent}${isKnown ? '' : ' at most'}.`,
    );
  }
}

/** The smallest bottom margin that the link fits in, and the narrowest page. */
const LINK_MARGIN_MM = 10;
const LINK_PAGE_MM = 100;

const VERIFY_LINK = 'pdf.verify_link';

/** Checks that a link to the page for checking PDFs leads somewhere. */
export function checkLinkOffered(issues: ValidationIssues, isOffered: boolean): void {
  if (isOffered) return;
  const what = 'Leads nowhere: this deployment does not let anybody check PDFs (PUBLIC_VERIFY).';
  issues.add(VERIFY_LINK, what);
}

/** Checks whether the link to the public check can be printed. @param isOffered whether there is such a check */
export function checkVerifyLink(
  issues: ValidationIssues,
  options: PrintOptions,
  isOffered: boolean,
): void {
  const field = VERIFY_LINK;
  checkLinkOffered(issues, isOffered);
  if (lengthMillimetres(options.margin_bottom) < LINK_MARGIN_MM) {
    issues.add('margin_bottom', `Must be at least 1cm with ${field}, which is printed there.`);
  }
  const [width] = sheetMillimetres(options);
  const room =
    width - lengthMillimetres(options.margin_left) - lengthMillimetres(options.margin_right);
  if (room < LINK_PAGE_MM) {
    issues.add(field, 'Needs a page that is 10cm wide between its margins.');
  }
}

const PICTURES = [/^\x89PNG/, /^\xFF\xD8\xFF/, /^RIFF.{4}WEBP/s];
const isPicture = (base64: string): boolean => {
  const start = Buffer.from(base64.slice(0, 24), 'base64').toString('latin1');
  return PICTURES.some((pattern) => pattern.test(start));
};

export function checkStamp(issues: ValidationIssues, field: string, stamp: Stamp): void {
  const { html, image, pages } = stamp;
  if ((html === undefined) === (image === undefined)) {
    const what =
      html === undefined
        ? 'Either html or image is required.'
        : 'html and image cannot be combined: give one of them.';
    issues.add(field, what);
  }
  if (html !== undefined) checkTemplate(issues, `${field}.html`, html);
  if (image !== undefined && !isBase64(image)) issues.add(`${field}.image`, BASE64_FORM);
  else if (image !== undefined && !isPicture(image)) {
    issues.add(`${field}.image`, 'Must be a PNG, JPEG or WebP.');
  }
  if (pages !== undefined) checkPageRanges(issues, `${field}.pages`, pages);
}

function checkWork(issues: ValidationIssues, pdf: Pdf): void {
  if (pdf.stamp !== undefined) checkStamp(issues, 'pdf.stamp', pdf.stamp);
  if (pdf.pages !== undefined) checkPageRanges(issues, 'pdf.pages', pdf.pages);
  if (pdf.encrypt === undefined) return;
  checkEncryption(issues, 'pdf.encrypt', pdf.encrypt);
  if ((pdf.conformance ?? []).length > 0 || pdf.invoice !== undefined) {
    const what = 'No conforming PDF may be encrypted: leave conformance and invoice out, or this.';
    issues.add('pdf.encrypt', what);
  }
}

const MAX_PASSWORD_BYTES = 127;

export function checkEncryption(
  issues: ValidationIssues,
  field: string,
  encrypt: Encryption,
): void {
  const passwords = ['user_password', 'owner_password'] as const;
  if (passwords.every((name) => encrypt[name] === undefined)) {
    issues.add(field, 'Needs a user_password, an owner_password, or both.');
  }
  for (const name of passwords) {
    if (Buffer.byteLength(encrypt[name] ?? '') > MAX_PASSWORD_BYTES) {
      issues.add(`${field}.${name}`, `Must have at most ${MAX_PASSWORD_BYTES} bytes in UTF-8.`);
    }
  }
}

const MAX_PAGE = 100_000;

export function checkPageRanges(issues: ValidationIssues, field: string, ranges: string): void {
  for (const range of ranges.split(',')) {
    const match = /^\s*(\d{1,6})(?:\s*-\s*(\d{1,6}))?\s*$/.exec(range);
    const first = Number(match?.[1] ?? 0);
    const last = Number(match?.[2] ?? first);
    if (first < 1 || last < first || last > MAX_PAGE) {
      issues.add(field, 'Must be page numbers from 1 and ranges of them, such as 1-5, 8, 11-13.');
      return;
    }
  }
}

export function checkAttachments(
  issues: ValidationIssues,
  attachments: NonNullable<Pdf['attachments']>,
  ofInvoice?: string,
  place = 'pdf.attachments',
): void {
  const names = new Set(ofInvoice === undefined ? [] : [ofInvoice]);
  for (const [n, { filename, content, description }] of attachments.entries()) {
    const field = `${place}.${n}`;
    if (!NAME.test(filename) || isBlank(filename)) {
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
  const { conformance_required, attachments = [], invoice, pages, rotate, stamp, encrypt } = pdf;
  const sign = signatureTexts(pdf);
  const work = {
    ...(pages !== undefined && { pages }),
    ...(rotate !== undefined && { rotate }),
    ...(stamp !== undefined && { stamp }),
    ...(encrypt !== undefined && { encrypt }),
    ...(pdf.optimize === true && { optimize: true }),
    ...(sign && { sign }),
  };
  const asked = [...new Set(pdf.conformance)];
  const conformance: readonly Conformance[] =
    invoice === undefined || asked.some(isPartThree) ? asked : ['pdfa-3b', ...asked];
  const isPlain = conformance.length === 0 && attachments.length === 0;
  if (isPlain && Object.keys(work).length === 0) return undefined;
  return {
    conformance,
    ...(conformance_required === false && { conformance_required }),
    ...(attachments.length > 0 && { attachments }),
    ...(invoice && { invoice }),
    ...work,
  };
}
