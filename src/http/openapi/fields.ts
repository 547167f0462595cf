/** Schemas of fields, each with the example that the document shows. */
import Type, {
  type TObject,
  type TObjectOptions,
  type TProperties,
  type TSchema,
  type TStringOptions,
} from 'typebox';
import type { SchemaObject } from './types.ts';

/** The ids that all examples are about. */
export const PERSON = 'person_06f3k8r1v2w9x4y5z6a7b8c9d0';
export const ACCOUNT = 'acct_06f3k8r1v2w9x4y5z6a7b8c9d0';
export const BATCH = 'batch_06f3k8r1v2w9x4y5z6a7b8c9d0';
export const CONVERSION = 'conv_06f3k8r1v2w9x4y5z6a7b8c9d0';
export const PASSKEY = 'passkey_3f9a1c5e7b2d4f6081a3c5e7f9';
export const WEBHOOK = 'webhook_06f3k8r1v2w9x4y5z6a7b8c9d0';
export const TEMPLATE = 'tmpl_06f3k8r1v2w9x4y5z6a7b8c9d0';
export const DELIVERY = 'delivery_3f9a1c5e7b2d4f6081a3c5e7f9';

/** An object without other fields. */
export const Closed = <P extends TProperties>(properties: P, options: TObjectOptions = {}) =>
  Type.Object(properties, { ...options, additionalProperties: false });

/** An object that another standard defines: fields that are not named here are not looked at. */
export const Open = <P extends TProperties>(properties: P, options: TObjectOptions = {}) =>
  Type.Object(properties, { ...options, additionalProperties: true });

export const Text = (example: string, description?: string, options: TStringOptions = {}) =>
  Type.String({
    ...options,
    ...(description !== undefined && { description }),
    examples: [example],
  });

/** A whole number from 0, or from `minimum`. */
export const Count = (description: string, example = 3, minimum = 0) =>
  Type.Integer({ minimum, description, examples: [example] });

export const Flag = (description: string, example: boolean) =>
  Type.Boolean({ description, examples: [example] });

export const OrNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

const MOMENT = '2026-11-21T08:15:30.123Z';

/** ISO 8601, UTC, milliseconds, `Z`: as `isoTime` writes it. */
export const Timestamp = (description: string, example = MOMENT) =>
  Text(example, description, {
    format: 'date-time',
    pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z$',
  });

/** A body that the schema takes, made of the examples and defaults in it. Optional fields without an example are left out. */
export function exampleOf(
  schema: SchemaObject,
  components: Readonly<Record<string, SchemaObject>> = {},
): unknown {
  if (schema.$ref !== undefined) {
    return exampleOf(components[schema.$ref.split('/').at(-1) ?? ''] ?? {}, components);
  }
  if (schema.examples !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  const [choice] = schema.anyOf ?? [];
  if (choice !== undefined) return exampleOf(choice, components);
  if (schema.type === 'array') return [exampleOf(schema.items ?? {}, components)];
  const { properties = {}, required = [] } = schema;
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name, { examples }]) => required.includes(name) || examples !== undefined)
      .map(([name, each]) => [name, exampleOf(each, components)]),
  );
}

/** An object as its schema's examples show it, with these fields in the place of others. */
export const example = (
  schema: TObject,
  fields: object = {},
): Readonly<Record<string, unknown>> => ({
  ...(exampleOf(schema) as object),
  ...fields,
});

export const Kind = Type.Optional(
  Type.Enum(['document'], {
    description: 'document: work on finished PDFs. Absent: a page that is printed.',
    examples: ['document'],
  }),
);
