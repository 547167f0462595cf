/** The OpenAPI document, made of the route table, the schemas and the table of errors. */
import { LANGUAGES } from '../../../samples/all.ts';
import { sampleRequest } from '../../../samples/json.ts';
import type { Config } from '../../config/config.ts';
import { ERRORS } from '../../errors/errors.ts';
import { sizeText } from '../../text/size.ts';
import { accessText } from '../access.ts';
import { SESSION_COOKIE } from '../middleware/session-cookie.ts';
import { COMMON_ERRORS, errorResponses, errorsOf, headerRefs, headersInline } from './errors.ts';
import { exampleOf } from './fields.ts';
import {
  type AnswerDoc,
  type Auth,
  HEADERS,
  OF_EVERY_ANSWER,
  type OperationDoc,
  type Route,
  TAGS,
} from './operation.ts';
import { withNames } from './names.ts';
import { namedBy } from './paths.ts';
import { withRequests } from './requests.ts';
import { SCHEMAS, schemaObject } from './schemas.ts';
import type {
  MediaTypeObject,
  OpenApiDocument,
  OperationObject,
  ParameterObject,
  Reference,
  ResponseObject,
  SchemaObject,
} from './types.ts';
import { MESSAGES_TAG, WEBHOOKS } from './webhooks.ts';

/** The version of the interface, as its paths name it. The package has another. */
const INTERFACE_VERSION = 'v1';

const SECURITY_SCHEMES = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'For backends, scripts and command lines. Valid until it is revoked.',
  },
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'For people who sign in. Valid for 5 minutes.',
  },
  dashboardCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description: 'For the pages of the dashboard, at /dashboard/session alone.',
  },
} as const;

const SECURITY: Partial<Readonly<Record<Auth, OperationObject['security']>>> = {
  caller: [{ apiKey: [] }, { accessToken: [] }],
  session: [{ accessToken: [] }],
  operator: [{ accessToken: [] }],
  cookie: [{ dashboardCookie: [] }],
};

type AnyRoute = Pick<Route, 'method' | 'path' | 'auth' | 'right' | 'doc'>;

const values = (
  examples: Readonly<Record<string, unknown>>,
): NonNullable<MediaTypeObject['examples']> =>
  Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));

const media = (schema: SchemaObject, examples?: Readonly<Record<string, unknown>>) => ({
  schema,
  examples: values(examples ?? { example: exampleOf(schema, SCHEMAS) }),
});

function content(answer: AnswerDoc): ResponseObject['content'] {
  const { media: other, schema, examples } = answer;
  if (schema !== undefined) {
    return { 'application/json': media(schemaObject(schema), examples) };
  }
  if (other === undefined || other === 'application/json') return other && { [other]: {} };
  // Generators make a download of this, and nothing of an empty object.
  const file = { type: 'string', ...(!other.startsWith('text/') && { format: 'binary' }) };
  return { [other]: { schema: file } };
}

function success(answer: AnswerDoc): ResponseObject {
  const body = content(answer);
  return {
    description: answer.description,
    headers: headerRefs([...OF_EVERY_ANSWER, ...(answer.headers ?? [])]),
    ...(body === undefined ? {} : { content: body }),
    ...(answer.schema && answer.media && { 'x-other-media-types': [answer.media] }),
  };
}

function parametersOf({ path, doc: { parameters = [] } }: AnyRoute): readonly ParameterObject[] {
  const named = namedBy(path)?.parameter;
  return [...(named === undefined ? [] : [named]), ...parameters].map(
    ({ name, in: place, required = false, description, schema }) => ({
      name,
      in: place,
      required: place === 'path' || required,
      description,
      schema: schemaObject(schema),
    }),
  );
}

function bodyOf({ schema, form, examples }: NonNullable<OperationDoc['body']>) {
  const json = media(schemaObject(schema), examples);
  if (form === undefined) return { required: true, content: { 'application/json': json } } as const;
  // Without properties: NSwag would make a parameter of each, beside the body.
  const parts = { type: 'object', description: form, additionalProperties: true };
  const both = { 'application/json': json, 'multipart/form-data': { schema: parts } };
  return { required: true, content: both } as const;
}

