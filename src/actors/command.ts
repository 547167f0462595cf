import type { Refusal } from '../domain/decider.ts';
import type { EventMetadata } from '../domain/events.ts';
import type { StagedBlob } from '../blob-store/port.ts';

/** Who sends a command and what goes with it. */
export interface CommandContext {
  /** Unique. The ids of the command's events follow from it. */
  readonly commandId: string;
  readonly metadata: Omit<EventMetadata, 'schemaVersion'>;
  /** Stored with the command's events, which name them; left alone when it appends nothing. */
  readonly blobs?: readonly StagedBlob[];
}

export interface Accepted<State, Event> {
  readonly accepted: true;
  /** The state after this command, before those that were decided after it. */
  readonly state: State;
  /** Empty: nothing changed. */
  readonly events: readonly Event[];
  /** The stream's last revision after this command; -1 where there is no stream. */
  readonly revision: number;
  /** Whoever has read up to here has seen what this answer rests on; absent without a stream. */
  readonly position: bigint | undefined;
}

export type Outcome<State, Event> =
  | Accepted<State, Event>
  | { readonly accepted: false; readonly refusal: Refusal };

/** A command in a mailbox. */
export interface Waiting<State, Command, Event> {
  readonly command: Command;
  readonly context: CommandContext;
  readonly resolve: (outcome: Outcome<State, Event>) => void;
  readonly reject: (error: unknown) => void;
}

/** A stream's state as of one of its events. */
export interface Version<State> {
  readonly state: State;
  /** -1 before the first event; position and event id are then absent. */
  readonly revision: number;
  readonly position: bigint | undefined;
  readonly eventId: string | undefined;
}
