/** The documentation of a route; the rest of its entry in the document follows from the route. */
import Type, { type TSchema } from 'typebox';
import type { ErrorCode, ErrorDetails } from '../../errors/errors.ts';
import type { Right } from '../access.ts';
import type { HttpMiddleware } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import type { HeaderObject } from './types.ts';

export const TAGS = {
  Conversions: 'Create conversions, follow their progress and download the PDFs.',
  Batches: 'Create many conversions with one request, and follow them together.',
  Templates:
    'Store HTML with places for data, in versions, and make documents of it by sending the data alone.',
  Account: 'Retrieve the account and the history of its credits.',
  Webhooks:
    'Be told when conversions end: endpoints of the account, their secrets and what was delivered.',
  'Webhook messages': 'What the service sends to the endpoints of an account.',
  People:
    'The people of the account and their roles: invite, change and remove them, and accept an invitation.',
  'API keys': 'Create, list and revoke API keys, with a key or an access token.',
  Operators:
    'Look after the service and its accounts, as an operator who is signed in. API keys are refused.',
  Authentication:
    'Sign people in with an access token and a refresh token, and list and end their sessions.',
  Dashboard: 'Sign people in to the pages of the dashboard. Other programs cannot use this.',
  'Transparency log':
    'Check the record of all events: signed checkpoints, hashes and proofs. No credential is needed.',
  Service: 'Health checks, the OpenAPI document and this page. No credential is needed.',
} as const;

export interface ParameterDoc {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  /** False unless given, but for parameters of the path. */
  readonly required?: boolean;
  readonly description: string;
  readonly schema: TSchema;
}

/** A parameter that may be left out, of any text unless a schema is given. */
const optional =
  (place: 'query' | 'header') =>
  (name: string, description: string, schema: TSchema = Type.String()): ParameterDoc => ({
    name,
    in: place,
    description,
    schema,
  });
export const inQuery = optional('query');
export const inHeader = optional('header');

export interface AnswerDoc {
  readonly description: string;
  /** The media type of a body that is not JSON. Beside a schema: of one that the client may prefer. */
  readonly media?: string;
  readonly schema?: TSchema;
  /** Name to body; made from the schema unless given. */
  readonly examples?: Readonly<Record<string, unknown>>;
  readonly headers?: readonly HeaderName[];
}

export interface ErrorDoc {
  readonly when: string;
  /** The message as the service says it here; default: the text of the code. */
  readonly message?: string;
  readonly details?: ErrorDetails;
  readonly headers?: readonly HeaderName[];
}

/** The answer to one field, parameter or header that is wrong. */
export const wrongField = (field: string, message: string, when: string) => ({
  when,
  message: `${field}: ${message}`,
  details: { [field]: [message] },
});

/** The cases in which a body is answered with 400. */
export const IN_THE_BODY =
  'The body is not a JSON object, or fields are missing, unknown or invalid. details lists all of them.';

export interface OperationDoc {
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly ParameterDoc[];
  readonly body?: {
    readonly schema: TSchema;
    /** Says what `multipart/form-data` has, where that is taken too. */
    readonly form?: string;
    /** Name to body; made from the schema unless given. */
    readonly examples?: Readonly<Record<string, object>>;
    /** The example that programs in several languages send, in the place of samples made of the parameters. */
    readonly sample?: Readonly<Record<string, unknown>>;
  };
  /** Status to answer: the successes. */
  readonly answers: Readonly<Record<number, AnswerDoc>>;
  /** Errors beside those that follow from the route, or in better words. A text says when the error comes. */
  readonly errors?: Partial<Readonly<Record<ErrorCode, ErrorDoc | string>>>;
}

/**
 * Those who may ask, and whose requests are counted. `caller`: a key or access token, counted for its
 * account; `session`: an access token alone; `operator`: the access token of an operator; `cookie`: a page of the
 * dashboard with its cookie, counted for its account; `page`: a page of the dashboard, counted for the client's
 * address; `address`: anybody, counted for the client's address; `static`: the same, for what depends on no part
 * that may fail; `link`: who holds the signed link; `none`: anybody, not counted.
 */
