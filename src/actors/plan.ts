import type { StagedBlob } from '../blob-store/port.ts';
import { isRefusal } from '../domain/decider.ts';
import type { DomainEvent } from '../domain/events.ts';
import { encodeEvent } from '../event-store/codec.ts';
import type { AppendResult, NewEvent } from '../event-store/port.ts';
import { eventId } from '../ids.ts';
import type { Outcome, Version, Waiting } from './command.ts';
import type { ActorKind } from './kind.ts';

type Verdict<State, Event> =
  | { readonly outcome: Outcome<State, Event> }
  | { readonly fault: unknown };

/** What a batch of commands comes to, decided on one version of the stream. Nothing is stored yet. */
export interface Plan<State, Event> {
  readonly base: Version<State>;
  readonly after: State;
  readonly events: readonly NewEvent[];
  readonly blobs: readonly StagedBlob[];
  readonly verdicts: readonly Verdict<State, Event>[];
}

/** Decides commands one after another, each on the state that the one before leaves. */
export function planBatch<State, Command, Event extends DomainEvent>(
  { decider }: ActorKind<State, Command, Event>,
  stream: string,
  base: Version<State>,
  batch: readonly Waiting<State, Command, Event>[],
): Plan<State, Event> {
  let state = base.state;
  const events: NewEvent[] = [];
  const blobs: StagedBlob[] = [];

  const judge = ({ command, context }: Waiting<State, Command, Event>): Verdict<State, Event> => {
    const decision = decider.decide(command, state);
    if (isRefusal(decision)) return { outcome: { accepted: false, refusal: decision } };
    const encoded = decision.map((event, n) =>
      encodeEvent(eventId(`${context.commandId}/${stream}/${n}`), event, context.metadata),
    );
    state = decision.reduce((before, event) => decider.evolve(before, event), state);
    events.push(...encoded);
    if (encoded.length > 0) blobs.push(...(context.blobs ?? []));
    const revision = base.revision + events.length;
    const { position } = base;
    return { outcome: { accepted: true, state, events: decision, revision, position } };
  };

  const verdicts = batch.map((waiting) => {
    try {
      return judge(waiting);
    } catch (fault) {
      // A fault of one command (an event that is not of its shape) is not its neighbours' fault.
      return { fault };
    }
  });
  return { base, after: state, events, blobs, verdicts };
}

/** Answers a batch whose plan is stored, or needs nothing stored. */
export function answer<State, Command, Event>(
  batch: readonly Waiting<State, Command, Event>[],
  { verdicts }: Plan<State, Event>,
  appended?: AppendResult,
): void {
  for (const [index, verdict] of verdicts.entries()) {
    const waiting = batch[index];
    if (waiting === undefined) continue;
    if ('fault' in verdict) waiting.reject(verdict.fault);
    else if (!verdict.outcome.accepted || appended === undefined) waiting.resolve(verdict.outcome);
    else waiting.resolve({ ...verdict.outcome, position: appended.position });
  }
}