/** The responses that operations share, each under one name. Written out, they are half of the document. */
class SharedResponses {
  readonly #names = new Map<string, string>();
  readonly byName: Record<string, ResponseObject> = {};

  /** Names the first response with a code by that, others also by the operation that has them first. */
  refer(response: ResponseObject, code: string, operationId: string): Reference {
    const text = JSON.stringify(response);
    const unused = code in this.byName ? `${code}.${operationId}` : code;
    const name = this.#names.get(text) ?? unused;
    this.#names.set(text, name);
    this.byName[name] = response;
    return { $ref: `#/components/responses/${name}` };
  }
}

const samplesOf = (request: Readonly<Record<string, unknown>>, publicUrl: string) =>
  LANGUAGES.map(({ id, title, sample }) => ({
    lang: id,
    label: title,
    source: sample(sampleRequest(request, publicUrl)).trimEnd(),
  }));

function operation(route: AnyRoute, shared: SharedResponses, publicUrl: string): OperationObject {
  const { auth, right, doc } = route;
  const needs = right && accessText(right, auth === 'caller');
  const said = [doc.description, needs].filter((each) => each !== undefined);
  const parameters = parametersOf(route);
  const { 304: notModified, ...answered } = doc.answers;
  const answers = Object.entries(answered).map(([status, answer]) => [status, success(answer)]);
  const errors = errorResponses(errorsOf(route)).map(([status, code, response]) => [
    status,
    shared.refer(response, code, doc.id),
  ]);
  return {
    operationId: doc.id,
    tags: [doc.tag],
    summary: doc.summary,
    ...(said.length === 0 ? {} : { description: said.join(' ') }),
    security: SECURITY[auth] ?? [],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(doc.body === undefined ? {} : { requestBody: bodyOf(doc.body) }),
    ...(doc.body?.sample && { 'x-codeSamples': samplesOf(doc.body.sample, publicUrl) }),
    responses: Object.fromEntries([...answers, ...errors]) as OperationObject['responses'],
    ...(notModified && { 'x-other-responses': { 304: success(notModified) } }),
  };
}

