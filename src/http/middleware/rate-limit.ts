import { isIPv6, type Socket } from 'node:net';
import type { Budgets } from '../../budgets.ts';
import type { Clock } from '../../clock.ts';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import type { Rate, RateLimiter, Standing } from '../../rate-limiter/port.ts';
import type { Caller, HttpContext } from '../context.ts';
import { addressOf } from './client-address.ts';

export interface RateLimitDependencies {
  readonly rateLimiter: RateLimiter;
  readonly clock: Clock;
  readonly config: Pick<
    Config,
    'rateLimitFree' | 'rateLimitStarter' | 'rateLimitPro' | 'rateLimitAnonymous' | 'maxLinkRequests'
  >;
}

const WINDOW_MS = 60_000;

function planLimit(config: RateLimitDependencies['config'], plan: Caller['plan']): number {
  switch (plan) {
    case 'free':
      return config.rateLimitFree;
    case 'starter':
      return config.rateLimitStarter;
    case 'pro':
      return config.rateLimitPro;
  }
}

/** A client commonly holds a whole /64 of IPv6 addresses: they share one window. */
export function addressKey(address: string): string {
  if (!isIPv6(address)) return `address:${address}`;
  const [head = '', tail = ''] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const filled = address.includes('::')
    ? [...groups, ...Array.from({ length: 8 - groups.length - tail.split(':').length }, () => '0')]
    : groups;
  return `address:${filled.slice(0, 4).join(':')}::/64`;
}

type Client = Pick<HttpContext['state'], 'caller' | 'clientAddress'>;

function windowOf(deps: RateLimitDependencies, client: Client): [key: string, rate: Rate] {
  const { caller, clientAddress } = client;
  const [key, limit] =
    caller === undefined
      ? [addressKey(clientAddress), deps.config.rateLimitAnonymous]
      : [`account:${caller.accountId}`, planLimit(deps.config, caller.plan)];
  return [key, { limit, windowMs: WINDOW_MS }];
}

/** @throws {ServiceError} `rate_limit_exceeded` unless it was within the limit */
export function demandAllowed({ allowed, resetAt }: Standing, clock: Clock): void {
  if (allowed) return;
  const seconds = Math.max(1, Math.ceil(resetAt - clock.now() / 1000));
  throw new ServiceError('rate_limit_exceeded', undefined, { retryAfter: seconds });
}

const headersOf = (standing: Standing) => ({
  'X-RateLimit-Limit': String(standing.limit),
  'X-RateLimit-Remaining': String(standing.remaining),
  'X-RateLimit-Reset': String(standing.resetAt),
});

function show(ctx: HttpContext, standing: Standing): void {
  for (const [name, value] of Object.entries(headersOf(standing))) ctx.res.setHeader(name, value);
}

/** The headers of an answer to a connection of which nothing but the address is known. */
export const standingOf =
  (deps: RateLimitDependencies) =>
  async (socket: Socket): Promise<Readonly<Record<string, string>>> => {
    const client = { caller: undefined, clientAddress: addressOf(socket) };
    return headersOf(await deps.rateLimiter.peek(...windowOf(deps, client)));
  };

/**
 * Counts the request against its caller's account, or its client's address where it has none.
 * @throws {ServiceError} `rate_limit_exceeded`
 */
export async function countRequest(deps: RateLimitDependencies, ctx: HttpContext): Promise<void> {
  const standing = await deps.rateLimiter.take(...windowOf(deps, ctx.state));
  show(ctx, standing);
  demandAllowed(standing, deps.clock);
}

/**
 * Counts nothing.
 * @throws {ServiceError} `rate_limit_exceeded` where the client's address has no request left
 */
export async function demandAddressAllowed(
  deps: RateLimitDependencies,
  ctx: HttpContext,
): Promise<void> {
  const { clientAddress } = ctx.state;
  const window = windowOf(deps, { caller: undefined, clientAddress });
  demandAllowed(await deps.rateLimiter.peek(...window), deps.clock);
}

/**
 * Counts a request by a file link in a window that only such requests have.
 * @throws {ServiceError} `rate_limit_exceeded`
 */
export async function countLinkRequest(
  deps: RateLimitDependencies & { readonly budgets: Budgets },
  ctx: HttpContext,
): Promise<void> {
  const standing = await deps.rateLimiter.take(`link:${addressKey(ctx.state.clientAddress)}`, {
    limit: deps.config.maxLinkRequests,
    windowMs: WINDOW_MS,
  });
  if (!standing.allowed) deps.budgets.get('maxLinkRequests').refuse();
  demandAllowed(standing, deps.clock);
}

/** Says how things stand on an answer that does not count. */
export async function showStanding(deps: RateLimitDependencies, ctx: HttpContext): Promise<void> {
  show(ctx, await deps.rateLimiter.peek(...windowOf(deps, ctx.state)));
}
