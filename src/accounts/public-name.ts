/** The name that an account has itself called by to strangers who check a PDF of it. */
import { accountQueries } from '../../projections/accounts.ts';
import type { CommandContext } from '../actors/system.ts';
import type { Vault } from '../documents/keys/vault.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import { type AccountDependencies, sendToAccount } from './accounts.ts';

type Dependencies = ReadDependencies & { readonly vault: Pick<Vault, 'unseal'> };

/** @returns null where it has none */
export async function publicNameOf(deps: Dependencies, accountId: string): Promise<string | null> {
  const row = (await consistentQuery(deps, accountQueries)).byId(accountId);
  const sealed = row?.publicName ?? null;
  return sealed === null ? null : await deps.vault.unseal(accountId, sealed);
}

/** @param name null: none from now on. Nothing is recorded where it is that already. */
export async function changePublicName(
  deps: Dependencies &
    Pick<AccountDependencies, 'actors'> & { readonly vault: Pick<Vault, 'seal'> },
  accountId: string,
  name: string | null,
  context: CommandContext,
): Promise<void> {
  if (name === (await publicNameOf(deps, accountId))) return;
  const sealed = name === null ? {} : { name: await deps.vault.seal(accountId, name) };
  await sendToAccount(deps, { type: 'ChangePublicName', accountId, ...sealed }, context);
}
