import { isRefusal } from '../domain/decider.ts';
import type { DomainEvent } from '../domain/events.ts';
import { encodeEvent } from '../event-store/codec.ts';
import type { AppendResult, NewEvent, Prerequisite } from '../event-store/port.ts';
import { type Attempt, type Attempts, nthEventId } from './attempts.ts';
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
  readonly prerequisites: readonly Prerequisite[];
  readonly attempts: readonly Attempt[];
  readonly verdicts: readonly Verdict<State, Event>[];
}

/** Decides commands one after another, each on the state that the one before leaves. */
export function planBatch<State, Command, Event extends DomainEvent>(
  { decider }: ActorKind<State, Command, Event>,
  stream: string,
  base: Version<State>,
  batch: readonly Waiting<State, Command, Event>[],
  earlier: Attempts<State, Event>,
): Plan<State, Event> {
  let state = base.state;
  const events: NewEvent[] = [];
  const prerequisites: Prerequisite[] = [];
  const attempts: Attempt[] = [];
  // The same command twice in one batch is done once and answered twice.
  const byCommand = new Map<string, Verdict<State, Event>>();

  const judge = ({ command, context }: Waiting<State, Command, Event>): Verdict<State, Event> => {
    const stored = earlier.stored(context);
    if (stored) return { outcome: stored };
    const decision = decider.decide(command, state);
    if (isRefusal(decision)) return { outcome: { accepted: false, refusal: decision } };
    const encoded = decision.map((event, n) =>
      encodeEvent(nthEventId(context.commandId, stream, n), event, context.metadata),
    );
    state = decision.reduce((before, event) => decider.evolve(before, event), state);
    events.push(...encoded);
    const [first] = encoded;
    if (first !== undefined) {
      attempts.push({ commandId: context.commandId, firstEventId: first.id });
      prerequisites.push(...(context.prerequisites ?? []));
    }
    const revision = base.revision + events.length;
    const { position } = base;
    return { outcome: { accepted: true, state, events: decision, revision, position } };
  };

  const verdicts = batch.map((waiting) => {
    const { commandId } = waiting.context;
    let verdict = byCommand.get(commandId);
    if (verdict === undefined) {
      try {
        verdict = judge(waiting);
      } catch (fault) {
        // A fault of one command (an event that is not of its shape) is not its neighbours' fault.
        verdict = { fault };
      }
      byCommand.set(commandId, verdict);
    }
    return verdict;
  });
  return { base, after: state, events, prerequisites, attempts, verdicts };
}

/** The plan of events that the store already held, as another process had sent the same commands. */
export function repeated<State, Event>(
  plan: Plan<State, Event>,
  { state }: Version<State>,
  { revision }: AppendResult,
): Plan<State, Event> {
  const verdicts = plan.verdicts.map((verdict) =>
    'outcome' in verdict && verdict.outcome.accepted
      ? { outcome: { ...verdict.outcome, state, revision } }
      : verdict,
  );
  return { ...plan, verdicts };
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
