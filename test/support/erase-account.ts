import type { CommandContext } from '../../src/actors/system.ts';
import {
  beginErasure,
  completeErasure,
  type ErasureDependencies,
} from '../../src/use-cases/erasure.ts';

/** Does what `account erase` does. */
export async function eraseAccount(
  deps: ErasureDependencies,
  accountId: string,
  context: CommandContext,
): Promise<void> {
  await beginErasure(deps, accountId, context);
  await completeErasure(deps, accountId);
}
