/** The OpenAPI document, made of the route table, the schemas and the table of errors. */
import type { Config } from '../../config.ts';
import { COMMON_ERRORS, errorResponses, errorsOf, headerRefs } from './errors.ts';
import {
  type AnswerDoc,
  HEADERS,
  OF_EVERY_ANSWER,
  type OperationDoc,
  type Route,
  TAGS,
} from './operation.ts';
import { exampleOf, SCHEMAS, schemaObject } from './schemas.ts';
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

type AnyRoute = Pick<Route, 'method' | 'path' | 'auth' | 'doc'>;

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
  const other = media === undefined ? {} : { [media]: {} };
  if (schema === undefined) return media === undefined ? undefined : other;
  const object = schemaObject(schema);
  const json = { schema: object, examples: values(examples ?? examplesOf(object)) };
  return { 'application/json': json, ...other };
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

function bodyOf({ schema, form, examples }: NonNullable<OperationDoc['body']>) {
  const media = { schema: schemaObject(schema), examples: values(examples) };
  const asForm =
    form === undefined ? {} : { 'multipart/form-data': { schema: schemaObject(form) } };
  return { required: true, content: { 'application/json': media, ...asForm } } as const;
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
    ...(doc.body === undefined ? {} : { requestBody: bodyOf(doc.body) }),
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

/** The errors of no operation, for the page: the document's own place for them is an extension. */
function describeCommonErrors(): string {
  const lines = Object.entries(COMMON_ERRORS).map(([code, { when }]) => `- \`${code}\`: ${when}`);
  return ['**Any request** may also be answered with', '', ...lines].join('\n');
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
      description: `${describe(config)}\n\n${describeCommonErrors()}`,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: { securitySchemes: SECURITY_SCHEMES, schemas: SCHEMAS, headers: HEADERS },
    'x-common-responses': errorResponses(COMMON_ERRORS),
  };
}

const size = (bytes: number): string =>
  bytes % 2 ** 20 === 0 ? `${bytes / 2 ** 20} MiB` : `${bytes} bytes`;

const days = (seconds: number): string =>
  seconds % 86_400 === 0 ? `${seconds / 86_400} days` : `${seconds} seconds`;

/** Describes the rules of the whole interface, with this service's own limits. CommonMark. */
export function describe(config: Config): string {
  return `
Send HTML or a URL to \`/api/v1/pdf/\`, follow the conversion at \`/api/v1/conversions/{id}/\`, and download the PDF from its \`file_url\`.

**Credentials.** An API key in \`X-API-Key\`, or an access token in \`Authorization: Bearer …\`.

**Bodies** are JSON in UTF-8 with \`Content-Type: application/json\` (for a conversion also \`multipart/form-data\`), at most ${size(config.maxBodyBytes)}; their \`html\` at most ${size(config.maxHtmlBytes)}. Unknown fields are refused; \`null\` is the same as leaving a field out. Times are ISO 8601 in UTC.

**Errors** have one shape: \`{"error", "message", "details"?}\`. Decide by \`error\`; show \`message\`. Where several fields are wrong, \`details\` names all of them at once.

**Rate limits** count requests in a minute: ${config.rateLimitFree} on the plan free, ${config.rateLimitStarter} on starter, ${config.rateLimitPro} on pro, over all credentials of the account; ${config.rateLimitAnonymous} for an address without a valid credential. Every answer below \`/api/v1\` shows how they stand; after 429 wait as long as \`Retry-After\` says.

**Lists** are JSON arrays, newest first; \`X-Total-Count\` and \`Link\` lead to the other pages.

**Links and files.** A \`file_url\` holds for ${config.fileUrlTtlSeconds} seconds; each look at the record gives a fresh one. Files are kept for ${days(config.retentionSeconds)}.

**HEAD** is answered as GET is, without a body.
`.trim();
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The operation as a command to paste, with the key in `$PRESSLEDGER_API_KEY`. */
function curlSample(
  { method, path, auth, doc }: Pick<Route, 'method' | 'path' | 'auth' | 'doc'>,
  publicUrl: string,
): string {
  const example = (name: string): string => {
    const parameter = doc.parameters?.find((each) => each.name === name);
    return parameter ? String(exampleOf(schemaObject(parameter.schema), SCHEMAS)) : name;
  };
  const query = auth === 'link' ? `?token=${example('token')}` : '';
  const url = publicUrl + path.replaceAll(/\{(\w+)\}/g, (_, name: string) => example(name)) + query;
  const [body] = Object.values(doc.body?.examples ?? {});
  const parts = [
    `curl ${method === 'delete' ? '-X DELETE ' : ''}${quoted(url)}`,
    ...(auth === 'link' ? ['-o document.pdf'] : []),
    ...(auth === 'caller' ? ['-H "X-API-Key: $PRESSLEDGER_API_KEY"'] : []),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
  ];
  return parts.join(' \\\n  ');
}
