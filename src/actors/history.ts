import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DomainEvent } from '../domain/events.ts';
import { decodeEvent } from '../event-store/codec.ts';
import type { EventStore, RecordedEvent } from '../event-store/port.ts';
import type { Version } from './command.ts';
import type { ActorKind } from './kind.ts';
import type { Snapshotter } from './snapshotter.ts';

/** Reads one stream's state out of the event store: from a snapshot, from the beginning, or on. */
export class History<State, Command, Event extends DomainEvent> {
  readonly #kind: ActorKind<State, Command, Event>;
  readonly #stream: string;
  readonly #store: EventStore;
  readonly #page: number;
  readonly #snapshotter: Snapshotter<State>;

  constructor(
    kind: ActorKind<State, Command, Event>,
    stream: string,
    store: EventStore,
    page: number,
    snapshotter: Snapshotter<State>,
  ) {
    this.#kind = kind;
    this.#stream = stream;
    this.#store = store;
    this.#page = page;
    this.#snapshotter = snapshotter;
  }

  /** The stream as of now, from its snapshot where the stream holds the snapshot's last event. */
  async load(): Promise<Version<State>> {
    const snapshot = this.#snapshotter.read();
    if (snapshot !== undefined) {
      const from = snapshot.revision;
      const events = await this.#store.readStream(this.#stream, { from, limit: this.#page });
      const [last, ...newer] = events;
      if (last?.revision === from && last.id === snapshot.eventId) {
        this.#snapshotter.confirmed(from);
        const version = this.#evolve({ ...snapshot, position: last.position }, newer);
        return events.length < this.#page ? version : this.readOn(version);
      }
    }
    const { initialState: state } = this.#kind.decider;
    return this.readOn({ state, revision: -1, position: undefined, eventId: undefined });
  }

  /** The stream as of now, from a version of it; that very version where nothing came since. */
  async readOn(known: Version<State>): Promise<Version<State>> {
    let version = known;
    for (;;) {
      const from = version.revision + 1;
      const events = await this.#store.readStream(this.#stream, { from, limit: this.#page });
      version = this.#evolve(version, events);
      if (events.length < this.#page) return version;
      await nextTurn();
    }
  }

  #evolve(known: Version<State>, events: readonly RecordedEvent[]): Version<State> {
    let version = known;
    for (const recorded of events) {
      // The kind's own streams hold its own events: nothing else writes them.
      const event = decodeEvent(recorded) as Event;
      const state = this.#kind.decider.evolve(version.state, event);
      const { revision, position, id } = recorded;
      version = { state, revision, position, eventId: id };
    }
    return version;
  }
}
