/** A batch of commands that waited at one stream: decided on one version of it, stored together, then answered. */
import type { StagedBlob } from '../documents/port.ts';
import { type Decider, isRejection } from '../domain/decider.ts';
import type { DomainEvent } from '../domain/events.ts';
import { encodeEvent } from '../event-store/codec.ts';
import type { AppendResult, NewEvent } from '../event-store/port.ts';
import { eventId } from '../time/ids.ts';
import type { CommandContext, Outcome, Version } from './command.ts';

/** A command that waits for its answer. */
export interface Waiting<State, Command, Event> {
  readonly command: Command;
  readonly context: CommandContext;
  readonly resolve: (outcome: Outcome<State, Event>) => void;
  readonly reject: (error: unknown) => void;
}

type Decided<State, Event> =
  | { readonly outcome: Outcome<State, Event> }
  | { readonly error: unknown };

/** The result of a batch of commands, decided on one version of the stream. Nothing is stored yet. */
export interface Batch<State, Event> {
  readonly after: State;
  readonly events: readonly NewEvent[];
  readonly blobs: readonly StagedBlob[];
  readonly decided: readonly Decided<State, Event>[];
}

/** Decides commands one after another, each on the state that the one before leaves. */
export function decideBatch<State, Command, Event extends DomainEvent>(
  decider: Decider<State, Command, Event>,
  stream: string,
  base: Version<State>,
  waiting: readonly Waiting<State, Command, Event>[],
): Batch<State, Event> {
  let { state } = base;
  const events: NewEvent[] = [];
  const blobs: StagedBlob[] = [];

  const decideOne = (command: Command, context: CommandContext): Outcome<State, Event> => {
    const decision = decider.decide(command, state);
    if (isRejection(decision)) return { accepted: false, rejection: decision };
    const encoded = decision.map((event, n) => {
      const id = eventId(`${context.commandId}/${stream}/${n}`);
      const { metadata, laterMetadata = metadata } = context;
      return encodeEvent(id, event, n === 0 ? metadata : laterMetadata);
    });
    state = decision.reduce((before, event) => decider.evolve(before, event), state);
    events.push(...encoded);
    if (encoded.length > 0) blobs.push(...(context.blobs ?? []));
    const revision = base.revision + events.length;
    return { accepted: true, state, events: decision, revision, position: base.position };
  };

  const decided = waiting.map(({ command, context }): Decided<State, Event> => {
    try {
      return { outcome: decideOne(command, context) };
    } catch (error) {
      // The fault of one command (an event that is not of its shape) is not its neighbours' fault.
      return { error };
    }
  });
  return { after: state, events, blobs, decided };
}

/** Answers commands whose batch is stored, or needs nothing stored. */
export function answer<State, Command, Event>(
  waiting: readonly Waiting<State, Command, Event>[],
  { decided }: Batch<State, Event>,
  appended?: AppendResult,
): void {
  for (const [index, each] of decided.entries()) {
    const { resolve, reject } = waiting[index] ?? {};
    if ('error' in each) reject?.(each.error);
    else if (!each.outcome.accepted || appended === undefined) resolve?.(each.outcome);
    else resolve?.({ ...each.outcome, position: appended.position });
  }
}
