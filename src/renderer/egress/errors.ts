import type { UrlRefusalCode } from './policy.ts';

/** The reason why the proxy did not try. */
export type RefusalCode =
  | UrlRefusalCode
  | 'no-job'
  | 'request-limit'
  | 'connection-limit'
  | 'byte-limit';

/** The reason why the proxy tried and got no answer. */
export type FailureCode =
  | 'name-not-found'
  | 'name-lookup-failed'
  | 'connection-refused'
  | 'connection-failed'
  | 'invalid-answer'
  | 'invalid-content'
  | 'no-such-file'
  | 'given-up'
  | 'timeout';

const FAILURES: Record<FailureCode, string> = {
  'name-not-found': 'The name does not exist.',
  'name-lookup-failed': 'The name could not be looked up.',
  'connection-refused': 'The server refused the connection.',
  'connection-failed': 'The connection to the server failed.',
  'invalid-answer': 'The server did not answer in valid HTTP.',
  'invalid-content': 'The compressed content is damaged or ended too early.',
  'no-such-file': 'No file of this name came with the page.',
  'given-up': 'The time for loading was over.',
  timeout: 'The server did not answer in time.',
};

const STATUSES: Partial<Record<FailureCode, 404 | 504>> = { 'no-such-file': 404, timeout: 504 };

/** A request that the proxy refused. The message is for people and names no resolved address. */
export class EgressRefusal extends Error {
  override readonly name = 'EgressRefusal';
  readonly code: RefusalCode;
  readonly status = 403;
  readonly header = 'X-Egress-Refused';

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** A request whose server could not be reached. */
export class EgressFailure extends Error {
  override readonly name = 'EgressFailure';
  readonly code: FailureCode;
  readonly status: 404 | 502 | 504;
  readonly header = 'X-Egress-Failed';

  constructor(code: FailureCode, cause?: unknown) {
    super(FAILURES[code], { cause });
    this.code = code;
    this.status = STATUSES[code] ?? 502;
  }
}

export type EgressError = EgressRefusal | EgressFailure;

// The names of getaddrinfo (EAI_…), of c-ares and of connect(2).
const CODES: Readonly<Record<string, FailureCode>> = {
  ENOTFOUND: 'name-not-found',
  ENODATA: 'name-not-found',
  EBADNAME: 'name-not-found',
  EAI_AGAIN: 'name-lookup-failed',
  EAI_FAIL: 'name-lookup-failed',
  ESERVFAIL: 'name-lookup-failed',
  EREFUSED: 'name-lookup-failed',
  ECONNREFUSED: 'connection-refused',
  ETIMEOUT: 'timeout',
  ETIMEDOUT: 'timeout',
};

/** Turns any error on the way to a server into one of the few that the renderer knows. */
export function asEgressError(error: unknown): EgressError {
  if (error instanceof EgressRefusal || error instanceof EgressFailure) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // The names of Node's HTTP parser.
  if (code.startsWith('HPE_')) return new EgressFailure('invalid-answer', error);
  return new EgressFailure(CODES[code] ?? 'connection-failed', error);
}
