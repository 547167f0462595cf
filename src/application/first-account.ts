import { accountQueries } from '../../projections/accounts.ts';
import { apiKeyQueries } from '../../projections/api-keys.ts';
import type { Core, FirstAccount } from '../core.ts';
import { type AccountDependencies, openAccount } from './accounts.ts';
import { type ApiKeyDependencies, createApiKey } from './api-keys.ts';
import { operatorContext } from './operator.ts';

const NO_KEY =
  'the first account has no API key: `pressledger account list` names it, ' +
  '`pressledger key create EMAIL --name NAME` makes a key and `pressledger account password EMAIL` a password';

/**
 * Opens the account that a newcomer begins with, where there is none yet. Its secrets are returned
 * this once and kept nowhere.
 */
export async function openFirstAccount(
  deps: AccountDependencies & ApiKeyDependencies & Pick<Core, 'clock' | 'logger' | 'caughtUp'>,
  settings: { readonly firstAccountEmail: string; readonly freeCredits: number },
): Promise<FirstAccount | undefined> {
  const { firstAccountEmail: email, freeCredits: credits } = settings;
  if (email === '') return undefined;
  await deps.caughtUp();
  const first = deps.readModel.query(accountQueries).first();
  if (first) {
    const { total } = deps.readModel.query(apiKeyQueries).page(first.id, { offset: 0, limit: 1 });
    // The start that opened it may have ended before it could show what it had made.
    if (total === 0) deps.logger.warn(NO_KEY);
    return undefined;
  }
  const opened = await openAccount(
    deps,
    { email, plan: 'pro', credits },
    operatorContext(deps.clock),
  ).catch(async (error: unknown) => {
    // Another process that starts on the same empty store may have been first.
    await deps.caughtUp();
    if (deps.readModel.query(accountQueries).first()) return undefined;
    throw error;
  });
  if (!opened) return undefined;
  const { id, password = '' } = opened;
  const { key } = await createApiKey(deps, id, 'first key', operatorContext(deps.clock));
  return { email, password, apiKey: key };
}
