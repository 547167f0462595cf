/** Bounds of what strangers and people can have the service send: it must not fill anybody's inbox. */
import type { MailKind } from '../domain/choices.ts';
import type { RateLimiter, RateLimitStatus } from '../limits/rate-limiter/port.ts';
import { type AccountDependencies, addressHmac } from './accounts.ts';

/** Of each kind of mail, in a quarter of an hour: invitations must not keep away the link that sets a password. */
export const MAIL_BUDGET = { windowMs: 15 * 60 * 1000, ofAccount: 20, toAddress: 2 } as const;

/** Counts a mail that somebody asks for. Without an account, a stranger does. */
export async function countMail(
  { rateLimiter, ...deps }: Pick<AccountDependencies, 'addressKey'> & { rateLimiter: RateLimiter },
  kind: MailKind,
  { email, accountId }: { readonly email: string; readonly accountId?: string },
): Promise<RateLimitStatus> {
  const { windowMs, ofAccount, toAddress } = MAIL_BUDGET;
  const to = `mail:${kind}:to:${addressHmac(deps, email)}`;
  const status = await rateLimiter.consume(to, { windowMs, limit: toAddress });
  if (!status.allowed || accountId === undefined) return status;
  return await rateLimiter.consume(`mail:${kind}:of:${accountId}`, { windowMs, limit: ofAccount });
}
