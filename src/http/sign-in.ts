/** Judging an address and its password, slowly for those who guess. */
import { type AccountDependencies, addressHmac, findAccount } from '../application/accounts.ts';
import { hashPassword, verifyPassword } from '../application/passwords.ts';
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

/** Checked where there is no account, so that its absence takes as long. */
let nobodysHash: Promise<string> | undefined;

async function accountWith(
  deps: SignInDependencies,
  email: string,
  password: string,
): Promise<{ readonly accountId: string | undefined; readonly right: boolean }> {
  const account = await findAccount(deps, email);
  nobodysHash ??= hashPassword('the password of nobody');
  const hash =
    account === undefined
      ? await nobodysHash
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
  const tries = [
    [`sign-in:${addressKey(ctx.state.clientAddress)}`, WRONG_PER_ADDRESS],
    [`sign-in:${addressHmac(deps, email)}`, WRONG_PER_ACCOUNT],
  ] as const;
  for (const [key, rate] of tries) demandAllowed(await rateLimiter.take(key, rate), clock);
  const { accountId, right } = await accountWith(deps, email, password);
  if (accountId === undefined || !right) {
    leaveTrail(ctx, deps, { accountId, email });
    throw new ServiceError('unauthorized', 'The email address or the password is wrong.');
  }
  await Promise.all(tries.map(([key, rate]) => rateLimiter.giveBack(key, rate)));
  return accountId;
}
