/**
 * Every error a client can meet: its machine-readable code, its HTTP status and its default text.
 * The one table; `docs/errors.md` and the OpenAPI document are held against it by a test.
 */
export const ERRORS = {
  validation_error: { status: 400, message: 'The request is not valid.' },
  unauthorized: {
    status: 401,
    message: 'A valid credential is needed: send an API key in X-API-Key or a bearer access token.',
  },
  insufficient_credits: {
    status: 402,
    message: 'The account has no credits left. Add credits, then send the request again.',
  },
  forbidden: {
    status: 403,
    message: 'The credential does not allow this request.',
  },
  not_found: { status: 404, message: 'There is no such resource.' },
  method_not_allowed: { status: 405, message: 'The resource does not support this method.' },
  request_timeout: { status: 408, message: 'The request took too long to arrive.' },
  not_ready: {
    status: 409,
    message: 'The conversion has not ended yet. Ask again, or wait for it with Prefer: wait=30.',
  },
  on_hold: {
    status: 409,
    message: 'The account is under a hold: nothing of it is deleted until the hold ends.',
  },
  gone: {
    status: 410,
    message: 'The file is not stored any more: it was deleted, or its retention has ended.',
  },
  payload_too_large: { status: 413, message: 'The request is too large.' },
  unsupported_media_type: {
    status: 415,
    message: 'Send the body as JSON, with the header Content-Type: application/json.',
  },
  range_not_satisfiable: { status: 416, message: 'The file does not have this range of bytes.' },
  conversion_failed: { status: 422, message: 'The conversion has failed. Its record says why.' },
  rate_limit_exceeded: {
    status: 429,
    message: 'Too many requests. Wait as long as Retry-After says, then try again.',
  },
  internal_error: { status: 500, message: 'Something went wrong on our side.' },
  service_unavailable: {
    status: 503,
    message: 'The service cannot take this request right now. Try again after Retry-After seconds.',
  },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** Field name → what is wrong with it, as the interface shapes `details`. */
export type ErrorDetails = Readonly<Record<string, readonly string[]>>;

export interface ServiceErrorOptions {
  readonly details?: ErrorDetails;
  /** Seconds after which a retry makes sense; sent as `Retry-After`. */
  readonly retryAfter?: number;
  /** The internal reason: logged, never sent to a client. */
  readonly cause?: unknown;
}

/** An error whose code and message are meant for the client. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: ErrorDetails | undefined;
  readonly retryAfter: number | undefined;

  constructor(
    code: ErrorCode,
    message: string = ERRORS[code].message,
    options: ServiceErrorOptions = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = ERRORS[code].status;
    this.details = options.details;
    this.retryAfter = options.retryAfter;
  }
}

/**
 * An error about one field, which the message names first and the details name.
 * @param options also the code, where it is not `validation_error`
 */
export function fieldError(
  field: string,
  text: string,
  {
    code = 'validation_error',
    ...options
  }: Omit<ServiceErrorOptions, 'details'> & { readonly code?: ErrorCode } = {},
): ServiceError {
  return new ServiceError(code, `${field}: ${text}`, { ...options, details: { [field]: [text] } });
}
