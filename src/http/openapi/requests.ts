/** Writes the bodies of requests as clients are to send them. */
import { mapValues } from './names.ts';
import type { OpenApiDocument, OperationObject, SchemaObject } from './types.ts';

const NULL = { type: 'null' };

/**
 * The schema of a request's body as clients are to send it. An optional field may be null, which many
 * serialisers send for one that is not given. Its default is given in words: a generator makes a field
 * with the keyword `default` a required one, or sends the value always. Forms read `x-default`.
 */
function asRequest({ properties, required = [], items, anyOf, ...schema }: SchemaObject) {
  const fields = Object.entries(properties ?? {}).map(([name, given]): [string, SchemaObject] => {
    const { default: usual, ...field } = asRequest(given);
    if (required.includes(name)) return [name, field];
    const told = usual === undefined ? '' : ` Default: ${usual as string | number | boolean}.`;
    return [
      name,
      {
        ...orNull(field),
        ...(told === '' ? {} : { description: `${field.description ?? ''}${told}`.trim() }),
        ...(usual === undefined ? {} : { examples: [usual], 'x-default': usual }),
      },
    ];
  });
  const request: SchemaObject = {
    ...schema,
    ...(required.length > 0 && { required }),
    ...(properties && { properties: Object.fromEntries(fields) }),
    ...(items && { items: asRequest(items) }),
    ...(anyOf && { anyOf: anyOf.map(asRequest) }),
  };
  return request;
}

function orNull({ $ref, ...field }: SchemaObject): SchemaObject {
  if ($ref !== undefined) return { ...field, oneOf: [{ $ref }, NULL] };
  if (field.anyOf !== undefined) return { ...field, anyOf: [...field.anyOf, NULL] };
  if (field.type === undefined) return field;
  return {
    ...field,
    type: [...new Set([field.type, 'null'].flat())],
    ...(field.enum && { enum: [...field.enum, null] }),
  };
}

function withRequest({ requestBody, ...operation }: OperationObject): OperationObject {
  if (requestBody === undefined) return operation;
  const content = mapValues(requestBody.content, ({ schema, ...media }) => ({
    ...media,
    ...(schema && { schema: asRequest(schema) }),
  }));
  return { ...operation, requestBody: { ...requestBody, content } };
}

/** The document with bodies of requests, and the schemas that they refer to, as clients are to send them. */
export function withRequests(document: OpenApiDocument): OpenApiDocument {
  const { schemas } = document.components;
  const sent = new Set<string>();
  const follow = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/#\/components\/schemas\/(\w+)"/g)) {
      if (sent.has(name)) continue;
      sent.add(name);
      follow(schemas[name]);
    }
  };
  const items = Object.values(document.paths);
  follow(items.flatMap((item) => Object.values(item).map(({ requestBody = {} }) => requestBody)));
  return {
    ...document,
    paths: mapValues(document.paths, (item) => mapValues(item, withRequest)),
    components: {
      ...document.components,
      schemas: mapValues(schemas, (schema, name) => (sent.has(name) ? asRequest(schema) : schema)),
    },
  };
}
