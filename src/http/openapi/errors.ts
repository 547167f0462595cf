/** The errors that follow from a route, and their form in the document. Their examples are named by their codes. */
import { ERRORS, type ErrorCode } from '../../errors.ts';
import { NOT_AN_OPERATOR } from '../operator.ts';
import { NEEDS_SESSION } from '../middleware/sessions-only.ts';
import { OWN_PAGES } from '../middleware/same-origin.ts';
import {
  type Auth,
  type ErrorDoc,
  type HeaderName,
  HEADERS,
  OF_EVERY_ANSWER,
  type OperationDoc,
} from './operation.ts';
import { ErrorAnswer, schemaObject } from './schemas.ts';
import type { ResponseObject } from './types.ts';

type Errors = Partial<Readonly<Record<ErrorCode, ErrorDoc>>>;

const INSIDE: Errors = {
  internal_error: {
    when: 'An internal error occurred. Report it with the id of the request.',
    message:
      'Something went wrong on our side. When you report it, name the request 5c1f7d3e-6c1a-4d1b-9a6f-0d1e2f3a4b5c.',
  },
  service_unavailable: {
    when: 'The service cannot handle the request right now: it is busy, stopping, or cannot write to its disk. Nothing was accepted.',
  },
};

const LIMITED: Errors = {
  rate_limit_exceeded: {
    when: 'The rate limit or a limit on simultaneous requests was exceeded.',
  },
};

const COUNTED: Errors = { ...LIMITED, ...INSIDE };

const UNKNOWN: Errors = {
  unauthorized: { when: 'The credential is missing, wrong, expired or revoked.' },
};

const OTHER_PAGE: Errors = {
  forbidden: {
    when: 'The request does not come from a page of the dashboard.',
    message: OWN_PAGES,
  },
};

const BY_AUTH: Readonly<Record<Auth, Errors>> = {
  caller: { ...UNKNOWN, ...COUNTED },
  session: {
    ...UNKNOWN,
    forbidden: { when: 'The credential is an API key.', message: NEEDS_SESSION },
    ...COUNTED,
  },
  operator: { ...UNKNOWN, forbidden: NOT_AN_OPERATOR, ...COUNTED },
  cookie: { ...OTHER_PAGE, ...COUNTED },
  page: { ...OTHER_PAGE, ...COUNTED },
  address: COUNTED,
  static: LIMITED,
  link: COUNTED,
  none: {},
};

const OF_BODY: Errors = {
  validation_error: {
    when: 'The body is not a JSON object, or fields are missing, unknown or invalid. details lists all of them.',
    message: 'name: Is required.',
    details: { name: ['Is required.'] },
  },
  payload_too_large: { when: 'The body is larger than the service accepts.' },
  unsupported_media_type: {
    when: 'The body is not application/json in UTF-8 (for a conversion also multipart/form-data), or it is compressed.',
  },
};

const HEADERS_OF: Partial<Readonly<Record<ErrorCode, readonly HeaderName[]>>> = {
  unauthorized: ['WWW-Authenticate'],
  method_not_allowed: ['Allow'],
  not_ready: ['Retry-After'],
  rate_limit_exceeded: ['Retry-After'],
  service_unavailable: ['Retry-After'],
};

/** Errors that may answer any request, before an operation is found for it. */
export const COMMON_ERRORS: Errors = {
  validation_error: {
    when: 'The request is not valid HTTP, or its headers are larger than 16 KiB.',
    message: 'The request is not valid HTTP.',
  },
  not_found: {
    when: 'The path does not exist. Paths end with a slash; the message names the path that may be meant.',
    message: 'There is no such resource. Did you mean /api/v1/pdf/?',
  },
  method_not_allowed: {
    when: 'The path does not support this method. Allow lists those that it supports.',
  },
  rate_limit_exceeded: {
    when: 'The rate limit was exceeded, or too many wrong credentials were sent.',
  },
  request_timeout: {
    when: 'The headers took longer than 10 seconds to arrive, or the whole request longer than 30.',
  },
  ...INSIDE,
};

export function errorsOf(auth: Auth, doc: OperationDoc): Errors {
  return { ...BY_AUTH[auth], ...(doc.body ? OF_BODY : {}), ...doc.errors };
}

/** Status to response, in the order of the statuses. */
export function errorResponses(errors: Errors, headersOf = headerRefs) {
  const entries = Object.entries(errors) as [ErrorCode, ErrorDoc][];
  return Object.fromEntries(
    entries.map(([code, doc]) => [ERRORS[code].status, errorResponse(code, doc, headersOf)]),
  );
}

type HeadersOf = (names: readonly HeaderName[]) => NonNullable<ResponseObject['headers']>;

export const headerRefs: HeadersOf = (names) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

export const headersInline: HeadersOf = (names) =>
  Object.fromEntries(names.map((name) => [name, HEADERS[name]]));

function errorResponse(
  code: ErrorCode,
  { when, message = ERRORS[code].message, details, headers: own = [] }: ErrorDoc,
  headersOf: HeadersOf,
): ResponseObject {
  const value = { error: code, message, ...(details === undefined ? {} : { details }) };
  return {
    description: when,
    headers: headersOf([...OF_EVERY_ANSWER, ...(HEADERS_OF[code] ?? []), ...own]),
    content: {
      // No schema of its own for each code: generators would make a class for each response.
      'application/json': {
        schema: schemaObject(ErrorAnswer),
        examples: { [code]: { value } },
      },
    },
  };
}
