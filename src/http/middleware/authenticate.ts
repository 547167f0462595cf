import { ServiceError } from '../../errors/errors.ts';
import {
  type Caller,
  type HttpContext,
  type HttpMiddleware,
  isByOperatorSocket,
} from '../context.ts';
import type { HttpDependencies } from '../dependencies.ts';
import { BASE_PATH } from '../routes.ts';
import { type Credentials, presentsCredential, unauthorized } from './credential.ts';
import { countRequest, setRateLimitHeaders } from './rate-limit.ts';

/** Puts the caller into the state, where the credential is good; an answer of a failure has its headers. */
async function identify(
  ctx: HttpContext,
  deps: HttpDependencies,
  find: (ctx: HttpContext) => Promise<Caller | undefined>,
): Promise<void> {
  try {
    ctx.state.caller = await find(ctx);
  } catch (error) {
    await setRateLimitHeaders(deps, ctx);
    throw error;
  }
}

/** Lets through senders with a good credential and requests left, judged in this order, and the command line. */
export function authenticate(
  deps: HttpDependencies,
  find: (ctx: HttpContext) => Promise<Caller | undefined>,
  refusal: (ctx: HttpContext) => ServiceError = unauthorized,
): HttpMiddleware {
  return async (ctx, next) => {
    await identify(ctx, deps, find);
    await countRequest(deps, ctx);
    if (ctx.state.caller === undefined && !isByOperatorSocket(ctx)) throw refusal(ctx);
    await next();
  };
}

/** The refusal of a page of the dashboard whose cookie is not good. */
export const sessionEnded = (): ServiceError =>
  new ServiceError('unauthorized', 'The session has ended. Sign in again.');

/** Counts requests whose credential is in the body: until it is judged, the client is its address. */
export function countAnonymous(deps: HttpDependencies): HttpMiddleware {
  return async (ctx, next) => {
    await countRequest(deps, ctx);
    await next();
  };
}

/** Shows the limits of the client's address on answers to requests that do not count. */
export function showRateLimit(deps: HttpDependencies): HttpMiddleware {
  return async (ctx, next) => {
    await setRateLimitHeaders(deps, ctx);
    await next();
  };
}

interface Routes {
  match(path: string, method: string): { readonly path: readonly { readonly methods: string[] }[] };
}

/** Other spellings of a path: its base left out, a slash too many or too few, the document as YAML. */
function spellingsOf(path: string): readonly string[] {
  const bare = path.replace(/(?<=.)\/$/, '').replace(/\.ya?ml$/, '.json');
  const places = ['', '/api', BASE_PATH].flatMap((base) => [`${base}${bare}/`, base + bare]);
  return places.filter((place) => place !== path);
}

/**
 * Answers requests without a route, or with a method that their route does not have. Counts every credential, good or bad.
 * @param answerPerson sends an HTML page to browsers; returns false if the client wants JSON
 */
export function notFound(
  deps: HttpDependencies,
  credentials: Credentials,
  routes: Routes,
  answerPerson: (ctx: HttpContext) => Promise<boolean>,
): HttpMiddleware {
  return async (ctx) => {
    const methodsAt = (path: string) => [
      ...new Set(routes.match(path, ctx.method).path.flatMap((at) => at.methods)),
    ];
    await identify(ctx, deps, (asked) => credentials.callerOf(asked));
    // A request for a missing resource can still try a credential, and its lookup costs as much.
    if (presentsCredential(ctx)) await countRequest(deps, ctx);
    else await setRateLimitHeaders(deps, ctx);
    const allowed = methodsAt(ctx.path);
    if (allowed.length > 0) {
      ctx.set('Allow', allowed.join(', '));
      throw new ServiceError('method_not_allowed');
    }
    const meant = spellingsOf(ctx.path).find((path) => methodsAt(path).length > 0);
    const isOfService = meant !== undefined && !meant.startsWith('/api/');
    if (!isOfService && (await answerPerson(ctx))) return;
    const hint = meant === undefined ? 'The API is described at /docs.' : `Did you mean ${meant}?`;
    throw new ServiceError('not_found', `There is no such resource. ${hint}`);
  };
}
