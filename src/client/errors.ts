/** Every `error` that the service answers with. */
export type ErrorCode =
  | 'validation_error'
  | 'unauthorized'
  | 'insufficient_credits'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'not_ready'
  | 'gone'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'range_not_satisfiable'
  | 'conversion_failed'
  | 'rate_limit_exceeded'
  | 'internal_error'
  | 'service_unavailable';

/** Field name → what is wrong with it. */
export type ErrorDetails = Readonly<Record<string, readonly string[]>>;

interface ErrorBody<Code> {
  readonly error: Code;
  readonly message: string;
  readonly details?: ErrorDetails;
}

/** An answer other than success, by its machine-readable code. */
export class PressledgerError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'PressledgerError';
  readonly code: Code;
  readonly status: number;
  readonly details: ErrorDetails | undefined;
  /** Seconds after which the service asks to be tried again. */
  readonly retryAfter: number | undefined;
  /** Names the request in the service's log and events. */
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

/** True if the service refused, and with this code where one is given. */
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
