import { randomBytes } from 'node:crypto';
import type { ActorSystem } from '../actors/system.ts';
import type { Clock } from '../clock.ts';
import { newCommandId } from '../ids.ts';
import { accepted } from './accepted.ts';
import { logActor } from './kinds.ts';

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
  const { state } = await deps.actors.read(logActor, ID);
  if (state.origin !== undefined) return state.origin;
  const made = `pressledger/${randomBytes(8).toString('hex')}`;
  const time = deps.clock.now();
  const commandId = newCommandId(time);
  const context = {
    commandId,
    metadata: {
      correlationId: commandId,
      causationId: commandId,
      actor: { kind: 'service' },
      time,
    },
  } as const;
  const command = { type: 'OpenLog', origin: made } as const;
  const opened = accepted(await deps.actors.send(logActor, ID, command, context));
  return opened.state.origin ?? made;
}
