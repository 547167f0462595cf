import Type from 'typebox';
import { CONVERSION_ID } from '../../domain/id-patterns.ts';
import { Timestamp } from './timestamp.ts';

const closed = { additionalProperties: false } as const;

const id = Type.String({
  pattern: `^${CONVERSION_ID}$`,
  description: 'Names the conversion.',
  examples: ['conv_06f3k8r1v2w9x4y5z6a7b8c9d0'],
});
const createdAt = Timestamp('When the request was accepted.');

/** The answer of `POST /pdf/`. */
export const AcceptedConversion = Type.Object(
  { id, status: Type.Literal('pending'), created_at: createdAt },
  closed,
);

/** What `GET /conversions/{id}/` answers, by `status`. */
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
