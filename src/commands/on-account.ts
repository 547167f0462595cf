import type { CommandContext, Invocation } from './command.ts';
import type { OperatorApi } from './operator-api.ts';

/** Asks the operator's API about the account of the first argument. */
export async function onAccount(
  { positionals: [email = ''] }: Invocation,
  { open }: CommandContext,
  act: (api: OperatorApi, id: string, email: string) => Promise<void>,
): Promise<void> {
  await open.withOperator(async (api) => await act(api, (await api.account(email)).id, email));
}
