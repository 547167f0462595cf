import type { ErrorCode, ErrorDetails } from '../errors.ts';

/** An answer other than success, by its machine-readable code. */
export class PressledgerError extends Error {
  override readonly name = 'PressledgerError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: ErrorDetails | undefined;
  /** Seconds after which the service asks to be tried again. */
  readonly retryAfter: number | undefined;
  /** Names the request in the service's log and events. */
  readonly requestId: string | undefined;

  constructor(
    response: Response,
    body: { error: ErrorCode; message: string; details?: ErrorDetails },
  ) {
    super(body.message);
    this.code = body.error;
    this.status = response.status;
    this.details = body.details;
    const retryAfter = Number(response.headers.get('retry-after'));
    this.retryAfter = retryAfter > 0 ? retryAfter : undefined;
    this.requestId = response.headers.get('x-request-id') ?? undefined;
  }
}

/** The service could not be reached, or what answered is not the service. */
export class PressledgerUnreachable extends Error {
  override readonly name = 'PressledgerUnreachable';
}
