import type { ErrorCode, ErrorDetails } from '../errors/errors.ts';
import type { DomainEvent } from './events.ts';

/** A command that the state does not allow, in terms the client can read. */
export interface Rejection {
  readonly rejected: ErrorCode;
  readonly message?: string;
  readonly details?: ErrorDetails;
}

/** Events to append (none: nothing changes), or why not. */
export type Decision<Event> = readonly Event[] | Rejection;

export function isRejection<Event>(decision: Decision<Event>): decision is Rejection {
  return 'rejected' in decision;
}

/**
 * The rules of one kind of stream: synchronous, pure, total. Time, ids and randomness come in with
 * the command.
 */
export interface Decider<State, Command, Event> {
  readonly initialState: State;
  evolve(state: State, event: Event): State;
  decide(command: Command, state: State): Decision<Event>;
}

/** The form of a state in a node's snapshot cache. */
export interface SnapshotCodec<State> {
  /** Counted up whenever the state's shape or `evolve` changes: older snapshots are then ignored. */
  readonly version: number;
  /** JSON and back. */
  encode(state: State): unknown;
  decode(json: unknown): State;
}

/** One kind of stream: how its streams are named, how they decide, how their state is kept. */
export interface AggregateType<State, Command, Event extends DomainEvent> {
  readonly name: string;
  readonly stream: (id: string) => string;
  readonly decider: Decider<State, Command, Event>;
  readonly snapshot: SnapshotCodec<State>;
  /** Its streams have few events, which come far apart: their state is not kept in memory. */
  readonly isBrief?: boolean;
}
