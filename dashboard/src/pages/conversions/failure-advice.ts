import type { Conversion } from '../../api/conversions.ts';

type FailureCode = NonNullable<Conversion['failure_code']>;

/** A failure in a few words, and what a person can do about it. */
interface Advice {
  readonly title: string;
  readonly action: string;
}

const FAILURES: Readonly<Record<FailureCode, Advice>> = {
  timeout: {
    title: 'It took too long',
    action:
      'See whether the page waits for something that never comes, such as a slow server or a script without an end. Then convert again.',
  },
  address_refused: {
    title: 'The address is not allowed',
    action: 'Use a public address. The service opens no private or local ones.',
  },
  navigation_failed: {
    title: 'The page could not be opened',
    action:
      'Check that the address is right and that its server can be reached from the internet. Then convert again.',
  },
  page_status: {
    title: 'The server answered with an error',
    action:
      'Open the address in a browser. If it needs a sign-in, send its cookies or headers with the request.',
  },
  not_html: {
    title: 'The address is not a web page',
    action: 'Give the address of an HTML page. Files of other kinds cannot be converted.',
  },
  selector_missing: {
    title: 'The awaited element was not found',
    action: 'Check the selector in wait_for, or leave it out.',
  },
  page_range: {
    title: 'The page range has no pages',
    action: 'Check page_ranges against the number of pages that the document has.',
  },
  page_crashed: {
    title: 'The page made the browser stop',
    action: 'Convert again. If it fails again, simplify the document or turn scripts off.',
  },
  page_memory: {
    title: 'The page needed too much memory',
    action: 'Divide the document, or make its images smaller.',
  },
  too_large: {
    title: 'The document is too large',
    action: 'Divide the document, or make its images smaller.',
  },
  incomplete: {
    title: 'The page lacked something',
    action: 'Supply what the message names, or change fail_on so that this is only a warning.',
  },
  not_conforming: {
    title: 'The document cannot conform',
    action:
      'Change what the message names, or set pdf.conformance_required to false to get the PDF without.',
  },
  not_signed: {
    title: 'The PDF could not be signed',
    action:
      'Read the message: the certificate may have been removed or have expired, no timestamp could be had, or the field of the signature is too small or beyond its page. Then convert again.',
  },
  unreadable_pdf: {
    title: 'A PDF cannot be read',
    action:
      'Check that each file is a PDF that opens, and give the password of one that is encrypted.',
  },
  renderer_failed: {
    title: 'The service failed',
    action: 'Convert again. If it fails again, tell the operator of the service the id.',
  },
  account_erased: {
    title: 'The account was erased',
    action: 'Nothing can be done: the conversion ended with its account.',
  },
  cancelled: {
    title: 'It was cancelled',
    action: 'If the PDF is wanted after all, send the request again from where it came from.',
  },
};

export const failureTitle = (code: string): string =>
  FAILURES[code as FailureCode]?.title ?? 'It failed';

export const failureAction = (code: string): string =>
  FAILURES[code as FailureCode]?.action ??
  'Correct the document or the options, then convert again.';
