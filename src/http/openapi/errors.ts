/** The errors that follow from a route, and their form in the document. Their examples are named by their codes. */
import Type from 'typebox';
import { ERRORS, type ErrorCode } from '../../errors/errors.ts';
import { accessOf, lacksScope, type Right } from '../access.ts';
import { NOT_FROM_HERE } from '../middleware/credential.ts';
import { OWN_PAGES } from '../middleware/same-origin.ts';
import { NEEDS_SESSION } from '../middleware/sessions-only.ts';
import { NOT_AN_OPERATOR } from '../operator.ts';
import { PAGE_PARAMETERS, WRONG_QUERY } from '../pagination.ts';
import {
  type Auth,
  type ErrorDoc,
  HEADERS,
  type HeaderName,
  IN_THE_BODY,
  OF_EVERY_ANSWER,
  type OperationDoc,
  type Route,
} from './operation.ts';
import { namedBy } from './paths.ts';
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
    when: 'The service cannot handle the request right now: it is busy, stopping, or cannot write to its disk. If the answer of its store was lost, the request may have been accepted: a repeat with the same Idempotency-Key is accepted once.',
  },
};

const limited = (whose: string): Errors => ({
  rate_limit_exceeded: {
    when: 'The rate limit or a limit on simultaneous requests was exceeded.',
    message: `Only 10 requests a minute are allowed ${whose}. Try again in 12 seconds.`,
  },
});

const BY_ADDRESS = limited('from one address without a valid credential');
const COUNTED: Errors = { ...BY_ADDRESS, ...INSIDE };
const BY_PLAN: Errors = { ...limited('on the plan free'), ...INSIDE };

const UNKNOWN: Errors = {
  unauthorized: { when: 'The credential is missing, wrong, expired or revoked.' },
};

const OTHER_PAGE: Errors = {
  forbidden: {
    when: 'The request does not come from a page of the dashboard.',
    message: OWN_PAGES,
  },
};

const LACKS = 'Or the session lacks the second factor that the account requires: details names it.';

/** What an API key lacks. */
function ofKeys(right: Right | undefined): Errors {
  if (right === undefined) return {};
  const { scopes, roles, documents } = accessOf(right);
  if (scopes.length === 0) {
    const when = `The API key may not be used from the address of the client, or an operator has suspended the account. ${LACKS}`;
    return { forbidden: { when, message: NOT_FROM_HERE } };
  }
  const ofRole = roles ? ' The person’s role does not allow it: details names those that do.' : '';
  const ofAuditor = documents ? ' An auditor has no right to documents.' : '';
  return {
    forbidden: {
      when: `The API key lacks a scope, which details names; or it may not be used from the address of the client.${ofRole}${ofAuditor} Or an operator has suspended the account: then the message has the reason. ${LACKS}`,
      message: lacksScope(scopes),
      details: { scopes },
    },
  };
}

const BY_AUTH: Readonly<Record<Auth, Errors>> = {
  caller: { ...UNKNOWN, ...BY_PLAN },
  session: {
    ...UNKNOWN,
    forbidden: {
      when: `The credential is an API key, or an operator has suspended the account. ${LACKS}`,
      message: NEEDS_SESSION,
    },
    ...BY_PLAN,
  },
  operator: { ...UNKNOWN, forbidden: NOT_AN_OPERATOR, ...BY_PLAN },
  cookie: { ...OTHER_PAGE, ...limited('from the dashboard'), ...INSIDE },
  page: { ...OTHER_PAGE, ...COUNTED },
  address: COUNTED,
  static: BY_ADDRESS,
  link: COUNTED,
  none: {},
};

/** The example lacks the first field: say another where that is optional. */
function wrongBody({ schema }: NonNullable<OperationDoc['body']>): Errors {
  const [field = ''] = Type.IsObject(schema) ? Object.keys(schema.properties) : [];
  const missing = 'Is required.';
  const details = { [field]: [missing] };
  return { validation_error: { when: IN_THE_BODY, message: `${field}: ${missing}`, details } };
}

const OF_BODY: Errors = {
  payload_too_large: {
    when: 'The body is larger than the service accepts.',
    message: 'The request body is larger than 64 KiB, the most that is accepted.',
  },
  unsupported_media_type: {
    when: 'The body is not application/json in UTF-8, or it is compressed.',
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
    ...BY_ADDRESS.rate_limit_exceeded,
    when: 'The rate limit was exceeded, or too many wrong credentials were sent.',
  },
  request_timeout: {
    when: 'The headers took longer than 10 seconds to arrive, or the whole request longer than 30.',
  },
  ...INSIDE,
};

/** True for the operations that answer with one page of a list. */
const hasPages = ({ parameters = [] }: OperationDoc): boolean =>
  parameters.some((each) => PAGE_PARAMETERS.includes(each));

/** An operation's own words for an error take the place of the usual ones, each by itself. */
export function errorsOf({
  auth,
  right,
  path,
  doc,
}: Pick<Route, 'auth' | 'right' | 'path' | 'doc'>): Errors {
  const missing = namedBy(path)?.missing;
  const usual: Errors = {
    ...BY_AUTH[auth],
    ...ofKeys(right),
    ...(doc.body && { ...wrongBody(doc.body), ...OF_BODY }),
    ...(hasPages(doc) && { validation_error: WRONG_QUERY }),
    ...(missing && { not_found: missing }),
  };
  const own = Object.entries(doc.errors ?? {}) as [ErrorCode, ErrorDoc | string][];
  const said = own.map(([code, each]) => [
    code,
    { ...usual[code], ...(typeof each === 'string' ? { when: each } : each) },
  ]);
  return { ...usual, ...Object.fromEntries(said) };
}

/** Status, code and response of each error. */
export function errorResponses(errors: Errors, headersOf = headerRefs) {
  const entries = Object.entries(errors) as [ErrorCode, ErrorDoc][];
  return entries.map(
    ([code, doc]) => [ERRORS[code].status, code, errorResponse(code, doc, headersOf)] as const,
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
