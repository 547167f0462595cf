/** The windows that requests are counted in, and the key of each. */
import { isIPv6 } from 'node:net';
import { PLANS } from '../domain/choices.ts';
import type { Plan, SessionKind } from '../domain/event-fields.ts';
import { fieldError, ServiceError } from '../errors/errors.ts';
import type { Rate, RateLimitStatus } from '../limits/rate-limiter/port.ts';
import type { Clock } from '../time/clock.ts';

export const WINDOW_MS = 60_000;

export interface RateLimits {
  /** `off`: requests are not counted. Wrong passwords are, whatever it says. */
  readonly rateLimit: 'on' | 'off';
  /** Those of the setting PLANS. */
  readonly plans: Plans | undefined;
  readonly rateLimitFree: number;
  readonly rateLimitStarter: number;
  readonly rateLimitPro: number;
  readonly rateLimitAnonymous: number;
  readonly rateLimitDashboard: number;
}

/** The account that requests are counted for. */
export interface CountedCaller {
  readonly accountId: string;
  readonly plan: Plan;
  /** Absent for an API key. */
  readonly sessionKind?: SessionKind;
}

/** A plan that settings add, or what they say of one that is always there. */
export interface PlanSetting {
  /** Requests in a minute; absent: of one that is always there. */
  readonly rateLimit?: number;
  /** Credits that are granted for each month. */
  readonly creditsMonthly?: number;
}
export type Plans = ReadonlyMap<string, PlanSetting>;

/** The names of all plans that an account may have. */
export const planNames = ({ plans }: Pick<RateLimits, 'plans'>): readonly string[] => [
  ...new Set([...PLANS, ...(plans?.keys() ?? [])]),
];

/** @throws {ServiceError} `validation_error`: there is no such plan */
export function assertPlan(limits: Pick<RateLimits, 'plans'>, plan: string): void {
  const names = planNames(limits);
  if (!names.includes(plan)) throw fieldError('plan', `Must be one of ${names.join(', ')}.`);
}

/** Requests in a minute. A plan that is not in the settings any more has the limit of free. */
export function planLimit(limits: RateLimits, plan: Plan): number {
  switch (plan) {
    case 'starter':
      return limits.rateLimitStarter;
    case 'pro':
      return limits.rateLimitPro;
    default:
      return limits.plans?.get(plan)?.rateLimit ?? limits.rateLimitFree;
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

/** An IPv4 /24 or an IPv6 /48: addresses that one client may well have to itself. */
export function networkKey(address: string): string {
  const key = addressKey(address);
  return isIPv6(address) ? key.split(':').slice(0, 4).join(':') : key.replace(/\.\d+$/, '');
}

/** The window of the requests that an account's plan allows. */
export function planWindow(
  limits: RateLimits,
  { accountId, plan }: Pick<CountedCaller, 'accountId' | 'plan'>,
): [key: string, rate: Rate] {
  return [`account:${accountId}`, { limit: planLimit(limits, plan), windowMs: WINDOW_MS }];
}

/** The window of an API key that has a limit of its own. */
export const keyWindow = (keyId: string, limit: number): [key: string, rate: Rate] => [
  `key:${keyId}`,
  { limit, windowMs: WINDOW_MS },
];

/**
 * The window of a request: its account's, or its client's address where it has none. The pages of the dashboard
 * ask more often than programs need to, so an account has a window of its own for them.
 */
export function requestWindow(
  limits: RateLimits,
  client: { readonly caller: CountedCaller | undefined; readonly clientAddress: string },
): [key: string, rate: Rate] {
  const { caller, clientAddress } = client;
  if (caller !== undefined && caller.sessionKind !== 'dashboard') return planWindow(limits, caller);
  const [key, limit] =
    caller === undefined
      ? [addressKey(clientAddress), limits.rateLimitAnonymous]
      : [`dashboard:${caller.accountId}`, limits.rateLimitDashboard];
  return [key, { limit, windowMs: WINDOW_MS }];
}

/** Says which limit an account's plan sets. */
export const planLimitText = (plan: Plan, limit: number): string =>
  `Only ${limit} requests a minute are allowed on the plan ${plan}.`;

/** Says which limit the window of a request has. */
export function requestLimit(
  caller: Pick<CountedCaller, 'plan' | 'sessionKind'> | undefined,
  limit: number,
): string {
  if (caller === undefined) {
    return `Only ${limit} requests a minute are allowed from one address without a valid credential.`;
  }
  return caller.sessionKind === 'dashboard'
    ? `Only ${limit} requests a minute are allowed from the dashboard.`
    : planLimitText(caller.plan, limit);
}

/**
 * @param limit a sentence that says which limit it is
 * @throws {ServiceError} `rate_limit_exceeded` unless it was within the limit
 */
export function assertAllowed(
  { allowed, resetAt }: Pick<RateLimitStatus, 'allowed' | 'resetAt'>,
  limit: string,
  clock: Clock,
): void {
  if (allowed) return;
  const seconds = Math.max(1, Math.ceil(resetAt - clock.now() / 1000));
  const wait = `Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;
  throw new ServiceError('rate_limit_exceeded', `${limit} ${wait}`, { retryAfter: seconds });
}
