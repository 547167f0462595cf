/** The API for operators, as their pages ask it. */
import { accountQuery } from '../../api/account.ts';
import { queryClient } from '../../api/queries.ts';
import type { components } from '../../api/schema.d.ts';

export type ServiceStatus = components['schemas']['ServiceStatus'];
export type AccountDetails = components['schemas']['AccountDetails'];

/** The key of all that the pages know of accounts. */
export const ACCOUNTS = ['operator', 'accounts'] as const;

/** Asks for accounts again after a change, and for the own account, which may be the one. */
export async function forgetAccounts(): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ACCOUNTS }),
    queryClient.invalidateQueries({ queryKey: accountQuery.queryKey }),
  ]);
}
