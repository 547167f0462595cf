import Type, { type Static, type TObjectOptions, type TProperties } from 'typebox';
import { DEFAULT_OPTIONS } from '../domain/event-fields.ts';
import { SHORTCOMINGS } from '../domain/request-document.ts';
import { MAX_FILES } from './files.ts';
import { PAGE_FORMS, PAPER, SURROUNDINGS } from './page-schema.ts';
import { PDF_FORMS, Pdf } from './pdf-schema.ts';

const MAX_URL_CHARACTERS = 2048;
const MAX_FILENAME_CHARACTERS = 200;
const MAX_REFERENCE_CHARACTERS = 255;
const MAX_TAGS = 20;
const MAX_TAG_CHARACTERS = 200;
const MAX_TEMPLATE_CHARACTERS = 65_536;

const Closed = <P extends TProperties>(properties: P, options: TObjectOptions = {}) =>
  Type.Object(properties, { ...options, additionalProperties: false });

const Switch = (usual: boolean, description: string) =>
  Type.Optional(Type.Boolean({ default: usual, description }));

const Template = (place: string) =>
  Type.Optional(
    Type.String({
      maxLength: MAX_TEMPLATE_CHARACTERS,
      description: `HTML printed in the ${place} margin of every page. Elements with the class date, title, url, pageNumber or totalPages are filled in. It cannot load anything: write styles into it, and images and fonts as data: URLs. The font size is 8pt unless the template sets one. A template without styles has the side margins of the page.`,
    }),
  );

const Text = (maxLength: number, example: string) =>
  Type.Optional(Type.String({ maxLength, examples: [example] }));

export const Cookie = Closed({
  name: Type.String({ minLength: 1, maxLength: 256, examples: ['session'] }),
  value: Type.String({ maxLength: 4096, examples: ['abc123'] }),
  domain: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 254,
      description: 'The host of url if left out.',
      examples: ['example.com'],
    }),
  ),
  path: Type.Optional(Type.String({ pattern: '^/', maxLength: 1024, examples: ['/'] })),
  secure: Type.Optional(Type.Boolean()),
  http_only: Type.Optional(Type.Boolean()),
  same_site: Type.Optional(Type.Enum(['Strict', 'Lax', 'None'])),
});

/** Neither path separators, controls and line ends, nor what makes a name read backwards. */
export const FILENAME =
  '^[^/\\\\\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]*$';

/** Neither controls nor line ends. */
export const ONE_LINE_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$';

