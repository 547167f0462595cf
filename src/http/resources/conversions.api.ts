import Type from 'typebox';
import { CONVERSION_STATUSES } from '../../../projections/conversions.ts';
import { ConversionForm, ConversionRequest } from '../../conversion-request/schema.ts';
import { CONVERSION_ID } from '../../domain/ids.ts';
import { type OperationDoc, type ParameterDoc, Timestamp } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOfItems, WRONG_QUERY } from '../pagination.ts';
import { MAX_WAIT_SECONDS } from '../waiting.ts';
import { FILE_ANSWERS, FILE_ERRORS, FILE_PARAMETERS } from './files.api.ts';

const closed = { additionalProperties: false } as const;

const id = Type.String({
  pattern: `^${CONVERSION_ID}$`,
  description: 'Names the conversion.',
  examples: ['conv_06f3k8r1v2w9x4y5z6a7b8c9d0'],
});
const createdAt = Timestamp('When the request was accepted.');

/** The answer of `POST /pdf/` to a request that does not wait. */
export const AcceptedConversion = Type.Object(
  { id, status: Type.Literal('pending'), created_at: createdAt },
  closed,
);

/** The answers of `GET /conversions/{id}/`, by `status`. */
export const UnfinishedConversion = Type.Object(
  { id, status: Type.Enum(['pending', 'processing']), created_at: createdAt },
  closed,
);

export const CompletedConversion = Type.Object(
  {
    id,
    status: Type.Literal('completed'),
    created_at: createdAt,
    file_url: Type.String({
      description:
        'Where the PDF is downloaded, without another credential. Each look at the record gives a fresh link.',
      examples: [
        'https://pdf.example.com/files/conv_06f3k8r1v2w9x4y5z6a7b8c9d0.pdf?token=v4.public.eyJzdWIi',
      ],
    }),
    completed_at: Timestamp('When the PDF was stored.', '2026-11-21T08:15:31.456Z'),
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        description: 'What was missing when the page was printed; absent where nothing was.',
        examples: [['https://example.com/logo.png was answered with status 404.']],
      }),
    ),
  },
  closed,
);

export const FailedConversion = Type.Object(
  {
    id,
    status: Type.Literal('failed'),
    created_at: createdAt,
    error_message: Type.String({
      minLength: 1,
      description: 'Why there is no PDF, in words that a person can act on.',
      examples: ['The page answered with status 404.'],
    }),
  },
  closed,
);

export const Conversion = Type.Union([UnfinishedConversion, CompletedConversion, FailedConversion]);

// Optional headers have no examples: the reference page would send those with each request.

const ID = 'conv_06f3k8r1v2w9x4y5z6a7b8c9d0';

const conversionId: ParameterDoc = {
  name: 'id',
  in: 'path',
  description: 'The id that the conversion was accepted under.',
  schema: Type.String({ examples: [ID] }),
};

const prefer = (more = ''): ParameterDoc => ({
  name: 'Prefer',
  in: 'header',
  description:
    `wait=N, such as wait=30, holds the answer until the conversion has ended, at most N seconds and at most ${MAX_WAIT_SECONDS} (RFC 7240). ${more}`.trim(),
  schema: Type.String(),
});

const exampleOfAccepted = { id: ID, status: 'pending', created_at: '2026-11-21T08:15:30.123Z' };

