/** The OpenAPI document, made of the route table, the schemas and the table of errors. */
import type { TSchema } from 'typebox';
import type { Config } from '../../config.ts';
import type { Route } from '../route.ts';
import { curlSample } from './curl.ts';
import { COMMON_ERRORS, errorResponses, errorsOf, headerRefs } from './errors.ts';
import { exampleOf } from './example.ts';
import { HEADERS, OF_EVERY_ANSWER } from './headers.ts';
import { describe } from './introduction.ts';
import { type AnswerDoc, type OperationDoc, TAGS } from './operation.ts';
import { SCHEMAS, schemaObject } from './schemas.ts';
import type {
  MediaTypeObject,
  OpenApiDocument,
  OperationObject,
  ParameterObject,
  ResponseObject,
  SchemaObject,
} from './types.ts';

/** Told apart from the package's: the interface's own version, which its path carries. */
const INTERFACE_VERSION = '1.0.0';

const SECURITY_SCHEMES = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'For backends, scripts and command lines. Good until it is revoked.',
  },
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'For people: `/api/v1/auth/jwt/create/` gives one for 5 minutes.',
  },
} as const;

type AnyRoute = Pick<Route<never>, 'method' | 'path' | 'auth' | 'doc'>;

const values = (
  examples: Readonly<Record<string, unknown>>,
): NonNullable<MediaTypeObject['examples']> =>
  Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));

/** One example for each form that the body can have, by the name of its schema. */
function examplesOf(schema: SchemaObject): Readonly<Record<string, unknown>> {
  const named = SCHEMAS[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
  const forms = named.anyOf ?? [schema];
  return Object.fromEntries(
    forms.map((form) => [form.$ref?.split('/').at(-1) ?? 'example', exampleOf(form, SCHEMAS)]),
  );
}

function content({ media, schema, examples }: AnswerDoc): ResponseObject['content'] {
  if (schema === undefined) return media === undefined ? undefined : { [media]: {} };
  const object = schemaObject(schema);
  return {
    [media ?? 'application/json']: {
      schema: object,
      examples: values(examples ?? examplesOf(object)),
    },
  };
}

function success(answer: AnswerDoc): ResponseObject {
  const body = content(answer);
  return {
    description: answer.description,
    headers: headerRefs([...OF_EVERY_ANSWER, ...(answer.headers ?? [])]),
    ...(body === undefined ? {} : { content: body }),
  };
}

function parametersOf({ parameters = [] }: OperationDoc): readonly ParameterObject[] {
  return parameters.map(({ name, in: place, required = false, description, schema }) => ({
    name,
    in: place,
    required: place === 'path' || required,
    description,
    schema: schemaObject(schema),
  }));
}

function bodyOf(schema: TSchema, examples: Readonly<Record<string, object>>) {
  const media = { schema: schemaObject(schema), examples: values(examples) };
  return { required: true, content: { 'application/json': media } } as const;
}

function operation({ method, path, auth, doc }: AnyRoute, publicUrl: string): OperationObject {
  const parameters = parametersOf(doc);
  const answers = Object.entries(doc.answers).map(([status, answer]) => [status, success(answer)]);
  return {
    operationId: doc.id,
    tags: [doc.tag],
    summary: doc.summary,
    ...(doc.description === undefined ? {} : { description: doc.description }),
    security: auth === 'caller' ? [{ apiKey: [] }, { accessToken: [] }] : [],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(doc.body === undefined ? {} : { requestBody: bodyOf(doc.body.schema, doc.body.examples) }),
    responses: {
      ...Object.fromEntries(answers),
      ...errorResponses(errorsOf(auth, doc)),
    },
    'x-codeSamples': [
      {
        lang: 'Shell',
        label: 'curl',
        source: curlSample({ method, path, auth, doc }, publicUrl),
      },
    ],
  };
}

export function buildDocument(
  routes: readonly AnyRoute[],
  { publicUrl, config }: { readonly publicUrl: string; readonly config: Config },
): OpenApiDocument {
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const route of routes) {
    const at = (paths[route.path] ??= {});
    at[route.method] = operation(route, publicUrl);
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Pressledger',
      version: INTERFACE_VERSION,
      summary: 'HTML or a URL in, a PDF out.',
      description: describe(config),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: { securitySchemes: SECURITY_SCHEMES, schemas: SCHEMAS, headers: HEADERS },
    'x-common-responses': errorResponses(COMMON_ERRORS),
  };
}