export type Auth =
  | 'caller'
  | 'session'
  | 'operator'
  | 'cookie'
  | 'page'
  | 'address'
  | 'static'
  | 'link'
  | 'none';

/** What a route does, with its documentation. */
export interface Endpoint {
  readonly doc: OperationDoc;
  readonly handler: (deps: RouteDependencies) => HttpMiddleware;
}

/** An endpoint and its place. */
export interface Route extends Endpoint {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** The whole path, parameters in braces. One named `path` is all that follows. */
  readonly path: string;
  readonly auth: Auth;
  /** What a caller needs: each route of callers names it. */
  readonly right?: Right;
  /** A session may ask that lacks what its account requires of everybody who signs in. */
  readonly setsUpSignIn?: true;
  /** It changes what a person signs in with. */
  readonly changesFactors?: true;
  /** The setting without which there is no such route. */
  readonly needs?: 'publicVerify' | 'oidcIssuer' | 'smtpUrl';
  /** True for what only our own pages and their readers use: clients are generated without it. */
  readonly isInternal?: boolean;
}

const text = (description: string, example: string, required = true): HeaderObject => ({
  description,
  required,
  schema: { type: 'string', examples: [example] },
});

const count = (description: string, example: number): HeaderObject => ({
  description,
  required: true,
  schema: { type: 'integer', minimum: 0, examples: [example] },
});

/** Every header of an answer that clients may rely on. */
export const HEADERS = {
  'X-Request-Id': text(
    'The id of the request: the client’s own X-Request-Id, or a new one.',
    'r-4711',
  ),
  'X-RateLimit-Limit': count('Requests allowed per minute.', 100),
  'X-RateLimit-Remaining': count('Requests left in this minute.', 99),
  'X-RateLimit-Reset': count(
    'The time when the count starts again, as a Unix timestamp in seconds.',
    1795248960,
  ),
  'Retry-After': count('Seconds to wait before the next try.', 12),
  'WWW-Authenticate': text(
    'The authentication method, with error="invalid_token" if an access token was not accepted (RFC 6750).',
    'Bearer realm="pressledger"',
  ),
  'Set-Cookie': text(
    'The cookie of the session. Scripts cannot read it.',
    '__Host-pressledger=eyJhbGciOiJFZERTQSIsInR5cCI6ImN0K2p3dCJ9.…; Path=/; Secure; HttpOnly; SameSite=Strict',
  ),
  Allow: text('The methods that the path supports.', 'HEAD, GET'),
  'Idempotent-Replayed': text(
    'true if this is the stored response to an earlier request.',
    'true',
    false,
  ),
  Location: text(
    'The address of the conversion or batch.',
    'https://pdf.example.com/api/v1/conversions/conv_06f3k8r1v2w9x4y5z6a7b8c9d0/',
  ),
  'Preference-Applied': text('The preference that was applied.', 'wait=30', false),
  'X-Conversion-Warnings': {
    ...count('The number of warnings of the conversion, if there are any.', 2),
    required: false,
  },
  'X-Total-Count': count('The number of items on all pages together.', 42),
  Link: text(
    'Links to the first, prev, next and last page (RFC 8288).',
    '<https://pdf.example.com/api/v1/conversions/?page=2&page_size=20>; rel="next"',
  ),
  'Pressledger-As-Of': text(
    'The position of the account’s last event up to as_of, if the request has that. As the value of as_of, it gives the same response at any later time.',
    '4711',
    false,
  ),
  ETag: text('The version of the content, for If-None-Match and If-Range.', '"9f86d081…"'),
  'Accept-Ranges': text('Ranges of bytes are supported.', 'bytes'),
  'Content-Range': text(
    'The range that is sent, and the size of the whole file.',
    'bytes 0-1023/51200',
  ),
  'Content-Disposition': text(
    'attachment, or inline if that was requested, and the name of the file (RFC 6266).',
    'attachment; filename="Invoice 4711.pdf"',
  ),
} as const satisfies Readonly<Record<string, HeaderObject>>;

export type HeaderName = keyof typeof HEADERS;

export const OF_EVERY_ANSWER = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
] as const satisfies readonly HeaderName[];
