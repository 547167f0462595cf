import Type, { type TSchema } from 'typebox';
import { ConversionRequest } from '../../requests/schema.ts';
import type { OperationDoc, ParameterDoc } from '../openapi/operation.ts';

const ID = 'conv_06f3k8r1v2w9x4y5z6a7b8c9d0';
const SHA256 = 'a2a90d44cebfe23183b58f43f6207c819b70e0cb6d3304d93104d9173d7a7978';
const URL = 'https://example.com/logo.png';

const { html, url, ...options } = ConversionRequest.properties;
const OPTIONS = Object.fromEntries(
  Object.entries<TSchema>(options).flatMap(([name, schema]) =>
    'default' in schema ? [[name, schema.default]] : [],
  ),
);

/** The answer of `GET /conversions/{id}/request/`. */
export const StoredRequest = Type.Object(
  {
    source: Type.Enum(['html', 'url'], {
      description: 'The field that has the document.',
      examples: ['html'],
    }),
    html,
    url,
    options: Type.Object(options, {
      additionalProperties: false,
      description: 'The other fields of the request, with the defaults filled in.',
    }),
  },
  { additionalProperties: false },
);

const list = <T extends TSchema>(item: T, description: string) =>
  Type.ReadonlyObject(Type.Array(item), { description });
const count = (description: string) => Type.Integer({ minimum: 0, description, examples: [1024] });
const milliseconds = Type.Number({ minimum: 0, examples: [12.5] });

const Resource = Type.Object({
  url: Type.String({ examples: [URL] }),
  redirects: Type.Optional(
    list(
      Type.Object({
        url: Type.String({ examples: [URL] }),
        status: Type.Integer({ examples: [301] }),
      }),
      'The addresses that led there.',
    ),
  ),
  kind: Type.Optional(Type.String({ examples: ['Image'] })),
  status: Type.Optional(
    Type.Integer({ description: 'Absent if there was no answer.', examples: [200] }),
  ),
  type: Type.Optional(Type.String({ description: 'The media type.', examples: ['image/png'] })),
  bytes: count('The length of the content in the form that was hashed.'),
  sha256: Type.Optional(Type.String({ examples: [SHA256] })),
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

/** The answer of `GET /conversions/{id}/manifest/`: a `RenderManifest`. */
export const RenderRecord = Type.Object({
  version: Type.Integer({ minimum: 1, examples: [1] }),
  conversion_id: Type.String({ examples: [ID] }),
  renderer: Type.String({ examples: ['node-1'] }),
  attempt: Type.Integer({ minimum: 1, examples: [1] }),
  request: Type.Object({
    sha256: Type.String({ examples: [SHA256] }),
    bytes: count('The size of the encrypted request.'),
  }),
  options: Type.Record(Type.String(), Type.Unknown(), {
    description: 'The options of the page, with the defaults filled in, and wait_for.',
    examples: [OPTIONS],
  }),
  document: Type.Object({
    sha256: Type.String({ examples: [SHA256] }),
    bytes: count('The size of the PDF.'),
    pages: count('The pages of the PDF.'),
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
    product: Type.String({ examples: ['Chrome/146.0.7630.0'] }),
    revision: Type.String({ examples: ['@a1b2c3'] }),
    sandboxed: Type.Boolean({ examples: [true] }),
    flags: list(Type.String({ examples: ['--headless'] }), 'The command line.'),
  }),
  fonts: list(Type.String({ examples: ['DejaVuSans'] }), 'The fonts that the PDF has glyphs of.'),
  resources: list(Resource, 'What was fetched or asked for, in order.'),
  resources_left_out: count('Resources beyond the list.'),
  tunnels: list(
    Type.Object({
      host: Type.String({ examples: ['example.com'] }),
      bytes: count('All bytes both ways.'),
    }),
    'Encrypted connections by host.',
  ),
  console_errors: list(
    Type.Object({
      text: Type.String({ examples: ['Uncaught Error'] }),
      at: Type.Optional(Type.String({ description: 'Address and line.', examples: [`${URL}:1`] })),
    }),
    'Errors of the page.',
  ),
  console_errors_left_out: count('Errors beyond the list.'),
  waits: list(
    Type.Object({
      for: Type.String({ examples: ['images'] }),
      ms: milliseconds,
      capped: Type.Optional(
        Type.Literal(true, { description: 'The wait was given up at its limit.' }),
      ),
    }),
    'The waits for the document, in order.',
  ),
});

const conversionId: ParameterDoc = {
  name: 'id',
  in: 'path',
  description: 'The id of the conversion.',
  schema: Type.String({ examples: [ID] }),
};
const notFound = {
  when: 'The account has no conversion with this id.',
  message: 'There is no such conversion.',
};
const gone = {
  when: 'It was deleted: after a failure, or when its retention ended.',
  message: 'It is not stored any more.',
};

export const getConversionRequestDoc: OperationDoc = {
  id: 'getConversionRequest',
  tag: 'Conversions',
  summary: 'Retrieve the request of a conversion',
  description:
    'What the client asked for, while it is stored. html or url together with all fields of options is a request that makes the same conversion again. An API key does not get headers and cookies: they may be credentials of other sites.',
  parameters: [conversionId],
  answers: {
    200: {
      description: 'The request.',
      schema: StoredRequest,
      examples: {
        html: {
          source: 'html',
          html: '<h1>Invoice 4711</h1>',
          options: OPTIONS,
        },
        url: { source: 'url', url: 'https://example.com/', options: OPTIONS },
      },
    },
  },
  errors: { not_found: notFound, gone },
};

export const getConversionManifestDoc: OperationDoc = {
  id: 'getConversionManifest',
  tag: 'Conversions',
  summary: 'Retrieve the manifest of a conversion',
  description:
    'The record of how the PDF was made, while it is stored: the renderer and its Chrome, fonts, resources with their hashes, errors of the page, and times.',
  parameters: [conversionId],
  answers: { 200: { description: 'The manifest, as it was recorded.', schema: RenderRecord } },
  errors: {
    not_found: notFound,
    not_ready: { when: 'The conversion has not ended yet.' },
    conversion_failed: {
      when: 'The conversion has failed: the message says why.',
      message: 'The page answered with status 404.',
    },
    gone,
  },
};
