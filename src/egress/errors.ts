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

const STATUSES: Partial<Record<string, number>> = { 'no-such-file': 404, timeout: 504 };

/** A request that got no answer of its server. The message is for people and names no resolved address. */
export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly code: RefusalCode | FailureCode;
  /** True where the proxy did not try. */
  readonly refused: boolean;
  readonly status: number;

  constructor(code: RefusalCode | FailureCode, refused: boolean, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.refused = refused;
    this.status = refused ? 403 : (STATUSES[code] ?? 502);
  }

  get header(): string {
    return this.refused ? 'X-Egress-Refused' : 'X-Egress-Failed';
  }
}

export const refusal = (code: RefusalCode, message: string): EgressError =>
  new EgressError(code, true, message);

export const failure = (code: FailureCode, cause?: unknown): EgressError =>
  new EgressError(code, false, FAILURES[code], cause);

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
  if (error instanceof EgressError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // The names of Node's HTTP parser.
  if (code.startsWith('HPE_')) return failure('invalid-answer', error);
  return failure(CODES[code] ?? 'connection-failed', error);
}
