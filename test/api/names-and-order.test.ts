/** Compares the names in the OpenAPI document, and their order, with those that clients were generated from. */
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'tap';
import type {
  OpenApiDocument,
  ParameterObject,
  SchemaObject,
} from '../../src/http/openapi/types.ts';
import { startApi } from '../support/api.ts';
import { responseOf } from '../support/documented.ts';

/** Names by the kind of thing and its name: an operation's parameters in order, a schema's fields, an enum's values. */
type Names = Readonly<Record<string, readonly string[]>>;

interface Interface {
  /** By operation: its tag, body and answers, as `200 Conversion`. */
  readonly operations: Names;
  /** By operation, in order; an optional one ends in `?`. */
  readonly parameters: Names;
  readonly schemas: Names;
}

const STORED = new URL('../samples/interface.json', import.meta.url);

function typeOf({ $ref, type, items, enum: values, ...schema }: SchemaObject): string {
  if ($ref !== undefined) return $ref.split('/').at(-1) ?? '';
  if (values !== undefined) return `enum(${values.join()})`;
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined) return choices.map(typeOf).join('|');
  if (items !== undefined) return `${typeOf(items)}[]`;
  if (schema.properties !== undefined) return `object(${Object.keys(schema.properties).join()})`;
  return [type ?? 'any'].flat().join('|');
}

const parameterText = ({ name, required, schema }: ParameterObject): string =>
  `${name}${required ? '' : '?'}: ${typeOf(schema)}`;

function interfaceOf(document: OpenApiDocument): Interface {
  const operations = Object.values(document.paths)
    .flatMap((item) => Object.values(item))
    .toSorted((one, other) => one.operationId.localeCompare(other.operationId));
  return {
    operations: Object.fromEntries(
      operations.map(({ operationId, tags, requestBody, responses }) => [
        operationId,
        [
          ...tags,
          ...Object.values(requestBody?.content ?? {}).map(
            ({ schema = {} }) => `body ${typeOf(schema)}`,
          ),
          ...Object.entries(responses)
            .filter(([status]) => status < '400')
            .flatMap(([status, response]) =>
              Object.values(responseOf(document, response).content ?? {}).map(
                ({ schema = {} }) => `${status} ${typeOf(schema)}`,
              ),
            ),
        ],
      ]),
    ),
    parameters: Object.fromEntries(
      operations.map(({ operationId, parameters = [] }) => [
        operationId,
        parameters.map(parameterText),
      ]),
    ),
    schemas: Object.fromEntries(
      Object.entries(document.components.schemas)
        .toSorted(([one], [other]) => one.localeCompare(other))
        .map(([name, { properties = {}, enum: values = [], required = [] }]) => [
          name,
          [
            ...values.map(String),
            ...Object.entries(properties).map(
              ([field, schema]) =>
                `${field}${required.includes(field) ? '' : '?'}: ${typeOf(schema)}`,
            ),
          ],
        ]),
    ),
  };
}

void test('clients that were generated before still compile', async (t) => {
  const stored = JSON.parse(readFileSync(STORED, 'utf8')) as Interface;
  const { call } = await startApi(t);
  const { body } = await call('GET', '/openapi.json');
  const current = interfaceOf(body as unknown as OpenApiDocument);

  for (const [operation, before] of Object.entries(stored.parameters)) {
    const now = current.parameters[operation] ?? [];
    const first = now.slice(0, before.length);
    t.strictSame(first, before, `${operation}: the order of parameters is part of the interface`);
    for (const added of now.slice(before.length)) {
      t.match(added, /^[^:]+\?:/, `${operation}: a new parameter is optional, and the last one`);
    }
  }
  for (const kind of ['operations', 'schemas'] as const) {
    for (const [name, before] of Object.entries(stored[kind])) {
      const now = current[kind][name] ?? [];
      t.strictSame(
        before.filter((each) => !now.includes(each)),
        [],
        `${name}: names are part of the interface`,
      );
    }
  }
  if (process.env['ADD_NAMES'] === '1' && t.passing()) {
    writeFileSync(STORED, `${JSON.stringify(current, null, 1)}\n`);
    return;
  }
  t.strictSame(current, stored, 'ADD_NAMES=1 adds what is new to test/samples/interface.json');
});
