/** Schemas of fields, each with the example that the document shows. */
import Type, {
  type TObjectOptions,
  type TProperties,
  type TSchema,
  type TStringOptions,
} from 'typebox';

/** The ids that all examples are about. */
export const ACCOUNT = 'acct_06f3k8r1v2w9x4y5z6a7b8c9d0';
export const CONVERSION = 'conv_06f3k8r1v2w9x4y5z6a7b8c9d0';

/** An object without other fields. */
export const object = <P extends TProperties>(properties: P, options: TObjectOptions = {}) =>
  Type.Object(properties, { ...options, additionalProperties: false });

export const text = (example: string, description?: string, options: TStringOptions = {}) =>
  Type.String({
    ...options,
    ...(description !== undefined && { description }),
    examples: [example],
  });

/** A whole number from 0, or from `minimum`. */
export const count = (description: string, example = 3, minimum = 0) =>
  Type.Integer({ minimum, description, examples: [example] });

export const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

const MOMENT = '2026-11-21T08:15:30.123Z';

/** ISO 8601, UTC, milliseconds, `Z`: as `isoTime` writes it. */
export const Timestamp = (description: string, example = MOMENT) =>
  text(example, description, {
    format: 'date-time',
    pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z$',
  });