export const createConversionDoc: OperationDoc = {
  id: 'createConversion',
  tag: 'Conversions',
  summary: 'Ask for a PDF of HTML or of a URL',
  description:
    'Answers at once; the PDF is made afterwards. Costs one credit, which comes back if the conversion fails. Follow it at `/api/v1/conversions/{id}/`. Or get the PDF by this one request: with `Prefer: wait=30` and `Accept: application/pdf`. A page with style sheets, images, fonts or scripts of its own is sent with `files`, or as a form: parts named `files` with their file names, one of them `index.html`, and each option as a field.',
  parameters: [
    {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'Printable ASCII, such as invoice-4711. Makes the request safe to repeat: for 24 hours the same key of the same account gets the first answer again, byte for byte, and costs nothing.',
      schema: Type.String({
        minLength: 1,
        maxLength: 255,
        pattern: '^[\\x20-\\x7e]*$',
      }),
    },
    prefer(
      'With Accept: application/pdf beside it, the answer is the PDF itself. A conversion that takes longer is answered with 202; nothing is lost.',
    ),
  ],
  body: {
    schema: ConversionRequest,
    form: ConversionForm,
    examples: {
      html: { html: '<h1>Invoice 4711</h1>', page_size: 'A4' },
      files: {
        html: '<link rel="stylesheet" href="style.css"><h1>Invoice 4711</h1>',
        files: { 'style.css': 'aDEgeyBjb2xvcjogdGVhbCB9' },
      },
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
    200: {
      description:
        'With Prefer: wait alone: the conversion ended in time. Its record, or its PDF where the client prefers that.',
      schema: Conversion,
      media: 'application/pdf',
      headers: ['Location', 'Preference-Applied', 'Idempotent-Replayed'],
    },
    202: {
      description:
        'Accepted, and on disk. The status is pending, and there are no fields but id, status and created_at.',
      // The same as of 200: generators of clients take one type for all successes, or throw the others.
      schema: Conversion,
      examples: { UnfinishedConversion: exampleOfAccepted },
      headers: ['Location', 'Retry-After', 'Preference-Applied', 'Idempotent-Replayed'],
    },
  },
  errors: {
    validation_error: {
      when: 'The body is not a JSON object, or a field or the Idempotency-Key is wrong. details names every one of them.',
      message: 'scale: Must be at most 2. See details for one more field.',
      details: {
        scale: ['Must be at most 2.'],
        pageSize: ['Is not a known field. Did you mean page_size?'],
      },
    },
    insufficient_credits: { when: 'The account has no credits left.' },
    conversion_failed: {
      when: 'The PDF was waited for, and its conversion failed. The credit comes back.',
      message: 'The page answered with status 404.',
    },
    gone: { when: 'The PDF of an earlier request with this Idempotency-Key has been deleted.' },
    payload_too_large: { when: 'The body or its html is larger than the service accepts.' },
    rate_limit_exceeded: {
      when: 'More requests than a minute allows, or the account’s stored documents leave no room for another.',
    },
  },
};

export const getConversionDoc: OperationDoc = {
  id: 'getConversion',
  tag: 'Conversions',
  summary: 'Get a conversion',
  description:
    'Poll it until `status` is `completed` or `failed`, a second apart to begin with; or let the service hold the answer with `Prefer: wait`.',
  parameters: [conversionId, prefer()],
  answers: {
    200: {
      description: 'The record. Which fields it has depends on its status.',
      schema: Conversion,
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

export const getConversionFileDoc: OperationDoc = {
  id: 'getConversionFile',
  tag: 'Conversions',
  summary: 'Download the PDF of a conversion',
  description:
    'The same file as at `file_url`, with the credential of the account. `Prefer: wait` waits until it is there.',
  parameters: [conversionId, prefer(), ...FILE_PARAMETERS],
  answers: FILE_ANSWERS,
  errors: {
    ...FILE_ERRORS,
    not_found: {
      when: 'The account has no conversion with this id.',
      message: 'There is no such conversion.',
    },
    not_ready: { when: 'The conversion has not ended yet.' },
    conversion_failed: {
      when: 'The conversion has failed: the message says why.',
      message: 'The page answered with status 404.',
    },
    rate_limit_exceeded: {
      when: 'More requests than a minute allows, or too many downloads of this address at a time.',
    },
  },
};

export const listConversionsDoc: OperationDoc = {
  id: 'listConversions',
  tag: 'Conversions',
  summary: 'The account’s conversions',
  parameters: [
    ...PAGE_PARAMETERS,
    {
      name: 'status',
      in: 'query',
      description: 'Only those that stand so.',
      schema: Type.Enum([...CONVERSION_STATUSES]),
    },
  ],
  answers: { 200: pageOfItems(Conversion) },
  errors: { validation_error: WRONG_QUERY },
};
