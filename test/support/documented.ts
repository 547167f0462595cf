/** Holds each answer of the API against the OpenAPI document that the service itself serves. */
import { Compile } from 'typebox/compile';
import { exampleOf } from '../../src/http/openapi/fields.ts';
import type {
  OpenApiDocument,
  OperationObject,
  Reference,
  ResponseObject,
  SchemaObject,
} from '../../src/http/openapi/types.ts';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Nothing of an operation: no path or method of the document. */
export const COMMON = 'any request';

/** A response, which may be one that operations share. */
export function responseOf(
  { components }: OpenApiDocument,
  response: ResponseObject | Reference,
): ResponseObject {
  if (!('$ref' in response)) return response;
  const shared = components.responses[response.$ref.split('/').at(-1) ?? ''];
  if (shared === undefined) throw new Error(`The document has no ${response.$ref}.`);
  return shared;
}

const allResponsesOf = ({ responses, 'x-other-responses': others }: OperationObject) => ({
  ...responses,
  ...others,
});

/** Each answer that a document names, as `GET /conversions/{id}/ 404 not_found`. */
function answersOf(document: OpenApiDocument) {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) =>
        [`${method.toUpperCase()} ${path}`, allResponsesOf(operation)] as const,
    ),
  );
  return [...operations, [COMMON, document['x-common-responses']] as const].flatMap(
    ([operation, responses]) =>
      Object.entries(responses).map(([status, given]) => {
        const response = responseOf(document, given);
        return { name: nameOf(operation, Number(status), response), response };
      }),
  );
}

export const documentedAnswers = (document: OpenApiDocument): readonly string[] =>
  answersOf(document).map(({ name }) => name);

/** The examples of JSON bodies, with the names of their answers. */
export const examplesOf = (document: OpenApiDocument) =>
  answersOf(document).flatMap(({ name, response }) => {
    const { schema = {}, examples = {} } = response.content?.['application/json'] ?? {};
    return Object.values(examples).map(({ value }) => ({ name, schema, value }));
  });

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * True if an example has the fields of an answer and no others, is null where that is, and has its values
 * where the schema enumerates them. Each item of a list is like one of the answer's.
 */
export function agrees(
  document: OpenApiDocument,
  given: SchemaObject,
  example: unknown,
  answer: unknown,
): boolean {
  const name = given.$ref?.split('/').at(-1);
  const schema = name === undefined ? given : (document.components.schemas[name] ?? {});
  const like = (inner: SchemaObject | undefined, one: unknown, other: unknown) =>
    agrees(document, inner ?? {}, one, other);
  if (Array.isArray(example) && Array.isArray(answer)) {
    return example.every((one) => answer.some((other) => like(schema.items, one, other)));
  }
  if (isObject(example) && isObject(answer)) {
    const { properties, additionalProperties: values, anyOf = [] } = schema;
    const [object] = anyOf;
    if (object !== undefined) return like(object, example, answer);
    // The names of a record are its own, but those of an event are the type's.
    if (isObject(values) && Object.keys(values).length > 0) return true;
    const names = Object.keys(example).toSorted();
    return (
      names.join() === Object.keys(answer).toSorted().join() &&
      names.every((each) => like(properties?.[each], example[each], answer[each]))
    );
  }
  if (schema.enum !== undefined || typeof example === 'boolean') return example === answer;
  if (typeof example === 'number') return typeof answer === 'number' && example < 0 === answer < 0;
  return typeof example === typeof answer && (example === null) === (answer === null);
}

/** The name of an answer: operation, status, and the code of an error. */
export const nameOf = (operation: string, status: number, response: ResponseObject): string =>
  [operation, status, codeOf(response)].filter((part) => part !== undefined).join(' ');

/** The code of an error's response, which its example is named by. */
function codeOf({ content }: ResponseObject): string | undefined {
  const { schema, examples = {} } = content?.['application/json'] ?? {};
  return schema?.$ref?.endsWith('/Error') ? Object.keys(examples)[0] : undefined;
}

const FIELDS_OF_STATUS: Readonly<Record<string, readonly string[]>> = {
  pending: [],
  processing: [],
  completed: ['completed_at', 'file_url', 'pages', 'bytes', 'sha256', 'duration_ms'],
  failed: ['error_message', 'failed_at', 'failure_code', 'duration_ms'],
};

/** The fields of a conversion that its status forbids or lacks: its schema, one object for all, allows any. */
function wrongFields(conversion: Readonly<Record<string, unknown>>): readonly string[] {
  const wanted = new Set(FIELDS_OF_STATUS[String(conversion['status'])]);
  const optional = new Set(Object.values(FIELDS_OF_STATUS).flat());
  // Auditors without a right to documents get no link to one.
  if (!('file_url' in conversion)) wanted.delete('file_url');
  return [...optional].filter((name) => wanted.has(name) !== name in conversion);
}

