/** The conversion options as flags of `convert`. */
import { COLOR_SCHEMES, FORMATS, PAGE_SIZES } from '../domain/choices.ts';
import { INVOICE_PROFILES } from '../domain/invoice-profiles.ts';
import {
  CONFORMANCES,
  PERMISSIONS,
  ROTATIONS,
  SHORTCOMINGS,
  STAMP_FITS,
} from '../domain/request-document.ts';
import { choiceOf, type Invocation, type OptionSpec } from './command.ts';
import {
  attachmentIn,
  contentOf,
  fieldOf,
  formatOf,
  jsonOf,
  numberOf,
  tagsOf,
  viewportOf,
} from './flag-values.ts';
import type { PrintOptions } from './service.ts';

/**
 * Sets one field of the request: with a value, to what `read` makes of it; without one, to true, or to false if the flag's
 * name begins with `no-`.
 */
interface Flag extends OptionSpec {
  /** The field of the request, and those within it; else the name with underscores is the field. */
  readonly path?: readonly string[];
  readonly read?: (value: string, name: string) => unknown;
  readonly readAll?: (values: readonly string[]) => unknown;
}

const choice = (kind: string, choices: readonly string[]): Flag => ({
  value: kind,
  help: `${choices.join(', ')} (default ${choices[0] ?? ''})`,
  choices,
  read: (value) => choiceOf(value, choices) ?? value,
});
const MARGIN = { value: 'length', help: 'such as 1cm, 10mm, 0.5in or 40px (default 1cm)' };

type Flags = Readonly<Record<string, Flag>>;

const PAGE: Flags = {
  format: {
    ...choice('format', FORMATS),
    help: `${FORMATS.join(', ')}: a PDF, or a picture of the whole page (default: by the ending of the output, else pdf)`,
  },
  'page-size': choice('size', PAGE_SIZES),
  width: {
    value: 'length',
    help: 'paper of any width, with --height or --single-page, such as 80mm',
  },
  height: { value: 'length', help: 'paper of any height, with --width, such as 200mm' },
  landscape: { help: 'landscape orientation' },
  'single-page': { help: 'one page as long as the document, at most 5 m' },
  'margin-top': MARGIN,
  'margin-right': MARGIN,
  'margin-bottom': MARGIN,
  'margin-left': MARGIN,
  'print-background': { help: 'print background colours and images' },
  scale: { value: 'number', help: '0.1 to 2 (default 1)', read: numberOf },
  'page-ranges': { value: 'ranges', help: 'pages to print, such as 1-3,5 (default all)' },
  'header-html': { value: 'html', help: 'template printed at the top of each page' },
  'footer-html': { value: 'html', help: 'template printed at the bottom of each page' },
  'prefer-css-page-size': { help: "use the document's own @page size" },
};

const PDF: Flags = {
  filename: { value: 'name', help: 'the name of the PDF where it is downloaded' },
  reference: { value: 'text', help: 'your own name for it, by which it is found' },
  tag: {
    value: 'name:value',
    help: 'a tag by which it is found, such as "customer:Example Ltd"; may be given several times',
    many: true,
    path: ['tags'],
    readAll: tagsOf,
  },
  'webhook-url': { value: 'url', help: 'the https address that is told when it has ended' },
  'no-tagged': { help: 'leave out the accessibility tags' },
  outline: { help: 'make bookmarks from the headings' },
  metadata: {
    value: 'json',
    help: 'such as {"title":"Invoice","author":"Ann","keywords":["a"]}',
    read: jsonOf,
  },
};

const CONFORMING: Flags = {
  conformance: {
    value: 'list',
    help: `what the PDF must conform to: one of ${CONFORMANCES.filter((each) => each !== 'pdfua-1').join(', ')}; pdfua-1; or both, as in pdfa-3b,pdfua-1`,
    path: ['pdf', 'conformance'],
    read: (value) => value.split(','),
  },
  'no-conformance-required': {
    help: 'print a document that cannot conform without, and say why',
    path: ['pdf', 'conformance_required'],
  },
  attach: {
    value: 'file',
    help: 'a file that is to lie within the PDF; may be given several times',
    many: true,
    path: ['pdf', 'attachments'],
    readAll: (paths) => paths.map(attachmentIn),
  },
  invoice: {
    value: 'file',
    help: 'the XML of an electronic invoice (Factur-X, ZUGFeRD), which lies within the PDF',
    path: ['pdf', 'invoice', 'xml'],
    read: contentOf,
  },
  'invoice-profile': {
    value: 'profile',
    help: `the profile of that XML: ${Object.keys(INVOICE_PROFILES).join(', ')}`,
    choices: Object.keys(INVOICE_PROFILES),
    path: ['pdf', 'invoice', 'profile'],
    read: (value) => choiceOf(value, Object.keys(INVOICE_PROFILES)) ?? value,
  },
};

