/**
 * What forms call the fields of requests: the OpenAPI document has it beside what it says to programs, as `x-label`,
 * `x-hint`, `x-group` and `x-labels`. A field without an entry is called by its name, and described as for programs.
 */
export interface FieldWords {
  readonly label?: string;
  /** What a person should know to fill it in. Empty: the label says it all. */
  readonly hint?: string;
  /** The title of the fields that it stands with. */
  readonly group?: string;
  /** What its choices are called. */
  readonly choices?: Readonly<Record<string, string>>;
}

const PAGE = 'Page';
const SURROUNDINGS = 'Surroundings of the page';
const EDGES = 'Header and footer';
const NAMES = 'Name, reference and tags';
const WAITING = 'Scripts and waiting';
const REPEATABLE = 'The same bytes each time';
const AFTERWARDS = 'Priority, webhook and retention';
const FROM_URL = 'Cookies and headers';
const CONFORMANCE = 'Archiving and accessibility';
const WHOLE_PDF = 'Order, turning and size';

/** By their paths, or by their names alone wherever they stand. */
const WORDS: Readonly<Record<string, FieldWords>> = {
  files: {
    label: 'Files beside the HTML',
    hint: 'What the HTML refers to, such as style.css or img/logo.png.',
    group: 'Files',
  },
  format: {
    label: 'What is made',
    hint: 'A picture shows the whole page as a screen does. Paper and margins do not go with it.',
    group: PAGE,
  },
  page_size: { label: 'Paper size', hint: '', group: PAGE },
  width: {
    label: 'Width of the paper',
    hint: 'Such as 80mm, in the place of a paper size. It needs a height, or one long page.',
    group: PAGE,
  },
  height: {
    label: 'Height of the paper',
    hint: 'Such as 200mm, from 10mm to 5000mm. It needs a width.',
    group: PAGE,
  },
  landscape: { hint: 'The long side of the paper lies at the bottom.', group: PAGE },
  single_page: {
    label: 'One long page',
    hint: 'As long as the document, at most 5 m. Its page breaks do not count.',
    group: PAGE,
  },
  margin_top: { hint: '', group: PAGE },
  margin_right: { hint: '', group: PAGE },
  margin_bottom: { hint: '', group: PAGE },
  margin_left: { hint: '', group: PAGE },
  print_background: {
    label: 'Backgrounds',
    hint: 'Print background colours and pictures, too.',
    group: PAGE,
  },
  scale: { hint: '0.5 is half as large, 2 twice.', group: PAGE },
  page_ranges: {
    label: 'Pages to print',
    hint: 'Such as 1-5, 8. All of them if left empty.',
    group: PAGE,
  },
  prefer_css_page_size: {
    label: 'Paper size of the document',
    hint: 'If its styles name a size for @page, it counts more than the one here.',
    group: PAGE,
  },
  media: {
    label: 'Styles',
    hint: 'Those that the document has for printing, or for screens.',
    group: PAGE,
    choices: { print: 'For printing', screen: 'For screens' },
  },
  header_html: {
    label: 'Header',
    hint: 'HTML in the top margin of every page. Elements with the class date, title, url, pageNumber or totalPages are filled in. It loads nothing: write styles into it, and pictures as data: URLs.',
    group: EDGES,
  },
  footer_html: {
    label: 'Footer',
    hint: 'HTML in the bottom margin of every page, written like a header.',
    group: EDGES,
  },
  css: {
    label: 'Additional styles',
    hint: 'CSS that comes after that of the page, such as nav { display: none }.',
    group: SURROUNDINGS,
  },
  color_scheme: {
    label: 'Light or dark',
    hint: 'What the page finds preferred. Light if not set.',
    group: SURROUNDINGS,
  },
  viewport: {
    label: 'Window',
    hint: 'What scripts and styles for screens see, in pixels. The width of a PDF follows from its paper.',
    group: SURROUNDINGS,
  },
  'viewport.width': { label: 'Width', hint: '' },
  'viewport.height': { label: 'Height', hint: '' },
  device_scale_factor: {
    label: 'Sharpness',
    hint: 'Pixels of the screen for each pixel of the page: 2 for sharp pictures.',
  },
  timezone: { label: 'Time zone', hint: 'Such as Europe/Zurich.', group: SURROUNDINGS },
  locale: {
    label: 'Language',
    hint: 'Such as de-CH. Scripts write dates and numbers by it, and web servers may answer in it.',
    group: SURROUNDINGS,
  },
  wait_for: {
    label: 'Wait for',
    hint: 'All of these, after the page has loaded. What scripts draw soon is waited for anyway.',
    group: WAITING,
  },
  selector: {
    label: 'An element',
    hint: 'A CSS selector, such as #chart svg. If nothing ever matches, the conversion fails.',
  },
  delay_ms: { label: 'A delay', hint: 'In milliseconds, at most 10000.' },
  network_idle: { label: 'A quiet network', hint: 'Until nothing is being loaded, within limits.' },
  budget_ms: {
    label: 'Time for scripts',
    hint: 'Milliseconds by the clock of the page, which runs ahead: it costs little real time.',
  },
  javascript: { label: 'Scripts', hint: 'Let the page run them.', group: WAITING },
  fail_on: {
    label: 'Fail, rather than warn',
    hint: 'Nothing is made if the page lacks one of these.',
    group: WAITING,
    choices: {
      resource_error: 'A part could not be loaded',
      http_status: 'A web server refused a part',
      console_error: 'A script had an error',
      timeout: 'A wait was given up',
    },
  },
  tagged: {
    label: 'Accessible',
    hint: 'With the structure that screen readers need.',
    group: CONFORMANCE,
  },
  outline: { label: 'Bookmarks', hint: 'Made from the headings.', group: CONFORMANCE },
  metadata: {
    label: 'Properties',
    hint: 'What readers show about the PDF.',
    group: 'Title and author',
  },
  subject: { label: 'Topic' },
  headers: { hint: 'They are sent with the request for the page.', group: FROM_URL },
  cookies: { hint: 'They are set before the page is opened.', group: FROM_URL },
  domain: { hint: 'The host of the address if left empty.' },
  http_only: { label: 'Not for scripts', hint: 'The cookie is HttpOnly.' },
  secure: { label: 'With HTTPS only', hint: '' },
  same_site: { label: 'Other sites', hint: 'The SameSite of the cookie.' },
  deterministic: {
    label: 'Fixed clock and random numbers',
    hint: 'The language is en-US, the time zone UTC. It holds for the same Chrome and fonts.',
    group: REPEATABLE,
  },
  deterministic_time: {
    label: 'What its clock says',
    hint: 'Such as 2026-11-26T12:00:00Z. The beginning of the year 2000 if left empty.',
    group: REPEATABLE,
  },
  webhook_url: {
    label: 'Webhook',
    hint: 'The https address that is told when the conversion has ended.',
    group: AFTERWARDS,
  },
  retention_seconds: {
    label: 'Keep for',
    hint: 'Seconds, at most as long as is usual here. 0: until the first download.',
    group: AFTERWARDS,
  },
  priority: {
    hint: 'Low waits behind all others of the account. Normal if not set.',
    group: AFTERWARDS,
  },
  filename: {
    label: 'File name',
    hint: 'Such as Report. “.pdf” is added where it is missing.',
    group: NAMES,
  },
  reference: {
    hint: 'Your own name for it, such as an order number. Conversions are found by it.',
    group: NAMES,
  },
  tags: {
    hint: 'Names and values that conversions are found by, such as customer and Example Ltd.',
    group: NAMES,
  },
  'pdf.conformance': {
    label: 'Standards',
    hint: 'One of PDF/A for archives, PDF/UA-1 for accessibility, or both. A document that cannot conform fails, and says why.',
    group: CONFORMANCE,
  },
  'pdf.conformance_required': {
    label: 'Fail if it cannot conform',
    hint: 'If off, the PDF is made all the same, and its warnings say what it lacks.',
    group: CONFORMANCE,
  },
  'pdf.invoice': {
    label: 'Factur-X or ZUGFeRD',
    hint: 'The XML lies within the PDF, which then conforms to part 3 of PDF/A.',
    group: 'Electronic invoice',
  },
  xml: {
    label: 'XML file',
    hint: 'UN/CEFACT CII in UTF-8. It is not checked against the schema of its profile.',
  },
  profile: { hint: 'The one that the XML names.' },
  attachments: {
    label: 'Files',
    hint: 'They lie within the PDF. PDF/A allows them in part 3.',
    group: 'Attachments',
  },
  'attachments.filename': { label: 'File name', hint: '' },
  content: { label: 'File', hint: '' },
  'attachments.type': { label: 'Kind of file', hint: 'Its media type, such as text/csv.' },
  relationship: { label: 'What it is to the document', hint: '' },
  description: { hint: 'Readers show it beside the name.' },
  'pdf.stamp': { label: 'Watermark, text or picture', hint: '', group: 'Stamp' },
  'stamp.html': { label: 'HTML', hint: 'Its first page is laid over each page.' },
  'steps.html': { label: 'HTML', hint: 'Its first page is laid over each page.' },
  image: { label: 'Picture', hint: 'PNG, JPEG or WebP, laid over the middle.' },
  opacity: { hint: '0 cannot be seen, 1 hides what lies below.' },
  fit: {
    label: 'Size',
    hint: '',
    choices: { page: 'As large as each page', none: 'Its own size' },
  },
  pages: { hint: 'Such as 1-3, 8. All of them if left empty.' },
  'pdf.encrypt': { hint: 'With one password, or both.', group: 'Encryption' },
  user_password: {
    label: 'Password that opens it',
    hint: 'Without it, the PDF opens for everybody.',
  },
  owner_password: {
    label: 'Password that lifts restrictions',
    hint: 'Without it, nobody can lift them.',
  },
  permissions: { label: 'Allowed', hint: 'What all may do who open the PDF.' },
  print: { hint: '' },
  copy: { hint: 'Text and pictures.' },
  modify: { label: 'Change', hint: 'Whatever the others here do not name.' },
  annotate: { label: 'Comment', hint: '' },
  fill_forms: { hint: '' },
  assemble: { label: 'Rearrange', hint: 'Add, remove and turn pages.' },
  'pdf.sign': {
    hint: 'With the certificate of the account, else that of the service. It comes after all else.',
    group: 'Signature',
  },
  reason: { hint: 'Such as Approved. Readers show it.' },
  location: { hint: 'Where it is signed.' },
  field: {
    label: 'On a page',
    hint: 'A box that shows the name of the signer, the time, the reason and the place.',
  },
  'field.page': { hint: 'The last one if left empty.' },
  'field.x': { label: 'From the left', hint: 'Such as 25mm.' },
  'field.y': { label: 'From the top', hint: 'Such as 230mm.' },
  'field.width': { label: 'Width', hint: 'At least 20mm.' },
  'field.height': { label: 'Height', hint: 'At least 5mm.' },
  'pdf.verify_link': {
    label: 'Link that checks it',
    hint: 'A link and a QR code in the bottom margin lead to the page where anybody can check the PDF, if there is one here.',
    group: CONFORMANCE,
  },
  'pdf.pages': {
    label: 'Pages to keep',
    hint: 'In the order that they are to have, such as 3, 1-2.',
    group: WHOLE_PDF,
  },
  'pdf.rotate': { label: 'Turn by', hint: 'Degrees, clockwise.', group: WHOLE_PDF },
  'pdf.optimize': {
    label: 'Make it smaller',
    hint: 'Packed, so that a browser shows its first page sooner.',
    group: WHOLE_PDF,
  },
  sources: { label: 'PDFs' },
  steps: { hint: 'They are done in this order, once the PDFs are joined.' },
  'steps.rotate': { label: 'Degrees', hint: 'Clockwise.' },
  parts: { label: 'Pages of each part', hint: 'Such as 1-2.' },
};

