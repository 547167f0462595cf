import Type from 'typebox';
import { CONVERSION_STATUSES } from '../../../projections/conversions.ts';
import { ConversionRequest } from '../../conversion-request/schema.ts';
import { CONVERSION_ID } from '../../domain/ids.ts';
import { type OperationDoc, type ParameterDoc, Timestamp } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOfItems, WRONG_QUERY } from '../pagination.ts';
import { MAX_WAIT_SECONDS } from './conversions.ts';

const ID = 'conv_06f3k8r1v2w9x4y5z6a7b8c9d0';

export const ConversionStatus = Type.Enum([...CONVERSION_STATUSES], {
  description: 'pending: waiting; processing: being rendered; completed or failed: ended.',
});

/** One object for every status: generators of clients make empty classes of a union. */
export const Conversion = Type.Object(
  {
    id: Type.String({
      pattern: `^${CONVERSION_ID}$`,
      description: 'The id of the conversion.',
      examples: [ID],
    }),
    status: ConversionStatus,
    created_at: Timestamp('The time when the request was accepted.'),
    file_url: Type.Optional(
      Type.String({
        format: 'uri',
        description:
          'The link to the PDF, if the status is completed. It needs no other credential. Each retrieval of the conversion gives a new link.',
        examples: [`https://pdf.example.com/files/${ID}.pdf?token=v4.public.eyJzdWIi`],
      }),
    ),
    completed_at: Type.Optional(
      Timestamp(
        'The time when the PDF was stored, if the status is completed.',
        '2026-11-21T08:15:31.456Z',
      ),
    ),
    error_message: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'The reason, if the status is failed, in words that a person can act on.',
        examples: ['The page answered with status 404.'],
      }),
    ),
  },
  { additionalProperties: false },
);

const pending = { id: ID, status: 'pending', created_at: '2026-11-21T08:15:30.123Z' };
const completed = {
  ...pending,
  status: 'completed',
  completed_at: '2026-11-21T08:15:31.456Z',
  file_url: `https://pdf.example.com/files/${ID}.pdf?token=v4.public.eyJzdWIi`,
};
const failed = {
  ...pending,
  status: 'failed',
  error_message: 'The page answered with status 404.',
};

// Optional headers have no examples: the reference page would send those with each request.

const conversionId: ParameterDoc = {
  name: 'id',
  in: 'path',
  description: 'The id of the conversion.',
  schema: Type.String({ examples: [ID] }),
};

export const createConversionDoc: OperationDoc = {
  id: 'createConversion',
  tag: 'Conversions',
  summary: 'Create a conversion',
  description:
    'Converts HTML or a web page to a PDF. The response comes at once; the PDF is made afterwards: retrieve the conversion until its status is completed or failed. A conversion costs one credit, which is refunded if it fails.',
  parameters: [
    {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'Makes the request safe to repeat: for 24 hours the same key gets the same response, and no further credit is taken. Printable ASCII, such as invoice-4711.',
      schema: Type.String({
        minLength: 1,
        maxLength: 255,
        pattern: '^[\\x20-\\x7e]*$',
      }),
    },
  ],
  body: {
    schema: ConversionRequest,
    examples: {
      html: { html: '<h1>Invoice 4711</h1>', page_size: 'A4' },
      url: { url: 'https://example.com/', landscape: true, print_background: true },
      options: {
        html: '<h1>Report</h1><h2>Figures</h2>',
        margin_top: '25mm',
        footer_html:
          '<span style="font-size: 8pt"><span class="pageNumber"></span>/<span class="totalPages"></span></span>',
        outline: true,
        metadata: { title: 'Report', keywords: ['figures', '2026'] },
      },
    },
  },
  answers: {
    202: {
      description:
        'The request was accepted and stored. The status is pending, and the response has no fields but id, status and created_at.',
      schema: Conversion,
      examples: { pending },
      headers: ['Idempotent-Replayed'],
    },
  },
  errors: {
    validation_error: {
      when: 'The body is not a JSON object, or a field or the Idempotency-Key is invalid. details lists all of them.',
      message: 'scale: Must be at most 2. (and 1 more field)',
      details: { scale: ['Must be at most 2.'], pageSize: ['Is not a known field.'] },
    },
    insufficient_credits: { when: 'The account has no credits left.' },
    payload_too_large: { when: 'The body or its html is larger than the service accepts.' },
    rate_limit_exceeded: {
      when: 'The rate limit was exceeded, or the documents of the account use all of its storage.',
    },
  },
};

export const getConversionDoc: OperationDoc = {
  id: 'getConversion',
  tag: 'Conversions',
  summary: 'Retrieve a conversion',
  description:
    'Retrieve it once a second until `status` is `completed` or `failed`, or send `Prefer: wait` to get the response when the conversion has ended. Most conversions take a few seconds.',
  parameters: [
    conversionId,
    {
      name: 'Prefer',
      in: 'header',
      description: `Waits for the end of the conversion: wait=30 delays the response until then, by at most 30 seconds (RFC 7240). The longest wait is ${MAX_WAIT_SECONDS} seconds.`,
      schema: Type.String(),
    },
  ],
  answers: {
    200: {
      description: 'The conversion. Its status decides which fields it has.',
      schema: Conversion,
      examples: { pending, completed, failed },
      headers: ['Preference-Applied'],
    },
  },
  errors: {
    not_found: {
      when: 'The account has no conversion with this id.',
      message: 'There is no such conversion.',
    },
  },
};

export const listConversionsDoc: OperationDoc = {
  id: 'listConversions',
  tag: 'Conversions',
  summary: 'List conversions',
  description: 'All conversions of the account, newest first, or those with one status.',
  parameters: [
    ...PAGE_PARAMETERS,
    {
      name: 'status',
      in: 'query',
      description: 'Lists only conversions with this status.',
      schema: ConversionStatus,
    },
  ],
  answers: { 200: { ...pageOfItems(Conversion), examples: { conversions: [completed, failed] } } },
  errors: { validation_error: WRONG_QUERY },
};