const of = (path: string, value: string, help: string): Flag => ({
  value,
  help,
  path: path.split('.'),
});

const FINISHING: Flags = {
  'keep-pages': of(
    'pdf.pages',
    'list',
    'the pages of the printed PDF to keep, in this order, such as 3,1-2; it loses its tags',
  ),
  rotate: {
    value: 'degrees',
    help: `turn all pages clockwise: ${ROTATIONS.join(', ')}`,
    choices: ROTATIONS.map(String),
    path: ['pdf', 'rotate'],
    read: numberOf,
  },
  'stamp-html': {
    value: 'file',
    help: 'HTML that is laid over the pages; it can load nothing',
    path: ['pdf', 'stamp', 'html'],
    read: (path, name) => contentOf(path, name, 'utf8'),
  },
  'stamp-image': {
    value: 'file',
    help: 'a PNG, JPEG or WebP that is laid over the middle of the pages',
    path: ['pdf', 'stamp', 'image'],
    read: (path, name) => contentOf(path, name),
  },
  'stamp-opacity': {
    ...of('pdf.stamp.opacity', 'number', 'of the stamp, from 0 to 1'),
    read: numberOf,
  },
  'stamp-pages': of(
    'pdf.stamp.pages',
    'list',
    'the pages to stamp, such as 1,3-5; all unless given',
  ),
  'stamp-fit': {
    ...choice('fit', STAMP_FITS),
    help: 'page (default): printed in the size of each page; none: in its own size',
    path: ['pdf', 'stamp', 'fit'],
  },
  'user-password': of(
    'pdf.encrypt.user_password',
    'password',
    'encrypt the PDF; whoever opens it needs this password',
  ),
  'owner-password': of(
    'pdf.encrypt.owner_password',
    'password',
    'encrypt the PDF; this password lifts what --deny denies',
  ),
  deny: {
    value: 'list',
    help: `what readers do not allow without the owner password: ${PERMISSIONS.join(',')}`,
    path: ['pdf', 'encrypt', 'permissions'],
    read: (value) => Object.fromEntries(value.split(',').map((each) => [each, false])),
  },
  'verify-link': {
    help: 'print a link and a QR code that lead to the page where anybody can check the PDF',
    path: ['pdf', 'verify_link'],
  },
  sign: { help: 'sign the PDF with the certificate of the account', path: ['pdf', 'sign'] },
  'sign-reason': of('pdf.sign.reason', 'text', 'sign the PDF, and say why'),
  'sign-location': of('pdf.sign.location', 'text', 'sign the PDF, and say where'),
  'sign-field': {
    value: 'place',
    help: 'sign the PDF, and show it at x,y,width,height from the top left corner, such as 120mm,250mm,70mm,25mm',
    path: ['pdf', 'sign', 'field'],
    read: fieldOf,
  },
  'sign-page': {
    ...of('pdf.sign.field.page', 'number', 'the page of --sign-field (default: the last)'),
    read: numberOf,
  },
  optimize: {
    help: 'make the PDF smaller, and linearise it for the web',
    path: ['pdf', 'optimize'],
  },
};

