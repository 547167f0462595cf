import Type from 'typebox';
import { ERRORS, type ErrorCode } from '../../errors.ts';

export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];

/** The body of every answer other than success. */
export const ErrorAnswer = Type.Object(
  {
    error: Type.Enum([...ERROR_CODES], { description: 'What programs decide by.' }),
    message: Type.String({ minLength: 1, description: 'What people read. It may change.' }),
    details: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.String(), { minItems: 1 }), {
        description: 'Field name (wait_for.selector, cookies.0.name) to what is wrong with it.',
      }),
    ),
  },
  { additionalProperties: false },
);
