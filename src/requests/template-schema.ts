/** The schemas of templates, as they are sent and as they are read. */
import Type, { type TProperties } from 'typebox';
import { MAX_FILES } from './files.ts';
import { ConversionRequest } from './schema.ts';

export const MAX_TEMPLATE_NAME_CHARACTERS = 200;
const MAX_MARGIN_CHARACTERS = 65_536;

const Closed = <P extends TProperties>(properties: P, description?: string) =>
  Type.Object(properties, {
    additionalProperties: false,
    ...(description !== undefined && { description }),
  });

/** What says nothing of the content, or comes with each request. */
const {
  html: _html,
  url: _url,
  files: _files,
  template: _template,
  data,
  header_html: _header,
  footer_html: _footer,
  headers: _headers,
  cookies: _cookies,
  webhook_url: _webhook,
  filename: _filename,
  reference: _reference,
  tags: _tags,
  retention_seconds: _retention,
  priority: _priority,
  ...OPTIONS
} = ConversionRequest.properties;

export const TemplateOptions = Closed(
  OPTIONS,
  'Options of POST /pdf/ for requests that do not give them.',
);

const Margin = (place: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_MARGIN_CHARACTERS,
      description: `Liquid for ${place} of POST /pdf/.`,
      examples: ['<p>{{ number }}, page <span class="pageNumber"></span></p>'],
    }),
  );

const AnyObject = (description: string, example: object) =>
  Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description, examples: [example] }));

/** What a version of a template holds. */
export const TEMPLATE_FIELDS = {
  html: Type.String({
    minLength: 1,
    description:
      'HTML with Liquid: {{ values }}, {% if %} and {% for %}. What a value puts out is escaped, unless the filter raw is named.',
    examples: ['<h1>Invoice {{ number }}</h1><p>{{ total | money: "EUR", "en" }}</p>'],
  }),
  header_html: Margin('header_html'),
  footer_html: Margin('footer_html'),
  files: Type.Optional(
    Type.Record(Type.String(), Type.String({ contentEncoding: 'base64' }), {
      maxProperties: MAX_FILES,
      description:
        'Files that html refers to by relative URLs: the name to the content in base64. Requests may add others.',
    }),
  ),
  options: Type.Optional(TemplateOptions),
  schema: AnyObject('JSON Schema (2020-12) of the data. Nothing is fetched: $ref begins with #.', {
    type: 'object',
    required: ['number'],
    properties: { number: { type: 'string' } },
  }),
  sample: AnyObject('Data to look at the template with. It fits the schema.', {
    number: '4711',
    total: 1234.5,
  }),
} as const;

export const TemplateName = Type.String({
  minLength: 1,
  maxLength: MAX_TEMPLATE_NAME_CHARACTERS,
  description: 'What people call it.',
  examples: ['Invoice'],
});

/** The body of `POST /templates/`. */
export const TemplateRequest = Closed({ name: TemplateName, ...TEMPLATE_FIELDS });
/** The body of `POST /templates/{id}/versions/`. */
export const TemplateVersionRequest = Closed(TEMPLATE_FIELDS);
/** The body of `PATCH /templates/{id}/`. */
export const TemplateChange = Closed({ name: TemplateName });
/** The body of `POST /templates/preview/`. */
export const PreviewRequest = Closed({
  html: TEMPLATE_FIELDS.html,
  header_html: TEMPLATE_FIELDS.header_html,
  footer_html: TEMPLATE_FIELDS.footer_html,
  schema: TEMPLATE_FIELDS.schema,
  data,
});
/** The body of `POST /templates/{id}/preview/`. */
export const SavedPreviewRequest = Closed({
  version: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'The version; the newest unless given.',
      examples: [3],
    }),
  ),
  data: AnyObject('The data; the sample of the version unless given.', { number: '4711' }),
});