/** Words as parts of a schema. */
export function told({ label, hint, group, choices }: FieldWords): object {
  return {
    ...(label !== undefined && { 'x-label': label }),
    ...(hint !== undefined && { 'x-hint': hint }),
    ...(group !== undefined && { 'x-group': group }),
    ...(choices !== undefined && { 'x-labels': choices }),
  };
}

/** A field as the OpenAPI document has it. */
type Properties = Readonly<Record<string, object>> | undefined;
interface Described {
  readonly properties?: Properties;
  readonly items?: object;
  readonly anyOf?: readonly object[];
}

/** The words of the longest end of the path that has some. */
function wordsAt(path: string): FieldWords {
  const names = path.split('.');
  const ends = names.map((_, at) => names.slice(at).join('.'));
  return ends.map((end) => WORDS[end]).find((words) => words !== undefined) ?? {};
}

/** @param path of the object in a request; empty: it is the request */
export function withWords<Schema extends Described>(schema: Schema, path = ''): Schema {
  const { properties, items, anyOf } = schema;
  const worded = Object.entries(properties ?? {}).map(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`;
    return [name, { ...withWords(field, at), ...told(wordsAt(at)) }];
  });
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(worded) as Properties }),
    ...(items && { items: withWords(items, path) }),
    ...(anyOf && { anyOf: anyOf.map((each) => withWords(each, path)) }),
  };
}
