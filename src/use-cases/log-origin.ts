import { randomBytes } from 'node:crypto';
import type { ActorSystem } from '../actors/system.ts';
import type { Clock } from '../clock.ts';
import { logAggregate } from '../domain/log.ts';
import { firstCommand, orThrow } from './command-context.ts';

/** There is one log to a store. */
const ID = '';

/**
 * The name under which this deployment signs tokens and links. It is made and stored where the log has
 * none; of nodes that start at the same time, one stores its own and the others take that.
 * @throws {EventStoreUnavailable}
 */
export async function logOrigin(deps: {
  readonly actors: ActorSystem;
  readonly clock: Clock;
}): Promise<string> {
  const { state } = await deps.actors.read(logAggregate, ID);
  if (state.origin !== undefined) return state.origin;
  const made = `pressledger/${randomBytes(8).toString('hex')}`;
  const context = firstCommand(deps.clock.now(), { kind: 'service' });
  const command = { type: 'OpenLog', origin: made } as const;
  const opened = orThrow(await deps.actors.send(logAggregate, ID, command, context));
  return opened.state.origin ?? made;
}
