import { randomBytes } from 'node:crypto';
import type { ActorSystem } from '../actors/system.ts';
import type { Clock } from '../clock.ts';
import { LOG_ID, type LogState, logAggregate } from '../domain/log.ts';
import { firstCommand } from './command-context.ts';

export interface OpenedLog extends LogState {
  /** Tells this log from all others, whatever it is called later. */
  readonly openedAs: string;
  /** The name under which this deployment signs checkpoints, tokens and links. */
  readonly origin: string;
}

/**
 * The log, which is named where it has no name; of nodes that start at the same time, one stores its own
 * and the others take that.
 * @param name the name that the operator has chosen
 * @throws {Error} one line: the log has signed checkpoints under another name
 * @throws {EventStoreUnavailable}
 */
export async function openLog(
  deps: { readonly actors: ActorSystem; readonly clock: Clock },
  name?: string,
): Promise<OpenedLog> {
  const { state } = await deps.actors.read(logAggregate, LOG_ID);
  if (isOpened(state) && (name === undefined || name === state.origin)) return state;
  const origin = `pressledger/${randomBytes(8).toString('hex')}`;
  const command = { type: 'OpenLog', origin, ...(name !== undefined && { name }) } as const;
  const context = firstCommand(deps.clock.now(), { kind: 'service' });
  const outcome = await deps.actors.send(logAggregate, LOG_ID, command, context);
  if (outcome.accepted && isOpened(outcome.state)) return outcome.state;
  throw new Error(
    `LOG_ORIGIN is ${name}, but this log has signed checkpoints as ${state.origin} and keeps that name: ` +
      'take LOG_ORIGIN back.',
  );
}

const isOpened = (state: LogState): state is OpenedLog => state.origin !== undefined;
