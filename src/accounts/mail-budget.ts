/** Bounds of what strangers and people can have the service send: it must not fill anybody's inbox. */
import { type AccountDependencies, addressHmac } from './accounts.ts';
import type { RateLimiter } from '../limits/rate-limiter/port.ts';

/** In a quarter of an hour. What is beyond is not sent. */
export const MAIL_BUDGET = { windowMs: 15 * 60 * 1000, ofAccount: 20, toAddress: 2 } as const;

/** Counts a mail. @returns false where the account has sent, or the address has got, too many of late */
export async function mayMail(
  { rateLimiter, ...deps }: Pick<AccountDependencies, 'addressKey'> & { rateLimiter: RateLimiter },
  { email, accountId }: { readonly email: string; readonly accountId?: string },
): Promise<boolean> {
  const { windowMs, ofAccount, toAddress } = MAIL_BUDGET;
  const to = `mail:to:${addressHmac(deps, email)}`;
  if (!(await rateLimiter.consume(to, { windowMs, limit: toAddress })).allowed) return false;
  if (accountId === undefined) return true;
  return (await rateLimiter.consume(`mail:of:${accountId}`, { windowMs, limit: ofAccount }))
    .allowed;
}
