import type { Clock } from '../clock.ts';
import type { FirstAccount } from '../core.ts';
import type { EventStore } from '../event-store/port.ts';
import { type AccountDependencies, openAccount } from './accounts.ts';
import { createApiKey } from './api-keys.ts';
import { operatorContext } from './operator.ts';

/**
 * Opens the account that a newcomer begins with, on an empty store only. Its secrets are returned this
 * once and kept nowhere.
 */
export async function openFirstAccount(
  deps: AccountDependencies & { readonly clock: Clock; readonly store: EventStore },
  settings: { readonly firstAccountEmail: string; readonly freeCredits: number },
): Promise<FirstAccount | undefined> {
  const { firstAccountEmail: email, freeCredits: credits } = settings;
  if (email === '' || (await deps.store.head()) > 0n) return undefined;
  const { id, password = '' } = await openAccount(
    deps,
    { email, plan: 'pro', credits },
    operatorContext(deps.clock),
  );
  const { key } = await createApiKey(deps, id, 'first key', operatorContext(deps.clock));
  return { email, password, apiKey: key };
}
