import type { CommandContext } from '../actors/system.ts';
import type { Clock } from '../clock.ts';
import { newCommandId } from '../ids.ts';

/** The context of a command that the operator gives on the command line. */
export function operatorContext(clock: Clock): CommandContext {
  const time = clock.now();
  const commandId = newCommandId(time);
  return {
    commandId,
    metadata: {
      correlationId: commandId,
      causationId: commandId,
      actor: { kind: 'operator' },
      time,
    },
  };
}
