import { eventId } from '../ids.ts';
import type { RecordedEvent } from '../event-store/port.ts';
import type { Accepted, CommandContext, Version } from './command.ts';

/** Unanswered commands remembered per warm stream; each takes some 200 bytes. */
const MOST = 2_000;

/** A command that appends something. */
export interface Attempt {
  readonly commandId: string;
  readonly firstEventId: string;
}

/** The id of the nth event that a command appends to a stream. */
export const nthEventId = (commandId: string, stream: string, n: number): string =>
  eventId(`${commandId}/${stream}/${n}`);

/**
 * Commands whose append was tried and not acknowledged. If their events turn up in the stream, they
 * were stored after all, and sending the command again gives that result instead of doing it twice.
 */
export class Attempts<State, Event> {
  readonly #stream: string;
  /** First event id → command id. */
  readonly #tried = new Map<string, string>();
  readonly #stored = new Map<string, Accepted<State, Event>>();
  #next: { readonly commandId: string; readonly eventId: string } | undefined;

  constructor(stream: string) {
    this.#stream = stream;
  }

  tried({ commandId, firstEventId }: Attempt): void {
    this.#tried.set(firstEventId, commandId);
    forgetOldest(this.#tried);
  }

  acknowledged({ firstEventId }: Attempt): void {
    this.#tried.delete(firstEventId);
  }

  /** To be told of every event that is read, with the state after it. */
  seen(recorded: RecordedEvent, event: Event, after: Version<State>): void {
    if (this.#tried.size === 0 && this.#next === undefined) return;
    const follows = this.#next?.eventId === recorded.id ? this.#next.commandId : undefined;
    const commandId = follows ?? this.#tried.get(recorded.id);
    if (commandId === undefined) return;
    const earlier = follows === undefined ? [] : (this.#stored.get(commandId)?.events ?? []);
    const events = [...earlier, event];
    const { state, revision, position } = after;
    this.#tried.delete(recorded.id);
    this.#stored.set(commandId, { accepted: true, state, events, revision, position });
    forgetOldest(this.#stored);
    this.#next = { commandId, eventId: nthEventId(commandId, this.#stream, events.length) };
  }

  /** The result of a command that turned out to be stored. */
  stored({ commandId }: CommandContext): Accepted<State, Event> | undefined {
    return this.#stored.get(commandId);
  }
}

function forgetOldest(map: Map<string, unknown>): void {
  if (map.size <= MOST) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