const LOADING: Flags = {
  media: choice('media', ['print', 'screen']),
  css: {
    value: 'file',
    help: "a style sheet that is added to the page's own",
    read: (path, name) => contentOf(path, name, 'utf8'),
  },
  'color-scheme': {
    value: 'scheme',
    help: `the colours that the page finds preferred: ${COLOR_SCHEMES.join(', ')} (default light)`,
    choices: COLOR_SCHEMES,
    read: (value) => choiceOf(value, COLOR_SCHEMES) ?? value,
  },
  viewport: {
    value: 'size',
    help: 'the window that the page sees, such as 1280x720 or 1280x720@2 (default 800x600)',
    read: viewportOf,
  },
  timezone: { value: 'zone', help: "the time zone of the page's clock, such as Europe/Zurich" },
  locale: { value: 'language', help: 'the language of the browser, such as de-CH' },
  'no-javascript': { help: 'do not run scripts' },
  'wait-for-selector': {
    value: 'selector',
    help: 'wait until an element matches this CSS selector',
    path: ['wait_for', 'selector'],
  },
  'wait-for-delay-ms': {
    value: 'ms',
    help: 'wait this many milliseconds, at most 10000',
    path: ['wait_for', 'delay_ms'],
    read: numberOf,
  },
  'wait-for-network-idle': {
    help: 'wait until the network is quiet',
    path: ['wait_for', 'network_idle'],
  },
  'budget-ms': {
    value: 'ms',
    help: "time of the page's own in which its scripts may end what they draw, at most 60000; default: 5000",
    path: ['wait_for', 'budget_ms'],
    read: numberOf,
  },
  'fail-on': {
    value: 'list',
    help: `fail if the page lacks something: ${SHORTCOMINGS.join(',')}`,
    read: (value) => value.split(','),
  },
  headers: {
    value: 'json',
    help: 'request headers for a URL, such as {"Accept-Language":"fr"}',
    read: jsonOf,
  },
  cookies: {
    value: 'json',
    help: 'cookies for a URL, such as [{"name":"session","value":"s1"}]',
    read: jsonOf,
  },
};

const SAME_BYTES: Flags = {
  deterministic: { help: 'the same bytes each time, on the same Chrome and fonts' },
  'deterministic-time': {
    value: 'time',
    help: 'where its clock begins, such as 2026-11-26T12:00:00Z (default 2000-01-01T00:00:00Z)',
  },
};

const KEEPING: Flags = {
  'retention-seconds': {
    value: 'seconds',
    help: 'how long the PDF is kept by the service; 0: until its first download',
    read: numberOf,
  },
};

const WAITING: Flags = { priority: choice('priority', ['normal', 'low']) };

const below = (heading: string, flags: Flags): readonly (readonly [string, Flag])[] =>
  Object.entries(flags).map(([name, flag]) => [name, { ...flag, heading }]);

const FLAGS = [
  ...below('Page:', PAGE),
  ...below('PDF:', PDF),
  ...below('Conformance and attachments:', CONFORMING),
  ...below('Finished PDF:', FINISHING),
  ...below('Loading:', LOADING),
  ...below('The same bytes each time:', SAME_BYTES),
  ...below('Queue:', WAITING),
  ...below('Retention:', KEEPING),
];

export const CONVERT_FLAGS: Readonly<Record<string, OptionSpec>> = Object.fromEntries(FLAGS);

function valueOf(
  name: string,
  { read, readAll }: Flag,
  given: string | boolean | readonly string[],
): unknown {
  if (typeof given === 'boolean') return !name.startsWith('no-');
  if (typeof given === 'string') return read?.(given, name) ?? given;
  return readAll?.(given) ?? given;
}

type Fields = { [name: string]: unknown };

/** Sets a field within a field. */
function setAt(fields: Fields, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) fields[first] = value;
  else {
    const known = fields[first];
    // `--sign` beside what else is said of the signature.
    const inner = (typeof known === 'object' ? known : {}) as Fields;
    fields[first] = inner;
    setAt(inner, rest, value);
  }
}

/**
 * The request options that the flags ask for; whether they are valid is the service's to say.
 * @throws {UsageError} also where a file that a flag names cannot be read
 */
export function conversionOptions({ values }: Invocation): PrintOptions {
  const options: Fields = {};
  for (const [name, flag] of FLAGS) {
    const given = values[name];
    if (given === undefined) continue;
    const path = flag.path ?? [name.replace(/^no-/, '').replaceAll('-', '_')];
    setAt(options, path, valueOf(name, flag, given));
  }
  const { output } = values;
  const picture = typeof output === 'string' ? formatOf(output) : undefined;
  return options['format'] === undefined && picture !== undefined
    ? { ...options, format: picture }
    : options;
}