/** The body of `POST /pdf/`. What a schema cannot say is in `validate.ts`. */
export const ConversionRequest = Closed({
  html: Type.Optional(
    Type.String({
      description: 'The HTML to print. Either html or url is required, and not both.',
      examples: ['<h1>Invoice 4711</h1>'],
    }),
  ),
  url: Type.Optional(
    Type.String({
      maxLength: MAX_URL_CHARACTERS,
      description: 'The http or https address of the page to print.',
      examples: ['https://example.com/'],
    }),
  ),
  template: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        'The id of a stored template that is filled with data, in the place of html: the newest version, or that after an @.',
      examples: ['tmpl_06f3k8r1v2w9x4y5z6a7b8c9d0@3'],
    }),
  ),
  data: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        'The data that the template is filled with. It must fit the schema of the template.',
      examples: [{ number: '4711', total: 1234.5 }],
    }),
  ),
  files: Type.Optional(
    Type.Record(Type.String(), Type.String({ contentEncoding: 'base64' }), {
      maxProperties: MAX_FILES,
      description:
        'Files that html refers to by relative URLs, such as style.css or img/logo.png: the name to the content in base64. With html only.',
    }),
  ),
  ...PAPER,
  print_background: Switch(
    DEFAULT_OPTIONS.print_background,
    'Print background colours and images.',
  ),
  scale: Type.Optional(
    Type.Number({
      minimum: 0.1,
      maximum: 2,
      default: DEFAULT_OPTIONS.scale,
      description: 'The scale of the content.',
    }),
  ),
  page_ranges: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'The pages to keep; all of them if left out.',
      examples: ['1-5, 8'],
    }),
  ),
  header_html: Template('top'),
  footer_html: Template('bottom'),
  prefer_css_page_size: Switch(
    DEFAULT_OPTIONS.prefer_css_page_size,
    'Let the @page size of the document override page_size.',
  ),
  media: Type.Optional(
    Type.Enum(['print', 'screen'], {
      default: DEFAULT_OPTIONS.media,
      description: 'The CSS media type.',
    }),
  ),
  ...SURROUNDINGS,
  wait_for: Type.Optional(
    Closed(
      {
        selector: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 1024,
            description:
              'Wait until an element matches this CSS selector. If none ever does, the conversion fails.',
            examples: ['#chart svg'],
          }),
        ),
        delay_ms: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: 10_000,
            description: 'Wait this many milliseconds.',
            examples: [500],
          }),
        ),
        network_idle: Type.Optional(
          Type.Boolean({ description: 'Wait until the network is quiet, within limits.' }),
        ),
        budget_ms: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: 60_000,
            default: 5_000,
            description:
              "Milliseconds of the page's own time in which its scripts may end what they draw. " +
              'The clock of the page runs ahead, so this costs little real time. 0 prints at once.',
            examples: [10_000],
          }),
        ),
      },
      {
        description:
          'Conditions to wait for, all of them, after the page has loaded. What its scripts draw and fetch within budget_ms is waited for without them.',
      },
    ),
  ),
  tagged: Switch(DEFAULT_OPTIONS.tagged, 'Make an accessible (tagged) PDF.'),
  outline: Switch(DEFAULT_OPTIONS.outline, 'Make bookmarks from the headings.'),
  metadata: Type.Optional(
    Closed(
      {
        title: Text(1024, 'Invoice 4711'),
        author: Text(1024, 'Example Ltd'),
        subject: Text(1024, 'Invoice for November 2026'),
        keywords: Type.Optional(
          Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
            maxItems: 50,
            examples: [['invoice', '2026']],
          }),
        ),
      },
      { description: 'The document properties of the PDF.' },
    ),
  ),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 4096 }), {
      maxProperties: 20,
      description: 'HTTP headers to send with the request for url. Allowed with url only.',
      examples: [{ 'Accept-Language': 'de' }],
    }),
  ),
  cookies: Type.Optional(
    Type.Array(Cookie, {
      maxItems: 50,
      description: 'Cookies to set before url is opened. Allowed with url only.',
    }),
  ),
  javascript: Switch(DEFAULT_OPTIONS.javascript, 'Let the page run scripts.'),
  deterministic: Switch(
    DEFAULT_OPTIONS.deterministic,
    'The same request gives the same bytes, on the same Chrome and fonts: the clock of the page stands at deterministic_time and runs ahead only for what its scripts wait for, random numbers follow from the request, the time zone is UTC and the language en-US, and the PDF is dated to that time.',
  ),
  deterministic_time: Type.Optional(
    Type.String({
      maxLength: 40,
      description:
        'The time at which the clock of a deterministic document begins, with a time zone, from the year 1970 to 9999. 2000-01-01T00:00:00Z unless given.',
      examples: ['2026-11-26T12:00:00Z'],
    }),
  ),
  fail_on: Type.Optional(
    Type.Array(Type.Enum([...SHORTCOMINGS]), {
      maxItems: 10,
      description:
        'Makes the conversion fail where the page lacks something: resource_error, a part that could not be loaded; http_status, a part that was answered with a status of 400 or more, such as a missing image; console_error, an error that the page reported; timeout, a wait that was given up. Otherwise these are warnings.',
    }),
  ),
  pdf: Type.Optional(Pdf),
  webhook_url: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_URL_CHARACTERS,
      description:
        'The https address that is told when the conversion has ended, signed with the default secret of the account. Make that first, with POST /webhooks/secret/rotate/.',
      examples: ['https://example.com/hooks/pdf'],
    }),
  ),
  filename: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_FILENAME_CHARACTERS,
      pattern: FILENAME,
      description:
        'The name under which the PDF is downloaded, such as Invoice 4711. “.pdf”, or the ending of another format, is added where it is missing. The conversion’s id unless given.',
    }),
  ),
  reference: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_REFERENCE_CHARACTERS,
      pattern: ONE_LINE_PATTERN,
      description:
        'Your own name for the document, such as an order number. Conversions are found by it. Several may have the same.',
      examples: ['Order 2026-4711'],
    }),
  ),
  tags: Type.Optional(
    Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: MAX_TAG_CHARACTERS }), {
      maxProperties: MAX_TAGS,
      description: `Names and values that conversions are found by, at most ${MAX_TAGS}. A name has 1 to 40 of the characters a-z, 0-9, _ and -; a value has 1 to ${MAX_TAG_CHARACTERS} characters.`,
      examples: [{ customer: 'Example Ltd', month: '2026-11' }],
    }),
  ),
  retention_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'How long the PDF and the stored request are kept after the end of the conversion, at most as long as for other conversions of the account. 0: the PDF is deleted when it was downloaded completely for the first time, at the latest after an hour.',
      examples: [3600],
    }),
  ),
  priority: Type.Optional(
    Type.Enum(['normal', 'low'], {
      description:
        'low waits behind the conversions of the account that are normal, also those that come later. normal unless given.',
    }),
  ),
});

export const ONE_LINE_FORM = 'Must not contain control characters or line ends.';

/** The patterns above, in words. */
export const CONVERSION_REQUEST_FORMS = {
  ...PAGE_FORMS,
  'cookies.*.path': 'Must begin with a slash.',
  filename: 'Must not contain slashes, backslashes, control characters or line ends.',
  reference: ONE_LINE_FORM,
  ...PDF_FORMS,
} as const;

export type ConversionRequest = Static<typeof ConversionRequest>;
