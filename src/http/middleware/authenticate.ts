import { ServiceError } from '../../errors.ts';
import type { HttpMiddleware } from '../context.ts';
import { type CredentialDependencies, findCaller } from './credential.ts';
import { countRequest, type RateLimitDependencies, showStanding } from './rate-limit.ts';

/** Lets through who has a good credential and requests left, in this order. */
export function authenticate(deps: CredentialDependencies & RateLimitDependencies): HttpMiddleware {
  return async (ctx, next) => {
    const caller = await findCaller(ctx, deps).catch(async (error: unknown) => {
      await showStanding(deps, ctx);
      throw error;
    });
    if (caller !== undefined) ctx.state.caller = caller;
    await countRequest(deps, ctx);
    if (caller === undefined) throw new ServiceError('unauthorized');
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
