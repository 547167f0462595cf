/** Bounds of what strangers and people can have the service send: it must not fill anybody's inbox. */
import type { MailKind } from '../domain/choices.ts';
import type { RateLimiter, RateLimitStatus } from '../limits/rate-limiter/port.ts';
import { type AccountDependencies, addressHmac } from './accounts.ts';

/** Of each kind of mail, in a quarter of an hour: invitations must not keep away the link that sets a password. */
export const MAIL_BUDGET = { windowMs: 15 * 60 * 1000, ofAccount: 20, toAddress: 2 } as const;

type Dependencies = Pick<AccountDependencies, 'addressKey'> & { readonly rateLimiter: RateLimiter };

interface AskedMail {
  readonly kind: MailKind;
  readonly email: string;
  /** Absent where a stranger asks. */
  readonly accountId?: string;
}

const { windowMs, ofAccount, toAddress } = MAIL_BUDGET;
const toRate = { windowMs, limit: toAddress };
const ofRate = { windowMs, limit: ofAccount };

const keysOf = (deps: Dependencies, { kind, email, accountId }: AskedMail) => ({
  to: `mail:${kind}:to:${addressHmac(deps, email)}`,
  of: accountId === undefined ? undefined : `mail:${kind}:of:${accountId}`,
});

/** Counts a mail that somebody asks for. */
export async function countMail(deps: Dependencies, asked: AskedMail): Promise<RateLimitStatus> {
  const { to, of } = keysOf(deps, asked);
  const status = await deps.rateLimiter.consume(to, toRate);
  if (!status.allowed || of === undefined) return status;
  return await deps.rateLimiter.consume(of, ofRate);
}

/**
 * Records a mail that was counted. If that fails, the count is given back: otherwise failed tries would use up the budget.
 * If only the answer of the event store was lost, one mail more than the budget may go out.
 */
export async function recordMail<T>(
  deps: Dependencies,
  asked: AskedMail,
  record: () => Promise<T>,
): Promise<T> {
  try {
    return await record();
  } catch (error) {
    // A count that cannot be given back ends with its window; the caller needs the first error.
    await refundMail(deps, asked).catch(() => {});
    throw error;
  }
}

async function refundMail(deps: Dependencies, asked: AskedMail): Promise<void> {
  const { to, of } = keysOf(deps, asked);
  await deps.rateLimiter.refund(to, toRate);
  if (of !== undefined) await deps.rateLimiter.refund(of, ofRate);
}
