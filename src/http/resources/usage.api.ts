import Type from 'typebox';
import { FAILURE_CODES } from '../../domain/choices.ts';
import { type OperationDoc } from '../openapi/operation.ts';
import { WRONG_QUERY } from '../pagination.ts';

/** The most days of one answer. */
export const MAX_DAYS = 3_660;
export const USUAL_DAYS = 30;
export const WRONG_DAY = 'Must be a day in UTC, such as 2026-11-21.';

const closed = { additionalProperties: false } as const;
const count = (description: string, example: number) =>
  Type.Integer({ minimum: 0, description, examples: [example] });

export const UsageDay = Type.Object(
  {
    day: Type.String({
      format: 'date',
      description: 'The day in UTC.',
      examples: ['2026-11-21'],
    }),
    accepted: count('The conversions that were accepted.', 12),
    completed: count('The conversions that completed.', 11),
    failed: count('The conversions that failed.', 1),
    pages: count('The pages of all PDFs that were made.', 40),
    bytes: count('The size of all PDFs that were made.', 512_000),
    failures: Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
      description: `The failures by their code: ${FAILURE_CODES.join(', ')}.`,
      examples: [{ timeout: 1 }],
    }),
  },
  closed,
);

/** The answer of `GET /account/usage/`. */
export const Usage = Type.Object(
  { days: Type.Array(UsageDay, { description: 'Days without any are left out.' }) },
  closed,
);

export const getUsageDoc: OperationDoc = {
  id: 'getUsage',
  tag: 'Account',
  summary: 'Retrieve the usage by day',
  description: `Conversions, pages and bytes of each day in UTC, oldest first. Each number counts on the day when it happened. With \`Accept: text/csv\`, the response is a table with a column for each failure code.`,
  parameters: [
    {
      name: 'from',
      in: 'query',
      description: `The first day, such as 2026-11-01. Default: ${USUAL_DAYS} days up to the last.`,
      schema: Type.String(),
    },
    {
      name: 'to',
      in: 'query',
      description: 'The last day. Default: today.',
      schema: Type.String(),
    },
  ],
  answers: { 200: { description: 'The usage.', schema: Usage, media: 'text/csv' } },
  errors: {
    validation_error: {
      ...WRONG_QUERY,
      message: `from: ${WRONG_DAY}`,
      details: { from: [WRONG_DAY] },
    },
  },
};