export function buildDocument(
  routes: readonly AnyRoute[],
  { publicUrl, config }: { readonly publicUrl: string; readonly config: Config },
): OpenApiDocument {
  const paths: Record<string, Record<string, OperationObject>> = {};
  const shared = new SharedResponses();
  for (const route of routes) {
    const at = (paths[route.path] ??= {});
    at[route.method] = operation(route, shared, publicUrl);
  }
  const used = JSON.stringify([paths, WEBHOOKS, shared.byName, SCHEMAS]);
  // Tools find fault with what nothing refers to.
  const inUse = <T>(all: Readonly<Record<string, T>>, referTo: (name: string) => string) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => used.includes(referTo(name))));
  const tags = new Set<string>([...routes.map(({ doc }) => doc.tag), MESSAGES_TAG]);
  const document: OpenApiDocument = {
    openapi: '3.1.1',
    info: {
      title: 'Pressledger',
      version: INTERFACE_VERSION,
      summary: 'Convert HTML and web pages to PDF.',
      description: describe(config, publicUrl),
      contact: { name: 'The operator of this service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl }],
    tags: Object.entries(TAGS)
      .filter(([name]) => tags.has(name))
      .map(([name, description]) => ({ name, description })),
    paths,
    webhooks: WEBHOOKS,
    components: {
      securitySchemes: inUse(SECURITY_SCHEMES, (name) => `"${name}":[]`),
      schemas: inUse(SCHEMAS, (name) => `#/components/schemas/${name}"`),
      headers: inUse(HEADERS, (name) => `#/components/headers/${name}"`),
      responses: shared.byName,
    },
    'x-common-responses': Object.fromEntries(
      errorResponses(COMMON_ERRORS, headersInline).map(([status, , response]) => [
        status,
        response,
      ]),
    ),
  };
  return withNames(withRequests(document));
}

const days = (seconds: number): string =>
  seconds % 86_400 === 0 ? `${seconds / 86_400} days` : `${seconds} seconds`;

const errorTable = (): string =>
  Object.entries(ERRORS)
    .map(([code, { status, message }]) => `| ${status} | \`${code}\` | ${message} |`)
    .join('\n');

/** Describes the rules of the whole interface, with this service's own limits. CommonMark. */
export function describe(config: Config, publicUrl: string): string {
  return `
Pressledger converts HTML and web pages to PDF. A conversion is asynchronous: create it with \`POST /api/v1/pdf/\`, retrieve it until its \`status\` is \`completed\` or \`failed\`, and download the PDF from its \`file_url\`. This request waits for the PDF and saves it:

\`\`\`sh
curl -fsS ${publicUrl}/api/v1/pdf/ \\
  -H "X-API-Key: $PRESSLEDGER_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -H 'Prefer: wait=30' \\
  -H 'Accept: application/pdf' \\
  -d '{"html": "<h1>Hello</h1>"}' -o hello.pdf
\`\`\`

## Authentication

Send an API key in the header \`X-API-Key\`. Applications in which people sign in send an access token instead: \`Authorization: Bearer …\`. Sessions and the password are for access tokens alone: an API key is answered with 403 there.

## Requests

Bodies are JSON in UTF-8 with \`Content-Type: application/json\`; a conversion may also be created with \`multipart/form-data\`. The body of a conversion has at most ${sizeText(config.maxBodyBytes)}, its \`html\` at most ${sizeText(config.maxHtmlBytes)}. Unknown fields are refused, so that a misspelt option is noticed; an optional field may be \`null\`, which is the same as leaving it out. Paths end with a slash. Times are ISO 8601 in UTC. \`HEAD\` works like \`GET\`, without a body.

## Errors

Every error has the same form: \`{"error", "message", "details"}\`. Programs decide by \`error\`; \`message\` is for people. \`details\`, where present, has the messages for each field, for all fields at once. When you report an error, name the \`X-Request-Id\` of the response.

| status | error | message |
|---|---|---|
${errorTable()}

A conversion that fails is not an error of the request: its \`status\` is \`failed\`, and its \`error_message\` has the reason.

## Rate limits

An account may send ${config.rateLimitFree} requests per minute on the plan free, ${config.rateLimitStarter} on starter and ${config.rateLimitPro} on pro, with all of its credentials together. Polling counts, too: each GET of a record is a request. \`Prefer: wait=30\` needs fewer. The dashboard has ${config.rateLimitDashboard} of its own; the conversions that it creates count in the plan, too. An address without a valid credential may send ${config.rateLimitAnonymous}. Every response has the limit, the remaining requests and the time of the next minute in \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`. After 429, wait for as many seconds as \`Retry-After\` says.

## Pagination

Lists are JSON arrays, newest first, in the order of acceptance: where two nodes accept at the same moment, \`created_at\` may differ from that by a second. \`page\` and \`page_size\` select a page; \`X-Total-Count\` has the number of all items, and \`Link\` has the addresses of the other pages.

## Files

A \`file_url\` is valid for ${config.fileUrlTtlSeconds} seconds. Retrieve the conversion again for a new one. A request with \`If-None-Match\` is answered with 304 and no body if the copy that it names is current. Files are deleted after ${days(config.retentionSeconds)}.

## Client libraries

For TypeScript and JavaScript install the client from this service: \`npm install --allow-remote=root ${publicUrl}/client.tgz\`. Its documentation is the README in the package. Clients in other languages can be generated from [openapi.json](/openapi.json); openapi-typescript, Hey API, NSwag and Kiota are tested.
`.trim();
}
