import Type from 'typebox';
import { CONVERSION_STATUSES } from '../../../projections/conversion-pages.ts';
import { BATCH_ID, CONVERSION_ID } from '../../domain/ids.ts';
import { DocumentRequest } from '../../requests/documents-schema.ts';
import { idempotencyKeyParameter } from '../idempotency-key.ts';
import { testParameter } from '../test-query.ts';
import { JSON_OR_FORM } from '../middleware/body.ts';
import { BATCH, Closed, CONVERSION, example, Text } from '../openapi/fields.ts';
import type { OperationDoc } from '../openapi/operation.ts';
import { Batch } from './batches.api.ts';
import { Conversion, completed, failed } from './conversion-record.api.ts';
import { prefer, REQUESTED } from './conversions.api.ts';

/** A conversion, or the batch of those that split makes: one object, as generators of clients make empty classes of a union. */
export const WorkAnswer = Closed({
  ...Conversion.properties,
  id: Text(CONVERSION, 'The id of the conversion; with the step split that of the batch.', {
    pattern: `^(${CONVERSION_ID}|${BATCH_ID})$`,
  }),
  status: Type.Enum([...CONVERSION_STATUSES, 'running'], {
    description: 'As of a conversion. running: the batch that split makes was accepted.',
  }),
  total: Type.Optional(Batch.properties.total),
  pending: Type.Optional(Batch.properties.pending),
  completed: Type.Optional(Batch.properties.completed),
  failed: Type.Optional(Batch.properties.failed),
  conversions: Batch.properties.conversions,
});
const kind = 'document';
const worked = {
  completed: { ...completed, kind },
  failed: {
    ...failed,
    kind,
    error_message: 'The PDF is damaged, or not a PDF: open it in a PDF program, and save it again.',
    failure_code: 'unreadable_pdf',
  },
};
const parts = {
  id: BATCH,
  status: 'running',
  created_at: example(Batch)['created_at'],
  total: 2,
  pending: 2,
  completed: 0,
  failed: 0,
  conversions: [CONVERSION, `${CONVERSION.slice(0, -1)}1`],
};

export const NO_SOURCE = 'There is no such conversion.';
export const SOURCE_NOT_READY = 'The conversion has no PDF: it has not completed.';
export const SOURCE_FAILED = 'The conversion failed: it has no PDF.';
export const SOURCE_NO_PDF = 'The conversion made a picture: give one that made a PDF.';
export const SOURCE_GONE = 'The PDF of the conversion is deleted.';

const FIELD = 'sources.0.conversion';
const ofSource = (when: string, message: string) => ({
  when,
  message: `${FIELD}: ${message}`,
  details: { [FIELD]: [message] },
});

/** A PDF of one page. */
const PDF = 'JVBERi0xLjcK';

export const createDocumentDoc: OperationDoc = {
  id: 'createDocument',
  tag: 'Conversions',
  summary: 'Work on finished documents',
  description:
    'Joins, splits, turns, encrypts or optimises PDFs that are sent or were made here, adds files to them, or chooses pages. The answer and all that follows is as of `POST /pdf/`: a conversion, with `kind` `document`, which costs one credit. Its history names the PDFs that it came from, by their ids or SHA-256. A file that is not a PDF, is damaged or is locked makes the conversion fail. With the step `split` there is a conversion for each part: the answer is their batch, with its `conversions`, and 202 at once, also with `Prefer: wait`: follow the batch.',
  parameters: [
    idempotencyKeyParameter('gets the same response, and no further credit is taken'),
    prefer('With Accept: application/pdf, the response is the PDF itself.'),
    testParameter,
  ],
  body: {
    schema: DocumentRequest,
    form: 'Each PDF as a part named files, in the order of sources, which may be left out. Each other field of DocumentRequest is a part of its name, a list or object as JSON.',
    examples: {
      merge: { sources: [{ file: PDF }, { conversion: 'conv_06f3k8r1v2w9x4y5z6a7b8c9d0' }] },
      pages: {
        sources: [{ file: PDF }],
        steps: [
          { type: 'pages', pages: '3, 1-2' },
          { type: 'rotate', rotate: 90, pages: '1' },
          { type: 'metadata', title: 'Contract' },
          { type: 'encrypt', user_password: 'correct horse' },
        ],
      },
      split: { sources: [{ file: PDF }], steps: [{ type: 'split', parts: ['1-2', '3'] }] },
    },
  },
  answers: {
    200: { ...REQUESTED[200], schema: WorkAnswer, examples: worked },
    202: {
      ...REQUESTED[202],
      description: `${REQUESTED[202].description} With the step split it has the fields of a batch.`,
      schema: WorkAnswer,
      examples: { ...REQUESTED[202].examples, parts },
    },
  },
  errors: {
    validation_error: {
      when: 'The body is not a JSON object, a field or the Idempotency-Key is invalid, or a query parameter is unknown. details lists all of them.',
      message: 'steps.0.rotate: Must be one of 90, 180, 270.',
      details: { 'steps.0.rotate': ['Must be one of 90, 180, 270.'] },
    },
    insufficient_credits:
      'The account has no credits left, or the API key has used all of its own for this month.',
    conversion_failed: {
      when: 'The request waited for the PDF, and the conversion failed: the credit is refunded. Or the conversion of a source failed: nothing was accepted.',
      message: 'The file is not a PDF.',
    },
    not_found: ofSource('The account has no conversion of the id of a source.', NO_SOURCE),
    not_ready: ofSource('The conversion of a source has not completed.', SOURCE_NOT_READY),
    gone: ofSource(
      'The PDF of a source is deleted; or that of an earlier request with this Idempotency-Key.',
      SOURCE_GONE,
    ),
    payload_too_large: {
      when: 'The body, or all PDFs together, are larger than the service accepts.',
      message: 'The request body is larger than 10 MiB, the most that is accepted.',
    },
    unsupported_media_type: {
      when: 'The body is neither application/json in UTF-8 nor multipart/form-data, or it is compressed.',
      message: JSON_OR_FORM,
    },
    rate_limit_exceeded:
      'The rate limit was exceeded; the documents of the account use all of its storage; its unfinished conversions take its share of the queue; or conversions of PDFs that failed have taken all the time of a minute that they may.',
  },
};