function conversionsIn(schema: SchemaObject, body: unknown) {
  const isOne = schema.$ref?.endsWith('/Conversion') ?? false;
  const isList = schema.items?.$ref?.endsWith('/Conversion') ?? false;
  const all = isOne ? [body] : isList ? body : [];
  return all as readonly Readonly<Record<string, unknown>>[];
}

/** The path of the document that a request is for: `secret` is also an id, for a method that `/webhooks/secret/` lacks. */
function templateOf(document: OpenApiDocument, path: string, method: string): string | undefined {
  return Object.entries(document.paths).find(([template, methods]) => {
    const pattern = template
      .replaceAll('.', '[.]')
      .replace('{path}', '.+')
      .replaceAll(/\{\w+\}/g, '[^/]+');
    return method in methods && new RegExp(`^${pattern}$`).test(path);
  })?.[0];
}

/** A check that says which documented answer it was. @throws {Error} it is not documented so */
export function documentCheck(document: OpenApiDocument) {
  const validators = new Map<SchemaObject, ReturnType<typeof Compile>>();
  const { components } = document;

  function bodyOf(response: ResponseObject, { text, headers, status }: Seen): string | undefined {
    const [media] = (headers.get('content-type') ?? '').split(';');
    const others = response['x-other-media-types'] ?? [];
    const expected = [...Object.keys(response.content ?? {}), ...others];
    if (expected.length === 0) return text === '' ? undefined : 'a body where none is documented';
    if (media === undefined || !expected.includes(media)) return `the media type ${media}`;
    const schema = response.content?.[media]?.schema;
    if (media !== 'application/json' || schema === undefined) return undefined;
    const validator = validators.get(schema) ?? Compile({ components, ...schema });
    validators.set(schema, validator);
    const body: unknown = JSON.parse(text);
    if (validator.Check(body)) {
      const wrong = conversionsIn(schema, body).flatMap(wrongFields);
      if (wrong.length > 0) return `a conversion with or without ${wrong.join(', ')}`;
      const { error } = body as { readonly error?: string };
      const code = codeOf(response);
      return code === undefined || error === code ? undefined : `the code ${error}, not ${code}`;
    }
    return `a body of another shape (${status}): ${JSON.stringify(validator.Errors(body))}`;
  }

  function isRequired(name: string, { headers = {} }: ResponseObject): boolean {
    const header = headers[name];
    return (header && 'required' in header ? header : components.headers[name])?.required ?? false;
  }

  function problemWith(response: ResponseObject, seen: Seen, bodiless: boolean) {
    const missing = Object.keys(response.headers ?? {}).filter(
      (name) => isRequired(name, response) && !seen.headers.has(name),
    );
    if (missing.length > 0) return `without the headers ${missing.join(', ')}`;
    return bodiless ? undefined : bodyOf(response, seen);
  }

  return (seen: Seen): string => {
    const asked = seen.method === 'HEAD' ? 'GET' : seen.method;
    const method = asked.toLowerCase();
    const template = templateOf(document, seen.path, method);
    const operation = template && document.paths[template]?.[method];
    const name = operation ? `${asked} ${template}` : COMMON;
    const responses = operation ? allResponsesOf(operation) : document['x-common-responses'];
    const given = responses[seen.status];
    const response = given && responseOf(document, given);
    const told = `${seen.method} ${seen.path} answered ${seen.status} ${seen.text.slice(0, 300)}`;
    if (response === undefined) throw new Error(`Not documented: ${told}`);
    const problem = problemWith(response, seen, seen.method === 'HEAD');
    if (problem !== undefined) throw new Error(`Documented otherwise (${problem}): ${told}`);
    return nameOf(name, seen.status, response);
  };
}

/** An operation as a request. */
interface Drive {
  readonly method: string;
  readonly path: string;
  readonly template: string;
  readonly operation: OperationObject;
  readonly secured: boolean;
  /** True where an API key is refused. */
  readonly needsSession: boolean;
  /** As the document gives an example of it. */
  readonly body: object | undefined;
}

/** Each operation as a request that the document's own examples make. */
export function drives({ paths, components }: OpenApiDocument): readonly Drive[] {
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const example = (name: string) => {
        const parameter = operation.parameters?.find((each) => each.name === name);
        return String(exampleOf(parameter?.schema ?? {}, components.schemas));
      };
      const examples = operation.requestBody?.content['application/json']?.examples ?? {};
      return {
        method: method.toUpperCase(),
        template,
        path: template.replaceAll(/\{(\w+)\}/g, (_, name: string) => example(name)),
        operation,
        secured: operation.security.length > 0,
        needsSession: operation.security.length === 1,
        body: Object.values(examples)[0]?.value as object | undefined,
      };
    }),
  );
}
