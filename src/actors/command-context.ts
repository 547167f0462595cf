/** The metadata of commands, and the answer to them in the client's terms. */

import { ServiceError } from '../errors/errors.ts';
import type { Clock } from '../time/clock.ts';
import { newCommandId } from '../time/ids.ts';
import type { Outcome } from './command.ts';
import type { CommandContext } from './system.ts';

type Metadata = CommandContext['metadata'];

/** The context of a command that nothing in the log has caused. */
export function firstCommand(
  time: number,
  actor: Metadata['actor'],
  request: Pick<Metadata, 'requestId' | 'client' | 'reason'> = {},
): CommandContext {
  const commandId = newCommandId(time);
  return {
    commandId,
    metadata: { correlationId: commandId, causationId: commandId, actor, ...request, time },
  };
}

/** The context of a command that the operator gives on the command line. */
export const operatorContext = (clock: Clock): CommandContext =>
  firstCommand(clock.now(), { kind: 'operator' });

/**
 * The outcome of an accepted command.
 * @throws {ServiceError} the rejection, in the client's terms
 */
export function orThrow<State, Event>(
  outcome: Outcome<State, Event>,
): Extract<Outcome<State, Event>, { accepted: true }> {
  if (outcome.accepted) return outcome;
  const { rejected, message, details } = outcome.rejection;
  throw new ServiceError(rejected, message, details ? { details } : {});
}
