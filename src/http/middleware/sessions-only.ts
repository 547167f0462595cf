import { ServiceError } from '../../errors.ts';
import { callerOf, type HttpMiddleware } from '../context.ts';

export const NEEDS_SESSION =
  'An API key may not do this. Sign in, and send the access token: Authorization: Bearer ….';

/** Refuses API keys: somebody who finds one must not be able to lock its owner out. */
export const sessionsOnly: HttpMiddleware = async (ctx, next) => {
  if (callerOf(ctx).actor.kind !== 'session') throw new ServiceError('forbidden', NEEDS_SESSION);
  await next();
};
