import Type from 'typebox';
import { BATCH_ID } from '../../domain/ids.ts';
import { BatchRequest } from '../../requests/batch.ts';
import { idempotencyKeyParameter } from '../idempotency-key.ts';
import { testParameter } from '../test-query.ts';
import {
  BATCH,
  Closed,
  CONVERSION,
  Count,
  example,
  Flag,
  Text,
  Timestamp,
} from '../openapi/fields.ts';
import { inHeader, inQuery, type OperationDoc, wrongField } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOfItems } from '../pagination.ts';
import { MAX_WAIT_SECONDS } from '../waiting.ts';
import { ZIP_ANSWERS, ZIP_ERRORS } from './zip.api.ts';

export const NOT_READY =
  'The batch has not ended. Wait for it, or ask for the PDFs that are there with partial=true.';

export const Batch = Closed({
  id: Text(BATCH, 'The id of the batch.', { pattern: `^${BATCH_ID}$` }),
  status: Type.Enum(['running', 'ended', 'cancelled'], {
    description:
      'running: some conversions have not ended; ended: all have; cancelled: what had not ended was cancelled.',
  }),
  total: Count('The number of conversions.', 2, 1),
  pending: Count('The number of those that have not ended.', 2),
  completed: Count('The number of those that are completed.', 0),
  failed: Count('The number of those that failed.', 0),
  created_at: Timestamp('The time when the batch was accepted.'),
  cancelled_at: Type.Optional(
    Timestamp('The time when the batch was cancelled, if it was.', '2026-11-21T08:15:50.123Z'),
  ),
  ended_at: Type.Optional(
    Timestamp('The time when the last conversion ended.', '2026-11-21T08:16:02.456Z'),
  ),
  reference: Type.Optional(
    Text('Statements 2026-11', 'The reference of the request, if it gave one.', { minLength: 1 }),
  ),
  tags: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'The tags of the request, if it gave any.',
      examples: [{ month: '2026-11' }],
    }),
  ),
  test: Type.Optional(
    Flag('true if a test key asked for it: all of its conversions are tests.', true),
  ),
  conversions: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'The ids of the conversions, in the order of the requests. Lists leave them out.',
      examples: [[CONVERSION, `${CONVERSION.slice(0, -1)}1`]],
    }),
  ),
});

const {
  cancelled_at,
  ended_at,
  conversions,
  reference,
  tags,
  test: _test,
  ...running
} = {
  ...example(Batch),
  status: 'running',
} as Record<string, unknown>;
const ended = { ...running, status: 'ended', pending: 0, completed: 2, ended_at, reference, tags };

export const createBatchDoc: OperationDoc = {
  id: 'createBatch',
  tag: 'Batches',
  summary: 'Create a batch',
  description:
    'Accepts up to 1000 conversions in one request: all of them, or none if one is invalid or the credits do not suffice. It counts as one request of the rate limit. Each conversion is one like those of `POST /pdf/`, with a record, a credit and a history of its own. A field beside `requests` is the default of each request that does not have it. The whole body has at most the bytes that the service accepts for one request.',
  parameters: [
    idempotencyKeyParameter('gets the same response, and no further credit is taken'),
    testParameter,
  ],
  body: {
    schema: BatchRequest,
    examples: {
      letters: {
        requests: [
          { html: '<h1>Letter 1</h1>', filename: 'Letter 1.pdf' },
          { html: '<h1>Letter 2</h1>', filename: 'Letter 2.pdf' },
        ],
        reference: 'Statements 2026-11',
        tags: { month: '2026-11' },
        priority: 'low',
      },
    },
  },
  answers: {
    202: {
      description: 'All requests were accepted and stored.',
      schema: Batch,
      examples: { accepted: { ...running, conversions } },
      headers: ['Location', 'Retry-After', 'Idempotent-Replayed'],
    },
  },
  errors: {
    validation_error: {
      when: 'The body is not a JSON object, a field or the Idempotency-Key is invalid, or a query parameter is unknown. details names each fault, those of a request by its number, from 0. Nothing was accepted.',
      message: 'requests.1.scale: Must be at most 2.',
      details: { 'requests.1.scale': ['Must be at most 2.'] },
    },
    insufficient_credits: {
      when: 'The account has fewer credits than the batch takes. Nothing was accepted.',
      message:
        'The batch takes 2 credits, and the account has 1. Nothing was accepted. Add credits, or send fewer requests.',
    },
    payload_too_large: {
      when: 'The body or the html of a request is larger than the service accepts, or what is recorded of all requests is more than the event store takes at once.',
      message: 'The request body is larger than 10 MiB, the most that is accepted.',
    },
    rate_limit_exceeded:
      'The rate limit was exceeded; the documents of the account use all of its storage; its unfinished conversions take its share of the queue; or it asks for work on the PDF (`pdf`), and such work that failed has taken all the time of a minute that it may.',
  },
};

export const listBatchesDoc: OperationDoc = {
  id: 'listBatches',
  tag: 'Batches',
  summary: 'List batches',
  description: 'All batches of the account, newest first, without the ids of their conversions.',
  parameters: [...PAGE_PARAMETERS],
  answers: { 200: { ...pageOfItems(Batch), examples: { batches: [running, ended] } } },
};

export const getBatchDoc: OperationDoc = {
  id: 'getBatch',
  tag: 'Batches',
  summary: 'Retrieve a batch',
  description: 'The batch, with the progress of its conversions and their ids.',
  parameters: [
    inHeader(
      'Prefer',
      `Waits for the end of the batch: wait=30 delays the response until then, by at most ${MAX_WAIT_SECONDS} seconds (RFC 7240).`,
    ),
  ],
  answers: {
    200: {
      description: 'The batch.',
      schema: Batch,
      examples: {
        running: { ...running, conversions },
        ended: { ...ended, conversions },
        cancelled: { ...running, status: 'cancelled', cancelled_at, conversions },
      },
      headers: ['Preference-Applied'],
    },
  },
};

export const deleteBatchDoc: OperationDoc = {
  id: 'cancelBatch',
  tag: 'Batches',
  summary: 'Cancel a batch',
  description:
    'Cancels the conversions of the batch that have not ended: they fail with the failure_code cancelled, and their credits are refunded. Those that have ended stay as they are. Repeated, or after the end of the batch, it changes nothing.',
  answers: { 204: { description: 'What had not ended is being cancelled. There is no body.' } },
};

export const getBatchZipDoc: OperationDoc = {
  id: 'getBatchZip',
  tag: 'Batches',
  summary: 'Download the PDFs of a batch',
  description:
    'One ZIP file with the PDF of each conversion that completed, named by its filename, else by its id. It counts as a download of each. PDFs that are deleted are left out.',
  parameters: [
    inQuery(
      'partial',
      'true: the PDFs that are there now, also before the end of the batch.',
      Type.Enum(['true', 'false']),
    ),
  ],
  answers: ZIP_ANSWERS,
  errors: {
    ...ZIP_ERRORS,
    validation_error: wrongField(
      'partial',
      'Must be true or false.',
      'The query parameter is invalid.',
    ),
    not_ready: {
      when: 'The batch has not ended. With partial=true: no conversion has completed yet.',
      message: NOT_READY,
    },
  },
};
