/** From the TypeBox schemas that judge requests and answers to the document's components. */
import type { TSchema } from 'typebox';
import { Account, LedgerEntry } from '../schemas/account-answers.ts';
import { ApiKey, CreatedApiKey } from '../schemas/api-key-answers.ts';
import { ApiKeyRequest } from '../schemas/api-key-request.ts';
import { TokenPair } from '../schemas/auth-answers.ts';
import { RefreshRequest, SignInRequest } from '../schemas/auth-requests.ts';
import {
  AcceptedConversion,
  CompletedConversion,
  Conversion,
  FailedConversion,
  UnfinishedConversion,
} from '../schemas/conversion-answers.ts';
import { ConversionRequest, Cookie } from '../schemas/conversion-request.ts';
import { ErrorAnswer } from '../schemas/error-answer.ts';
import { Alive, Ready } from '../schemas/health-answers.ts';
import type { SchemaObject } from './types.ts';

const NAMED: Readonly<Record<string, TSchema>> = {
  ConversionRequest,
  Cookie,
  AcceptedConversion,
  Conversion,
  UnfinishedConversion,
  CompletedConversion,
  FailedConversion,
  Account,
  LedgerEntry,
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

/** What the rules say of the body beyond its schema: one of the two sources, not both. */
const ONE_SOURCE = { oneOf: [{ required: ['html'] }, { required: ['url'] }] };

export const SCHEMAS: Readonly<Record<string, SchemaObject>> = Object.fromEntries(
  Object.entries(NAMED).map(([name, schema]) => {
    const object = parts(schema) as SchemaObject;
    return [name, schema === ConversionRequest ? { ...object, ...ONE_SOURCE } : object];
  }),
);
