import {
  beginErasure,
  completeErasure,
  type ErasureDependencies,
} from '../../src/accounts/erasure.ts';
import type { CommandContext } from '../../src/actors/system.ts';

/** Does what `account erase` does. */
export async function eraseAccount(
  deps: ErasureDependencies,
  accountId: string,
  context: CommandContext,
): Promise<void> {
  await beginErasure(deps, accountId, context);
  await completeErasure(deps, accountId);
}
