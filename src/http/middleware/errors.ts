import { ThreadsClosed } from '../../async/threads.ts';
import { KeyErased, KeyringUnavailable } from '../../documents/keys/port.ts';
import { BlobStoreUnavailable } from '../../documents/port.ts';
import { errorLine, errorReason } from '../../errors/error-message.ts';
import { ServiceError } from '../../errors/errors.ts';
import { EventStoreUnavailable } from '../../event-store/port.ts';
import { BudgetExceeded } from '../../limits/budgets.ts';
import { isTold } from '../../observe/outage.ts';
import { type HttpContext, type HttpMiddleware, isByOperatorSocket } from '../context.ts';

const STORE_RETRY_SECONDS = 5;
const THREADS_RETRY_SECONDS = 2;
/** The way to authenticate (RFC 6750, section 3). */
export const CHALLENGE = 'Bearer realm="pressledger"';

/** Puts an error into the client's terms; an internal text never reaches it. */
function toServiceError(error: unknown, requestId: string): ServiceError {
  if (error instanceof ServiceError && error.code !== 'internal_error') return error;
  if (error instanceof BudgetExceeded) {
    const code = error.scope === 'client' ? 'rate_limit_exceeded' : 'service_unavailable';
    return new ServiceError(code, error.message, { retryAfter: error.retryAfter });
  }
  // Nothing is accepted that is not on disk: the client may try again.
  if (
    error instanceof EventStoreUnavailable ||
    error instanceof BlobStoreUnavailable ||
    error instanceof KeyringUnavailable
  ) {
    return new ServiceError('service_unavailable', undefined, {
      retryAfter: STORE_RETRY_SECONDS,
      cause: error,
    });
  }
  // The service ends, and another node may answer.
  if (error instanceof ThreadsClosed) {
    return new ServiceError('service_unavailable', undefined, {
      retryAfter: THREADS_RETRY_SECONDS,
      cause: error,
    });
  }
  // The data key is gone: the account was erased while the request was under way.
  if (error instanceof KeyErased) {
    return new ServiceError('unauthorized', undefined, { cause: error });
  }
  return new ServiceError(
    'internal_error',
    `Something went wrong on our side. When you report it, name the request ${requestId}.`,
    { cause: error },
  );
}

function answer(ctx: HttpContext, error: ServiceError): void {
  ctx.status = error.status;
  if (error.retryAfter !== undefined) ctx.set('Retry-After', String(error.retryAfter));
  if (error.status === 401 && !ctx.res.hasHeader('WWW-Authenticate')) {
    ctx.set('WWW-Authenticate', CHALLENGE);
  }
  ctx.body = {
    error: error.code,
    message: error.message,
    ...(error.details === undefined ? {} : { details: error.details }),
  };
}

/** The only place where an error becomes an answer. */
export const errors: HttpMiddleware = async (ctx, next) => {
  try {
    await next();
  } catch (thrown) {
    const error = toServiceError(thrown, ctx.state.loggedId);
    // An operator at the machine need not look for the reason in the log.
    if (error.status >= 500 && error.cause !== undefined && isByOperatorSocket(ctx)) {
      // The keyring's own text names the account, and its cause the file.
      const say = error.cause instanceof KeyringUnavailable ? errorReason : errorLine;
      return answer(ctx, new ServiceError(error.code, say(error.cause)));
    }
    // An error without a cause says all there is to the client. Probes would fill the log with it.
    if (error.status >= 500 && error.cause !== undefined) {
      const { log, loggedPath: path } = ctx.state;
      // An outage is not our fault. A stack for each request of an outage would hide everything else.
      if (error.code === 'service_unavailable') {
        const level = isTold(error.cause) ? 'debug' : 'warn';
        log[level]({ reason: errorReason(error.cause), path }, 'A request was put off.');
      } else {
        log.error({ err: error.cause, path }, 'A request failed.');
      }
    }
    answer(ctx, error);
  }
};
