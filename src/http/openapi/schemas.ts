/** The document's components, made of the TypeBox schemas that judge requests and answers. */
import type { TSchema } from 'typebox';
import Type from 'typebox';
import { ConversionForm, ConversionRequest, Cookie } from '../../conversion-request/schema.ts';
import { ERRORS, type ErrorCode } from '../../errors.ts';
import { Account, LedgerEntry } from '../resources/account.api.ts';
import { ApiKey, ApiKeyRequest, CreatedApiKey } from '../resources/api-keys.api.ts';
import { RefreshRequest, SignInRequest, TokenPair } from '../resources/auth.api.ts';
import {
  CompletedConversion,
  Conversion,
  FailedConversion,
  UnfinishedConversion,
} from '../resources/conversions.api.ts';
import { HistoryEntry } from '../resources/history.api.ts';
import { Alive, Ready } from '../resources/service.api.ts';
import type { SchemaObject } from './types.ts';

const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];

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

const NAMED: Readonly<Record<string, TSchema>> = {
  ConversionRequest,
  ConversionForm,
  Cookie,
  Conversion,
  UnfinishedConversion,
  CompletedConversion,
  FailedConversion,
  Account,
  LedgerEntry,
  HistoryEntry,
  ApiKeyRequest,
  ApiKey,
  CreatedApiKey,
  SignInRequest,
  RefreshRequest,
  TokenPair,
  Alive,
  Ready,
  Error: ErrorAnswer,
};

const NAMES = new Map<unknown, string>(
  Object.entries(NAMED).map(([name, schema]) => [schema, name]),
);

function plain(value: unknown): unknown {
  const name = NAMES.get(value);
  return name === undefined ? parts(value) : { $ref: `#/components/schemas/${name}` };
}

/** Enumerable properties alone: what TypeBox hides for itself is left out. */
function parts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}

/** The schema as it stands in the document: named ones by reference. */
export const schemaObject = (schema: TSchema): SchemaObject => plain(schema) as SchemaObject;

/** A rule of the body that its schema does not hold: one of the two sources, not both. */
const ONE_SOURCE = { oneOf: [{ required: ['html'] }, { required: ['url'] }] };

export const SCHEMAS: Readonly<Record<string, SchemaObject>> = Object.fromEntries(
  Object.entries(NAMED).map(([name, schema]) => {
    const object = parts(schema) as SchemaObject;
    return [name, schema === ConversionRequest ? { ...object, ...ONE_SOURCE } : object];
  }),
);

/** A body that the schema takes, made of the examples and defaults in it. */
export function exampleOf(
  schema: SchemaObject,
  components: Readonly<Record<string, SchemaObject>>,
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
  if (schema.properties === undefined) return {};
  return Object.fromEntries(
    Object.entries(schema.properties).map(([name, each]) => [name, exampleOf(each, components)]),
  );
}
