import { assertMayChangeFactors, refusalOfLacking } from '../../accounts/second-factors.ts';
import { ServiceError } from '../../errors/errors.ts';
import {
  type ActingMember,
  type Caller,
  callerOf,
  type HttpMiddleware,
  isByOperatorSocket,
} from '../context.ts';

export const NEEDS_SESSION =
  'An API key may not do this. Sign in, and send the access token: Authorization: Bearer ….';

/** @throws {ServiceError} `forbidden`: the caller is not signed in */
export function signedInOf({ actor }: Caller): ActingMember {
  if (actor.kind !== 'session') throw new ServiceError('forbidden', NEEDS_SESSION);
  return actor;
}

/** Refuses API keys: somebody who finds one must not be able to lock its owner out. */
export const sessionsOnly: HttpMiddleware = async (ctx, next) => {
  // Where the command line names an account, it acts on it as the operator.
  if (!isByOperatorSocket(ctx)) signedInOf(callerOf(ctx));
  await next();
};

/** Refuses sessions that would get around a second factor by changing it. */
export const noWayAround =
  (deps: Parameters<typeof assertMayChangeFactors>[0]): HttpMiddleware =>
  async (ctx, next) => {
    const caller = callerOf(ctx);
    await assertMayChangeFactors(deps, signedInOf(caller).person, caller.methods ?? []);
    await next();
  };

/** Refuses sessions that lack what their account requires of everybody who signs in. */
export const nothingLacks: HttpMiddleware = async (ctx, next) => {
  const lacking = ctx.state.caller?.lacking;
  if (lacking !== undefined) throw refusalOfLacking(lacking);
  await next();
};
