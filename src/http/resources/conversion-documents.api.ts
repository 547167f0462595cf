/** What the API document says of the stored request of a conversion and of the manifest of its rendering. */
import Type, { type TSchema } from 'typebox';
import { StoredWork } from '../../requests/documents-schema.ts';
import { ConversionRequest } from '../../requests/schema.ts';
import { Closed, Count, Text } from '../openapi/fields.ts';

const ID = 'conv_06f3k8r1v2w9x4y5z6a7b8c9d0';
const SHA256 = 'a2a90d44cebfe23183b58f43f6207c819b70e0cb6d3304d93104d9173d7a7978';
const URL = 'https://example.com/logo.png';

const { html, url, template: _template, data: _data, ...fields } = ConversionRequest.properties;
/** An example: the options of a request that says none. */
export const OPTIONS = Object.fromEntries(
  Object.entries<TSchema>(fields).flatMap(([name, schema]) =>
    'default' in schema ? [[name, schema.default]] : [],
  ),
);

/** The answer of `GET /conversions/{id}/request/`. */
export const StoredRequest = Closed({
  source: Type.Enum(['html', 'url', 'document'], {
    description: 'The field that has the document.',
    examples: ['html'],
  }),
  html,
  url,
  document: StoredWork,
  options: Closed(fields, {
    description:
      'The other fields of the request, with the defaults filled in of those that go with it.',
  }),
});

const list = <T extends TSchema>(item: T, description: string) =>
  Type.ReadonlyObject(Type.Array(item), { description });
const milliseconds = Type.Number({ minimum: 0, examples: [12.5] });

const Resource = Type.Object({
  url: Text(URL),
  redirects: Type.Optional(
    list(
      Type.Object({
        url: Text(URL),
        status: Type.Integer({ examples: [301] }),
      }),
      'The addresses that led there.',
    ),
  ),
  kind: Type.Optional(Text('Image')),
  status: Type.Optional(
    Type.Integer({ description: 'Absent if there was no answer.', examples: [200] }),
  ),
  type: Type.Optional(Text('image/png', 'The media type.')),
  bytes: Count('The length of the content in the form that was hashed.', 1024),
  sha256: Type.Optional(Text(SHA256)),
  hashed: Type.Optional(
    Type.Enum(['received', 'decoded', 'text'], {
      description:
        'The form that was hashed: as it came, without its content coding, or decoded and in UTF-8.',
      examples: ['decoded'],
    }),
  ),
  encoding: Type.Optional(Type.String({ description: 'The content coding, such as br.' })),
  error: Type.Optional(
    Type.String({
      description: 'Why there is no answer, or not all of it, such as net::ERR_CONNECTION_RESET.',
    }),
  ),
});

/** The answer of `GET /conversions/{id}/manifest/`, as `domain/render-manifest.ts` has it. */
export const RenderManifest = Type.Object({
  version: Type.Integer({ minimum: 1, examples: [1] }),
  conversion_id: Text(ID),
  renderer: Text('node-1'),
  attempt: Type.Integer({ minimum: 1, examples: [1] }),
  request: Type.Object({
    sha256: Text(SHA256),
    bytes: Count('The size of the encrypted request.', 1024),
  }),
  options: Type.Record(Type.String(), Type.Unknown(), {
    description: 'The options of the page, with the defaults filled in, and wait_for.',
    examples: [OPTIONS],
  }),
  document: Type.Object({
    sha256: Text(SHA256),
    bytes: Count('The size of the PDF.', 1024),
    pages: Count('The pages of the PDF.', 1024),
  }),
  timings: Type.Object(
    {
      queue: milliseconds,
      start: milliseconds,
      load: milliseconds,
      ready: milliseconds,
      print: milliseconds,
      store: milliseconds,
    },
    { description: 'Milliseconds of each phase.' },
  ),
  chrome: Type.Object({
    product: Text('Chrome/146.0.7630.0'),
    revision: Text('@a1b2c3'),
    sandboxed: Type.Boolean({ examples: [true] }),
    flags: list(Text('--headless'), 'The command line.'),
  }),
  fonts: list(Text('DejaVuSans'), 'The fonts that the PDF has glyphs of.'),
  font_files: Type.Optional(
    list(
      Type.Object({
        name: Text('DejaVuSans'),
        file: Text('DejaVuSans.ttf'),
        sha256: Text(SHA256),
      }),
      'Of a deterministic document: the files of those fonts that are installed with the service.',
    ),
  ),
  resources: list(Resource, 'What was fetched or asked for, in order.'),
  resources_left_out: Count('Resources beyond the list.', 1024),
  tunnels: list(
    Type.Object({
      host: Text('example.com'),
      bytes: Count('All bytes both ways.', 1024),
    }),
    'Encrypted connections by host.',
  ),
  console_errors: list(
    Type.Object({
      text: Text('Uncaught Error'),
      at: Type.Optional(Text(`${URL}:1`, 'Address and line.')),
    }),
    'Errors of the page.',
  ),
  console_errors_left_out: Count('Errors beyond the list.', 1024),
  waits: list(
    Type.Object({
      for: Text('images'),
      ms: milliseconds,
      capped: Type.Optional(
        Type.Literal(true, { description: 'The wait was given up at its limit.' }),
      ),
    }),
    'The waits for the document, in order.',
  ),
});
