/** Links that set a password, once: an operator hands one over to somebody who has forgotten it. */
import type { CommandContext } from '../actors/system.ts';
import { KeyErased } from '../documents/keys/port.ts';
import { accountAggregate } from '../domain/account.ts';
import { isResetOffered, RESET_GONE, RESET_LIFETIME_MS } from '../domain/standing.ts';
import { ServiceError } from '../errors/errors.ts';
import { randomAlphanumeric, tokenHashOf } from '../time/ids.ts';
import { type AccountDependencies, sendToAccount } from './accounts.ts';
import { type Asker, checkPassword } from './passwords.ts';

type Dependencies = Pick<AccountDependencies, 'actors' | 'vault' | 'passwords'>;

/** It names the account, so that no table is needed that leads to it. 43 characters: 256 bits. */
const TOKEN = /^reset_([0-9a-z]{26})_[0-9A-Za-z]{43}$/;
const RANDOM_CHARACTERS = 43;

/** Makes another link; the one before ends. The token is kept as its hash alone. */
export async function offerPasswordReset(
  deps: Pick<Dependencies, 'actors'>,
  accountId: string,
  context: CommandContext,
): Promise<{ readonly token: string; readonly expiresAt: number }> {
  const { time: now } = context.metadata;
  const random = randomAlphanumeric(RANDOM_CHARACTERS);
  const token = `reset_${accountId.replace(/^acct_/, '')}_${random}`;
  const tokenHash = tokenHashOf(token);
  await sendToAccount(deps, { type: 'OfferPasswordReset', accountId, tokenHash, now }, context);
  return { token, expiresAt: now + RESET_LIFETIME_MS };
}

const gone = (cause?: unknown): ServiceError => new ServiceError('gone', RESET_GONE, { cause });

/**
 * Sets the password of the account that the token is for, which ends all sessions of the person who opened it. The answer
 * to a token that never was is that to one that has been used.
 * @param contextFor makes the context, once the account is known
 * @throws {ServiceError} `validation_error` where it is too short or too long, `gone`
 * @throws {BudgetExceeded} too many wait for their password to be hashed
 */
export async function resetPassword(
  deps: Dependencies,
  { token, password, asker }: { token: string; password: string; asker: Asker },
  contextFor: (accountId: string) => Promise<CommandContext>,
  now: number,
): Promise<void> {
  checkPassword(password);
  const [, id] = TOKEN.exec(token) ?? [];
  if (id === undefined) throw gone();
  const accountId = `acct_${id}`;
  const tokenHash = tokenHashOf(token);
  const { state } = await deps.actors.read(accountAggregate, accountId);
  if (state.status !== 'open' || !isResetOffered(state, tokenHash, now)) throw gone();
  const hash = await deps.passwords.hash(password, asker);
  try {
    const passwordHash = await deps.vault.seal(accountId, hash);
    const command = { type: 'ResetPassword', accountId, tokenHash, passwordHash, now } as const;
    await sendToAccount(deps, command, await contextFor(accountId));
  } catch (cause) {
    // Erased meanwhile.
    const isErased = cause instanceof KeyErased || isNotFound(cause);
    throw isErased ? gone(cause) : cause;
  }
}

const isNotFound = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'not_found';
