import { ServiceError } from '../../errors.ts';
import type { HttpContext, HttpMiddleware } from '../context.ts';
import { type CredentialDependencies, findCaller } from './credential.ts';
import { countRequest, type RateLimitDependencies, showStanding } from './rate-limit.ts';

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
