/** Judging an address and its password, slowly for those who guess. */
import { type AccountDependencies, addressHmac, findAccount } from '../application/accounts.ts';
import { NOBODYS_HASH, verifyPassword } from '../application/passwords.ts';
import type { SignInAudit } from '../application/sign-in-audit.ts';
import type { Clock } from '../clock.ts';
import { ServiceError } from '../errors.ts';
import type { Rate, RateLimiter } from '../rate-limiter/port.ts';
import type { HttpContext } from './context.ts';
import { addressKey, demandAllowed } from './middleware/rate-limit.ts';

export interface SignInDependencies extends AccountDependencies {
  readonly rateLimiter: RateLimiter;
  readonly clock: Clock;
  readonly signInAudit: SignInAudit;
}

const WINDOW_MS = 15 * 60 * 1000;
const WRONG_PER_ACCOUNT: Rate = { limit: 10, windowMs: WINDOW_MS };
const WRONG_PER_ADDRESS: Rate = { limit: 30, windowMs: WINDOW_MS };

async function accountWith(
  deps: SignInDependencies,
  email: string,
  password: string,
): Promise<{ readonly accountId: string | undefined; readonly right: boolean }> {
  const account = await findAccount(deps, email);
  // Checked all the same, so that an account's absence takes as long.
  const hash =
    account === undefined
      ? NOBODYS_HASH
      : await deps.vault.unseal(account.id, account.state.passwordHash);
  const right = await verifyPassword(hash, password);
  return { accountId: account?.id, right: right && account !== undefined };
}

/** Not waited for: how long recording takes would tell a known address from an unknown one. */
function leaveTrail(
  ctx: HttpContext,
  { signInAudit, clock }: SignInDependencies,
  attempt: { readonly accountId: string | undefined; readonly email: string },
): void {
  const { clientAddress, requestId, log } = ctx.state;
  log.warn({ client: clientAddress }, 'A sign-in was refused.');
  signInAudit
    .refused({ ...attempt, clientAddress, requestId, time: clock.now() })
    .catch((err: unknown) => log.error({ err }, 'A refused sign-in is not recorded.'));
}

/**
 * The account that the pair signs in to. Each try counts as a wrong one until it has proved right, so
 * that guessing in parallel gains nothing.
 * @throws {ServiceError} `unauthorized`, or `rate_limit_exceeded` after too many wrong tries
 */
export async function signIn(
  ctx: HttpContext,
  deps: SignInDependencies,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<string> {
  const { rateLimiter, clock } = deps;
  const byAddress = [`sign-in:${addressKey(ctx.state.clientAddress)}`, WRONG_PER_ADDRESS] as const;
  const byAccount = [`sign-in:${addressHmac(deps, email)}`, WRONG_PER_ACCOUNT] as const;
  demandAllowed(await rateLimiter.take(...byAddress), clock);
  const ofAccount = await rateLimiter.take(...byAccount);
  // A pair that is not judged was not wrong.
  if (!ofAccount.allowed) await rateLimiter.giveBack(...byAddress);
  demandAllowed(ofAccount, clock);
  const { accountId, right } = await accountWith(deps, email, password);
  if (accountId === undefined || !right) {
    leaveTrail(ctx, deps, { accountId, email });
    throw new ServiceError('unauthorized', 'The email address or the password is wrong.');
  }
  await Promise.all([byAddress, byAccount].map((each) => rateLimiter.giveBack(...each)));
  return accountId;
}
