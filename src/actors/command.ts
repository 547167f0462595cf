/** The terms of the actors: the kinds of aggregates, the commands to them, and their answers. */
import type { StagedBlob } from '../documents/port.ts';
import type { Rejection } from '../domain/decider.ts';
import type { EventMetadata } from '../domain/event-metadata.ts';

/** The sender of a command, and the blobs that its events name. */
export interface CommandContext {
  /** Unique. The ids of the command's events follow from it. */
  readonly commandId: string;
  readonly metadata: Omit<EventMetadata, 'schemaVersion'>;
  /** Stored with the command's events, which name them; left alone when it appends nothing. */
  readonly blobs?: readonly StagedBlob[];
  /** The metadata of the events after the first, where that says for all of them what is left out here. */
  readonly laterMetadata?: Omit<EventMetadata, 'schemaVersion'>;
  /** Decided in an append of its own: its events are as many as one append takes. */
  readonly isLarge?: boolean;
  /** Its stream most likely has no events: it is decided so without a look, which the append proves. */
  readonly beginsStream?: boolean;
}

export interface Accepted<State, Event> {
  readonly accepted: true;
  /** The state after this command, before those that were decided after it. */
  readonly state: State;
  /** Empty: nothing changed. */
  readonly events: readonly Event[];
  /** The stream's last revision after this command; -1 if there is no stream. */
  readonly revision: number;
  /** A reader that has come to here has seen the events that this answer rests on; absent without a stream. */
  readonly position: bigint | undefined;
}

export type Outcome<State, Event> =
  | Accepted<State, Event>
  | { readonly accepted: false; readonly rejection: Rejection };

/** A stream's state as of one of its events. */
export interface Version<State> {
  readonly state: State;
  /** -1 before the first event; position and event id are then absent. */
  readonly revision: number;
  readonly position: bigint | undefined;
  readonly eventId: string | undefined;
}

export interface Limits {
  /** Commands that may wait for one stream; more are refused with 503. */
  readonly mailbox: number;
  /** Commands decided together. An event store server takes 1 MiB in one append. */
  readonly batch: number;
  /** Appends tried for one batch before version conflicts end in 503. */
  readonly attempts: number;
  /** Events read in one go; the event loop gets its turn between two. */
  readonly page: number;
  /** Streams whose state is cached. */
  readonly cached: number;
  /** Milliseconds after which an unused stream is let go. */
  readonly idleMs: number;
  /** Events between two snapshots of a cached stream, at least. */
  readonly snapshotEvery: number;
  /** Events since the last snapshot that make one worth while when a stream is let go. */
  readonly snapshotOnRelease: number;
}

export const DEFAULT_LIMITS: Limits = {
  mailbox: 2_000,
  batch: 256,
  attempts: 50,
  page: 1_000,
  cached: 10_000,
  idleMs: 60_000,
  snapshotEvery: 100,
  snapshotOnRelease: 50,
};
