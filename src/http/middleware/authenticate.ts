import { ServiceError } from '../../errors.ts';
import type { HttpContext, HttpMiddleware } from '../context.ts';
import { type CredentialDependencies, findCaller, presentsCredential } from './credential.ts';
import { type RateLimitDependencies, countRequest, showStanding } from './rate-limit.ts';

type Dependencies = CredentialDependencies & RateLimitDependencies;

/** Puts the caller into the state, where the credential is good; an answer of a failure has its headers. */
export async function identify(ctx: HttpContext, deps: Dependencies): Promise<void> {
  try {
    ctx.state.caller = await findCaller(ctx, deps);
  } catch (error) {
    await showStanding(deps, ctx);
    throw error;
  }
}

/** Lets through who has a good credential and requests left, in this order. */
export function authenticate(deps: Dependencies): HttpMiddleware {
  return async (ctx, next) => {
    await identify(ctx, deps);
    await countRequest(deps, ctx);
    if (ctx.state.caller === undefined) throw new ServiceError('unauthorized');
    await next();
  };
}

/** For routes whose credential is in the body: until it is judged, the client is its address. */
export function countAnonymous(deps: RateLimitDependencies): HttpMiddleware {
  return async (ctx, next) => {
    await countRequest(deps, ctx);
    await next();
  };
}

/** For routes that anybody may ask, any number of times: how the client's address stands elsewhere. */
export function showsStanding(deps: RateLimitDependencies): HttpMiddleware {
  return async (ctx, next) => {
    await showStanding(deps, ctx);
    await next();
  };
}

interface Routes {
  match(path: string, method: string): { readonly path: readonly { readonly methods: string[] }[] };
}

/** Behind the router: what comes here has no route, or none for its method. Counts every credential, good or bad. */
export function notFound(
  deps: CredentialDependencies & RateLimitDependencies,
  routes: Routes,
): HttpMiddleware {
  return async (ctx) => {
    const methodsAt = (path: string) => [
      ...new Set(routes.match(path, ctx.method).path.flatMap((at) => at.methods)),
    ];
    await identify(ctx, deps);
    // Where there is nothing to ask for, a credential can still be tried, and its lookup costs as much.
    if (presentsCredential(ctx)) await countRequest(deps, ctx);
    else await showStanding(deps, ctx);
    const allowed = methodsAt(ctx.path);
    if (allowed.length > 0) {
      ctx.set('Allow', allowed.join(', '));
      throw new ServiceError('method_not_allowed');
    }
    const hint = methodsAt(`${ctx.path}/`).length > 0 ? ` Did you mean ${ctx.path}/?` : '';
    throw new ServiceError('not_found', `There is no such resource.${hint}`);
  };
}
