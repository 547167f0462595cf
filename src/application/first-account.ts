import { accountQueries } from '../../projections/accounts.ts';
import type { Core, FirstAccount } from '../core.ts';
import { type AccountDependencies, openAccount } from './accounts.ts';
import { createApiKey } from './api-keys.ts';
import { operatorContext } from './operator.ts';

/**
 * Opens the account that a newcomer begins with, where there is none yet. Its secrets are returned
 * this once and kept nowhere.
 */
export async function openFirstAccount(
  deps: AccountDependencies & Pick<Core, 'clock' | 'readModel' | 'caughtUp'>,
  settings: { readonly firstAccountEmail: string; readonly freeCredits: number },
): Promise<FirstAccount | undefined> {
  const { firstAccountEmail: email, freeCredits: credits } = settings;
  if (email === '') return undefined;
  await deps.caughtUp();
  if (deps.readModel.query(accountQueries).first()) return undefined;
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
