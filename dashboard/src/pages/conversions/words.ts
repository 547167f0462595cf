/** The state of a conversion in words. */
import type { Conversion, deletionOf } from '../../api/conversions.ts';
import { formatTime } from '../../ui/time.tsx';
import { t } from '../../words/words.ts';

type Deletion = NonNullable<ReturnType<typeof deletionOf>>;

const CAUSES: Readonly<Record<Deletion['cause'], string>> = {
  asked: t('as this account asked'),
  cancelled: t('because the conversion was cancelled'),
  time: t('at the end of its time'),
};

/** @param what "The request", or another thing that is stored of a conversion */
export const deletionText = (what: string, { time, cause }: Deletion): string =>
  t('{what} was deleted on {time}, {cause}.', {
    what,
    time: formatTime(time),
    cause: CAUSES[cause],
  });

/** Pages that a text names. */
const MOST_NAMED = 20;

/** How the PDF compares with that of the first conversion. */
export function comparisonText({ equal, pages }: NonNullable<Conversion['rerender']>): string {
  if (equal) return t('Equal, byte for byte');
  if (pages === undefined) return t('The bytes differ; of the pages nothing is known');
  if (pages.length === 0)
    return t('Every page shows the same; the bytes differ, as by their dates');
  const named = pages.slice(0, MOST_NAMED).join(', ');
  const more = pages.length > MOST_NAMED ? t(' and others') : '';
  return pages.length === 1
    ? t('Page {named} differs', { named })
    : t('Pages {named}{more} differ', { named, more });
}

type FailureCode = NonNullable<Conversion['failure_code']>;

/** A failure in a few words, and what a person can do about it. */
type Advice = { readonly title: string; readonly action: string };

const FAILURES: Readonly<Record<FailureCode, Advice>> = {
  timeout: {
    title: t('It took too long'),
    action: t(
      'See whether the page waits for something that never comes, such as a slow server or a script without an end. Then convert again.',
    ),
  },
  address_refused: {
    title: t('The address is not allowed'),
    action: t('Use a public address. The service opens no private or local ones.'),
  },
  navigation_failed: {
    title: t('The page could not be opened'),
    action: t(
      'Check that the address is right and that its server can be reached from the internet. Then convert again.',
    ),
  },
  page_status: {
    title: t('The server answered with an error'),
    action: t(
      'Open the address in a browser. If it needs a sign-in, send its cookies or headers with the request.',
    ),
  },
  not_html: {
    title: t('The address is not a web page'),
    action: t('Give the address of an HTML page. Files of other kinds cannot be converted.'),
  },
  selector_missing: {
    title: t('The awaited element was not found'),
    action: t('Check the selector in wait_for, or leave it out.'),
  },
  page_range: {
    title: t('The page range has no pages'),
    action: t('Check page_ranges against the number of pages that the document has.'),
  },
  page_crashed: {
    title: t('The page made the browser stop'),
    action: t('Convert again. If it fails again, simplify the document or turn scripts off.'),
  },
  page_memory: {
    title: t('The page needed too much memory'),
    action: t('Divide the document, or make its images smaller.'),
  },
  too_large: {
    title: t('The document is too large'),
    action: t('Divide the document, or make its images smaller.'),
  },
  incomplete: {
    title: t('The page lacked something'),
    action: t('Supply what the message names, or change fail_on so that this is only a warning.'),
  },
  not_conforming: {
    title: t('The document cannot conform'),
    action: t(
      'Change what the message names, or set pdf.conformance_required to false to get the PDF without.',
    ),
  },
  not_signed: {
    title: t('The PDF could not be signed'),
    action: t(
      'Read the message: the certificate may have been removed or have expired, no timestamp could be had, or the field of the signature is too small or beyond its page. Then convert again.',
    ),
  },
  unreadable_pdf: {
    title: t('A PDF cannot be read'),
    action: t(
      'Check that each file is a PDF that opens, and give the password of one that is encrypted.',
    ),
  },
  renderer_failed: {
    title: t('The service failed'),
    action: t('Convert again. If it fails again, tell the operator of the service the id.'),
  },
  account_erased: {
    title: t('The account was erased'),
    action: t('Nothing can be done: the conversion ended with its account.'),
  },
  cancelled: {
    title: t('It was cancelled'),
    action: t('If the PDF is wanted after all, send the request again from where it came from.'),
  },
};

export const failureTitle = (code: string): string =>
  FAILURES[code as FailureCode]?.title ?? t('It failed');

export const failureAction = (code: string): string =>
  FAILURES[code as FailureCode]?.action ??
  t('Correct the document or the options, then convert again.');
