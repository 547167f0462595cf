import { t } from '../words/words.ts';
/** An answer of the service that is not a success. */
interface ErrorBody {
  readonly error: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, readonly string[] | undefined>>;
}

const isErrorBody = (value: unknown): value is ErrorBody =>
  typeof value === 'object' && value !== null && 'error' in value && 'message' in value;

export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** The code by which programs decide, such as `validation_error`. */
  readonly code: string;
  /** Messages by field. */
  readonly details: NonNullable<ErrorBody['details']>;
  /** The id that the service's own log has for the request. */
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(response: Response, body: unknown) {
    super(
      isErrorBody(body)
        ? body.message
        : t('The service answered with status {status} and no reason.', {
            status: response.status,
          }),
    );
    this.status = response.status;
    this.code = isErrorBody(body) ? body.error : 'unknown';
    this.details = (isErrorBody(body) ? body.details : undefined) ?? {};
    this.requestId = response.headers.get('X-Request-Id') ?? undefined;
    const seconds = Number.parseInt(response.headers.get('Retry-After') ?? '', 10);
    this.retryAfterSeconds = Number.isNaN(seconds) ? undefined : seconds;
  }

  static async from(response: Response): Promise<ApiError> {
    return new ApiError(response, await response.json().catch(() => undefined));
  }
}

/** The service answered that this person may not, whatever their password is. */
export const isForbidden = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 403;

/** Says in words what went wrong, for people. */
export function errorText(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  // Every browser has words of its own for the file of a page that is not there any more.
  if (error instanceof TypeError && /\bmodule\b/i.test(error.message)) {
    return t(
      'A file of this page could not be loaded. The service was updated, or the connection is lost.',
    );
  }
  // `fetch` gives no other reason for a connection that failed.
  if (error instanceof TypeError && /fetch|network/i.test(error.message)) {
    return t('The service cannot be reached. Check the connection, then try again.');
  }
  return error instanceof Error ? error.message : t('An unknown error occurred.');
}
