import type { Socket } from 'node:net';
import {
  addressKey,
  assertAllowed,
  keyWindow,
  planLimitText,
  planWindow,
  requestLimit,
  requestWindow,
  WINDOW_MS,
} from '../../accounts/rate-limits.ts';
import type { Rate, RateLimitStatus } from '../../limits/rate-limiter/port.ts';
import { type HttpContext, isByOperatorSocket } from '../context.ts';
import type { HttpDependencies } from '../dependencies.ts';
import { addressOf } from './request.ts';

type RateLimitDependencies = Pick<HttpDependencies, 'rateLimiter' | 'clock' | 'config'>;

const headersOf = (status: RateLimitStatus) => ({
  'X-RateLimit-Limit': String(status.limit),
  'X-RateLimit-Remaining': String(status.remaining),
  'X-RateLimit-Reset': String(status.resetAt),
});

function show(ctx: HttpContext, status: RateLimitStatus): void {
  for (const [name, value] of Object.entries(headersOf(status))) ctx.res.setHeader(name, value);
}

/** Counts a request, or only looks, unless requests are not limited: then all of a window is always left. */
async function windowOf(
  { rateLimiter, clock, config }: RateLimitDependencies,
  how: 'consume' | 'get',
  ...[key, rate]: [key: string, rate: Rate]
): Promise<RateLimitStatus> {
  if (config.rateLimit === 'on') return await rateLimiter[how](key, rate);
  const { limit, windowMs } = rate;
  const resetAt = (Math.floor(clock.now() / windowMs) + 1) * (windowMs / 1000);
  return { allowed: true, limit, remaining: limit, resetAt };
}

/** The headers of an answer to a connection whose address alone is known. */
export const rateLimitHeadersOf =
  (deps: RateLimitDependencies) =>
  async (socket: Socket): Promise<Readonly<Record<string, string>>> => {
    const client = { caller: undefined, clientAddress: addressOf(socket) };
    return headersOf(await windowOf(deps, 'get', ...requestWindow(deps.config, client)));
  };

/**
 * Counts the request in the window of its API key, if that has one.
 * @throws {ServiceError} `rate_limit_exceeded`
 */
async function countForKey(
  { rateLimiter, clock, config }: RateLimitDependencies,
  ctx: HttpContext,
): Promise<RateLimitStatus | undefined> {
  const { actor, key } = ctx.state.caller ?? {};
  if (actor?.kind !== 'key' || key?.rateLimit === undefined) return undefined;
  if (config.rateLimit !== 'on') return undefined;
  const status = await rateLimiter.consume(...keyWindow(actor.id, key.rateLimit));
  show(ctx, status);
  const limit = `Only ${status.limit} requests a minute are allowed with this API key.`;
  assertAllowed(status, limit, clock);
  return status;
}

/**
 * Counts the request against its caller's key and account, or its client's address where it has none. The headers show
 * the window that has less left.
 * @throws {ServiceError} `rate_limit_exceeded`
 */
export async function countRequest(deps: RateLimitDependencies, ctx: HttpContext): Promise<void> {
  if (isByOperatorSocket(ctx)) return;
  const ofKey = await countForKey(deps, ctx);
  const status = await windowOf(deps, 'consume', ...requestWindow(deps.config, ctx.state));
  show(ctx, ofKey && ofKey.remaining <= status.remaining && status.allowed ? ofKey : status);
  assertAllowed(status, requestLimit(ctx.state.caller, status.limit), deps.clock);
}

/**
 * Counts a conversion that the dashboard asks for against the plan, too: its own window is for reading pages.
 * @throws {ServiceError} `rate_limit_exceeded`
 */
export async function countAgainstPlan(
  deps: RateLimitDependencies,
  ctx: HttpContext,
): Promise<void> {
  const { caller } = ctx.state;
  if (caller?.sessionKind !== 'dashboard') return;
  const status = await windowOf(deps, 'consume', ...planWindow(deps.config, caller));
  show(ctx, status);
  assertAllowed(status, planLimitText(caller.plan, status.limit), deps.clock);
}

/**
 * Looks without counting.
 * @throws {ServiceError} `rate_limit_exceeded` where the client's address has no request left
 */
export async function assertAddressAllowed(
  deps: RateLimitDependencies,
  ctx: HttpContext,
): Promise<void> {
  const { clientAddress } = ctx.state;
  const window = requestWindow(deps.config, { caller: undefined, clientAddress });
  const status = await windowOf(deps, 'get', ...window);
  assertAllowed(status, requestLimit(undefined, status.limit), deps.clock);
}

/**
 * Counts a request by a file link in a window that only such requests have.
 * @throws {ServiceError} `rate_limit_exceeded`
 */
export async function countLinkRequest(deps: HttpDependencies, ctx: HttpContext): Promise<void> {
  if (isByOperatorSocket(ctx)) return;
  const status = await windowOf(deps, 'consume', `link:${addressKey(ctx.state.clientAddress)}`, {
    limit: deps.config.maxLinkRequests,
    windowMs: WINDOW_MS,
  });
  if (!status.allowed) deps.budgets.get('maxLinkRequests').refuse();
  const limit = `Only ${status.limit} downloads a minute are allowed by the links of one address.`;
  assertAllowed(status, limit, deps.clock);
}

/** Shows the limits on an answer to a request that does not count. */
export async function setRateLimitHeaders(
  deps: RateLimitDependencies,
  ctx: HttpContext,
): Promise<void> {
  show(ctx, await windowOf(deps, 'get', ...requestWindow(deps.config, ctx.state)));
}
