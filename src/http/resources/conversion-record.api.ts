/** The record of a conversion, with an example in each status. */
import Type from 'typebox';
import { CONVERSION_STATUSES } from '../../../projections/conversion-pages.ts';
import { FAILURE_CODES } from '../../domain/choices.ts';
import { BATCH_ID, CONVERSION_ID } from '../../domain/ids.ts';
import { CONFORMANCES } from '../../domain/request-document.ts';
import {
  BATCH,
  Closed,
  Count,
  example,
  Flag,
  Kind,
  TEMPLATE,
  Text,
  Timestamp,
} from '../openapi/fields.ts';

export const ID = 'conv_06f3k8r1v2w9x4y5z6a7b8c9d0';
const SHA256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

export const ConversionStatus = Type.Enum([...CONVERSION_STATUSES], {
  description: 'pending: waiting; processing: being rendered; completed or failed: ended.',
});

/** One object for every status: generators of clients make empty classes of a union. */
export const Conversion = Closed({
  id: Text(ID, 'The id of the conversion.', { pattern: `^${CONVERSION_ID}$` }),
  status: ConversionStatus,
  created_at: Timestamp('The time when the request was accepted.'),
  kind: Kind,
  test: Type.Optional(
    Flag('true for a test, which an API key for tests asked for. Absent for all others.', true),
  ),
  retry_of: Type.Optional(
    Text(
      'conv_06f3k8r1v2w9x4y5z6a7b8c9cz',
      'The conversion whose request was asked for once more, if it is a retry.',
      { pattern: `^${CONVERSION_ID}$` },
    ),
  ),
  rerender_of: Type.Optional(
    Text(
      'conv_06f3k8r1v2w9x4y5z6a7b8c9cy',
      'The conversion whose request was rendered again, if it is to be compared with that.',
      { pattern: `^${CONVERSION_ID}$` },
    ),
  ),
  name: Type.Optional(
    Text(
      'Invoice 4711.pdf',
      'The name that lists show: filename, else title, else host and path of the URL, else the id. In the list and the stream of conversions it is always there; elsewhere if the request gave filename, reference or tags.',
      { minLength: 1 },
    ),
  ),
  filename: Type.Optional(
    Text(
      'Invoice 4711.pdf',
      'The name of the PDF when it is downloaded, if the request gave one.',
      { minLength: 1 },
    ),
  ),
  reference: Type.Optional(
    Text('Order 2026-4711', 'The reference of the request, if it gave one.', { minLength: 1 }),
  ),
  tags: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'The tags of the request, if it gave any.',
      examples: [{ customer: 'Example Ltd', month: '2026-11' }],
    }),
  ),
  title: Type.Optional(
    Text(
      'Invoice',
      'The title of the page when it was printed. If it had none, its first heading, else its first words. It is there where name is.',
      { minLength: 1 },
    ),
  ),
  template: Type.Optional(
    Closed(
      {
        id: Text(TEMPLATE),
        version: Count('The version of the template.', 3, 1),
        data_sha256: Type.Optional(
          Text(
            SHA256,
            'The SHA-256 of the data in hexadecimal digits, as JSON in the canonical form of RFC 8785.',
            { pattern: '^[0-9a-f]{64}$' },
          ),
        ),
      },
      { description: 'The template that the HTML was made of, if the request named one.' },
    ),
  ),
  batch: Type.Optional(
    Text(BATCH, 'The id of the batch, if the conversion was requested in one.', {
      pattern: `^${BATCH_ID}$`,
    }),
  ),
  retention_seconds: Type.Optional(
    Count(
      'The seconds for which it is kept after its end, if its request gave them. Lists and webhooks have those of the setting of its account, too.',
      3600,
    ),
  ),
  file_url: Type.Optional(
    Text(
      `https://pdf.example.com/files/${ID}.pdf?token=v4.public.eyJzdWIi`,
      'The link to the PDF, if the status is completed and the role of the caller lets them read documents. It needs no other credential. Each retrieval of the conversion gives a new link. Once the PDF is deleted, the link is answered with 410.',
      { format: 'uri' },
    ),
  ),
  completed_at: Type.Optional(
    Timestamp(
      'The time when the PDF was stored, if the status is completed.',
      '2026-11-21T08:15:31.456Z',
    ),
  ),
  error_message: Type.Optional(
    Text(
      'The page answered with status 404.',
      'The reason, if the status is failed, in words that a person can act on.',
      { minLength: 1 },
    ),
  ),
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      minItems: 1,
      description: 'What was missing when the page was printed, if anything was.',
      examples: [['https://example.com/logo.png was answered with status 404.']],
    }),
  ),
  pdf: Type.Optional(
    Closed(
      {
        conformance: Type.Optional(
          Type.Array(Type.Enum([...CONFORMANCES]), {
            description:
              'What the PDF conforms to, of what was asked for. Absent if nothing was asked for.',
            examples: [['pdfa-3b', 'pdfua-1']],
          }),
        ),
        signature: Type.Optional(
          Closed(
            {
              level: Type.Enum(['B-B', 'B-T'], {
                description: 'The level of the signature (PAdES): B-T has a timestamp.',
                examples: ['B-T'],
              }),
              certificate: Text(
                SHA256,
                'The SHA-256 of the certificate that signed, in hexadecimal digits.',
                { pattern: '^[0-9a-f]{64}$' },
              ),
            },
            { description: 'The signature of the PDF, if the request asked for one.' },
          ),
        ),
      },
      {
        description:
          'What was done with the PDF, if the request asked for a conformance or a signature.',
      },
    ),
  ),
  rerender: Type.Optional(
    Closed(
      {
        equal: Type.Boolean({
          description: 'True if the PDF is equal to that of rerender_of, byte for byte.',
          examples: [false],
        }),
        pages: Type.Optional(
          Type.Array(Type.Integer({ minimum: 1 }), {
            description:
              'The pages that show something else than those of rerender_of, at most the first 1,000; none if only dates and the like differ. Absent if equal, and if the first PDF was deleted or cannot be compared.',
            examples: [[2]],
          }),
        ),
      },
      {
        description: 'How the PDF compares with that of rerender_of, once it has completed.',
        examples: [{ equal: false, pages: [2] }],
      },
    ),
  ),
  pages: Type.Optional(Count('The number of pages of the PDF, if the status is completed.', 2, 1)),
  bytes: Type.Optional(Count('The size of the PDF, if the status is completed.', 51_200)),
  sha256: Type.Optional(
    Text(SHA256, 'The SHA-256 of the PDF in hexadecimal digits, if the status is completed.', {
      pattern: '^[0-9a-f]{64}$',
    }),
  ),
  failed_at: Type.Optional(
    Timestamp('The time when it failed, if the status is failed.', '2026-11-21T08:15:31.456Z'),
  ),
  failure_code: Type.Optional(
    Type.Enum([...FAILURE_CODES], {
      description: 'The reason for programs, if the status is failed.',
      examples: ['page_status'],
    }),
  ),
  duration_ms: Type.Optional(
    Count('The milliseconds from created_at to the end, if it has ended.', 1333),
  ),
});

/** A record in each status, with the fields that it then has. */
const { id, status: _status, created_at, duration_ms, ...ended } = example(Conversion);
const {
  kind: _kind,
  test: _test,
  retry_of,
  rerender_of,
  rerender,
  name,
  filename: _filename,
  reference: _reference,
  tags: _tags,
  title: _title,
  template: _template,
  batch: _batch,
  retention_seconds: _retention,
  warnings: _warnings,
  pdf: _pdf,
  error_message,
  failed_at,
  failure_code,
  ...pdf
} = ended;
export const pending = { id, status: 'pending', created_at };
export const processing = { ...pending, status: 'processing' };
export const completed = { ...pending, ...pdf, status: 'completed', duration_ms };
export const failed = {
  ...pending,
  status: 'failed',
  error_message,
  failed_at,
  failure_code,
  duration_ms,
};

/** The records of a retry that has ended. */
export const retried = {
  completed: { ...completed, retry_of },
  failed: { ...failed, retry_of },
};

/** The records of a conversion that was rendered again and has ended. */
export const rerendered = {
  completed: { ...completed, rerender_of, rerender },
  failed: { ...failed, rerender_of },
};

/** The name that lists show. */
export const shownName = name;
