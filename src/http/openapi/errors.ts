/** The errors that follow from a route, and their form in the document. */
import { ERRORS, type ErrorCode } from '../../errors.ts';
import {
  type Auth,
  type ErrorDoc,
  type HeaderName,
  OF_EVERY_ANSWER,
  type OperationDoc,
} from './operation.ts';
import { ErrorAnswer, schemaObject } from './schemas.ts';
import type { ResponseObject } from './types.ts';

type Errors = Partial<Readonly<Record<ErrorCode, ErrorDoc>>>;

const INSIDE: Errors = {
  internal_error: {
    when: 'Something failed inside. Report it with the request’s id.',
    message:
      'Something went wrong on our side. When you report it, name the request 5c1f7d3e-6c1a-4d1b-9a6f-0d1e2f3a4b5c.',
  },
  service_unavailable: {
    when: 'The service cannot take the request right now: it is busy, stopping, or cannot write to disk. Nothing was accepted.',
  },
};

const LIMITED: Errors = {
  rate_limit_exceeded: {
    when: 'More requests than a minute allows, or more at a time than one client’s share.',
  },
};

const COUNTED: Errors = { ...LIMITED, ...INSIDE };

const BY_AUTH: Readonly<Record<Auth, Errors>> = {
  caller: {
    unauthorized: {
      when: 'The credential is missing, wrong, expired or revoked. It is judged before all else.',
    },
    ...COUNTED,
  },
  address: COUNTED,
  static: LIMITED,
  link: COUNTED,
  none: {},
};

const OF_BODY: Errors = {
  validation_error: {
    when: 'The body is not a JSON object, or a field is missing, unknown or wrong. details names every one of them.',
    message: 'name: Is required.',
    details: { name: ['Is required.'] },
  },
  payload_too_large: { when: 'The body is larger than the service accepts.' },
  unsupported_media_type: {
    when: 'The body is not sent as application/json in UTF-8, or it is compressed.',
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
    when: 'What came is not HTTP, or its headers are larger than 16 KiB.',
    message: 'The request is not valid HTTP.',
  },
  not_found: {
    when: 'There is no such path. Trailing slashes are part of the paths; the message names the right one.',
    message: 'There is no such resource. Did you mean /api/v1/pdf/?',
  },
  method_not_allowed: { when: 'The path has no such method; Allow names those that it has.' },
  rate_limit_exceeded: {
    when: 'Bad credentials were tried on paths that do not exist: they count as everywhere.',
  },
  request_timeout: { when: 'Headers took longer than 10 seconds, or the whole request than 30.' },
  ...INSIDE,
};

export function errorsOf(auth: Auth, doc: OperationDoc): Errors {
  return { ...BY_AUTH[auth], ...(doc.body ? OF_BODY : {}), ...doc.errors };
}

/** Status to response, in the order of the statuses. */
export function errorResponses(errors: Errors) {
  const entries = Object.entries(errors) as [ErrorCode, ErrorDoc][];
  return Object.fromEntries(
    entries.map(([code, doc]) => [ERRORS[code].status, errorResponse(code, doc)]),
  );
}

export const headerRefs = (names: readonly HeaderName[]): NonNullable<ResponseObject['headers']> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

function errorResponse(
  code: ErrorCode,
  { when, message = ERRORS[code].message, details, headers: own = [] }: ErrorDoc,
): ResponseObject {
  const value = { error: code, message, ...(details === undefined ? {} : { details }) };
  return {
    description: when,
    headers: headerRefs([...OF_EVERY_ANSWER, ...(HEADERS_OF[code] ?? []), ...own]),
    content: {
      'application/json': {
        schema: { ...schemaObject(ErrorAnswer), properties: { error: { const: code } } },
        examples: { [code]: { value } },
      },
    },
  };
}
