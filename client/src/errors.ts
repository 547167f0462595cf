/** The machine-readable codes of all errors. */
export type ErrorCode =
  | 'validation_error'
  | 'unauthorized'
  | 'insufficient_credits'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'not_ready'
  | 'on_hold'
  | 'gone'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'range_not_satisfiable'
  | 'conversion_failed'
  | 'rate_limit_exceeded'
  | 'internal_error'
  | 'service_unavailable';

/** Field name → the messages about it. */
export type ErrorDetails = Readonly<Record<string, readonly string[]>>;

interface ErrorBody<Code> {
  readonly error: Code;
  readonly message: string;
  readonly details?: ErrorDetails;
}

/** An error that the service answered with. */
export class PressledgerError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'PressledgerError';
  /** @example 'insufficient_credits' */
  readonly code: Code;
  /**
   * The HTTP status.
   * @example 402
   */
  readonly status: number;
  /**
   * The messages for each field of the request that was wrong.
   * @example { scale: ['Must be at most 2.'] }
   */
  readonly details: ErrorDetails | undefined;
  /** Seconds after which the request may be tried again. */
  readonly retryAfter: number | undefined;
  /** The id of the request in the service's log and events. */
  readonly requestId: string | undefined;

  constructor(
    response: { readonly status: number; readonly headers: Headers },
    { error, message, details }: ErrorBody<Code>,
  ) {
    super(message);
    this.code = error;
    this.status = response.status;
    this.details = details;
    const retryAfter = Number(response.headers.get('retry-after'));
    this.retryAfter = retryAfter > 0 ? retryAfter : undefined;
    this.requestId = response.headers.get('x-request-id') ?? undefined;
  }
}

/**
 * True if the service answered with an error, and with this code where one is given.
 * @example if (isPressledgerError(error, 'insufficient_credits')) await topUp();
 */
export function isPressledgerError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: Code,
): error is PressledgerError<Code> {
  return error instanceof PressledgerError && (code === undefined || error.code === code);
}

/** The service could not be reached in time, or what answered is not the service. */
export class PressledgerUnreachable extends Error {
  override readonly name = 'PressledgerUnreachable';
}

/** The conversion took longer than the caller would wait. It goes on at the service. */
export class PressledgerTimeout extends Error {
  override readonly name = 'PressledgerTimeout';
}

/** The refusal that an answer is, or that it is not the service's. */
export async function refusalIn(response: Response): Promise<Error> {
  const body: unknown = await response.json().catch(() => undefined);
  const known = typeof body === 'object' && body !== null && 'error' in body && 'message' in body;
  return known
    ? new PressledgerError(response, body as ErrorBody<ErrorCode>)
    : new PressledgerUnreachable(
        `${new URL(response.url).host} answered with status ${response.status}, and not as Pressledger does.`,
      );
}
