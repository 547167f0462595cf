import type { Decider, SnapshotCodec } from '../domain/decider.ts';
import type { DomainEvent } from '../domain/events.ts';

/** A kind of stream: how its streams are named, how they decide, how their state is kept. */
export interface ActorKind<State, Command, Event extends DomainEvent> {
  readonly name: string;
  readonly stream: (id: string) => string;
  readonly decider: Decider<State, Command, Event>;
  readonly snapshot: SnapshotCodec<State>;
}
