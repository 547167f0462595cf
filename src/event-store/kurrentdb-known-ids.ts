/** Which events a stream holds: what the server does not check when an append is at the right revision. */
import type { KurrentDbClient } from './kurrentdb-client.ts';
import type { NewEvent } from './port.ts';

/** A repeated append is recognised among so many events before its place in the stream. */
const LOOK_BACK = 1_000;
/** Ids remembered of all streams together; each takes some 150 bytes. */
const MOST_IDS = 100_000;

export interface Place {
  readonly revision: number;
  /** Undefined where it was appended together with others and has not been read since. */
  readonly position: bigint | undefined;
}

type Seen = Place & { readonly id: string };

interface Known {
  /** Every event from this revision to the last known one is known. */
  from: number;
  /** -1 where there is none. */
  last: number;
  byId: Map<string, Place>;
}

export class KnownIds {
  readonly #client: KurrentDbClient;
  readonly #streams = new Map<string, Known>();
  #count = 0;

  constructor(client: KurrentDbClient) {
    this.#client = client;
  }

  /** To be told of events that were read or appended: consecutive ones of one stream, in any direction. */
  saw(stream: string, events: readonly Seen[]): void {
    const [first, last] = [events[0], events.at(-1)];
    if (first === undefined || last === undefined) return;
    const from = Math.min(first.revision, last.revision);
    this.#extend(stream, from, Math.max(first.revision, last.revision), events);
  }

  /**
   * Reads what is not known yet of a stream.
   * @param revision at least up to this one, where the stream goes so far
   * @returns its last known revision, -1 where there is none
   * @throws {EventStoreUnavailable}
   */
  async cover(stream: string, revision: number): Promise<number> {
    const known = this.#streams.get(stream);
    if (known === undefined) return this.#readBack(stream, revision);
    if (known.last < revision) {
      const limit = revision - known.last;
      if (limit > LOOK_BACK) return this.#readBack(stream, revision);
      const range = { from: known.last + 1, limit, backwards: false };
      this.saw(stream, await this.#client.readStream(stream, range));
    }
    const { from, last } = this.#streams.get(stream) ?? known;
    const needed = Math.max(0, revision - LOOK_BACK + 1);
    if (from <= needed) return last;
    const range = { from: from - 1, limit: from - needed, backwards: true };
    const earlier = await this.#client.readStream(stream, range);
    this.#extend(stream, needed, from - 1, earlier);
    return last;
  }

  /**
   * Where the last of these lies, if all lie in the stream one after another; undefined where none
   * does. To be asked after `cover`.
   */
  place(stream: string, events: readonly NewEvent[]): Place | 'otherwise' | undefined {
    const byId = this.#streams.get(stream)?.byId;
    const places = events.map(({ id }) => byId?.get(id));
    if (places.every((place) => place === undefined)) return undefined;
    const first = places[0]?.revision ?? -1;
    const inOrder = places.every((place, n) => place?.revision === first + n);
    return (inOrder && places.at(-1)) || 'otherwise';
  }

  /** What is known of a stream may be wrong: an older state of it was put back. */
  forget(stream: string): void {
    this.#count -= this.#streams.get(stream)?.byId.size ?? 0;
    this.#streams.delete(stream);
  }

  async #readBack(stream: string, revision: number): Promise<number> {
    const range = { from: revision, limit: LOOK_BACK, backwards: true };
    const events = await this.#client.readStream(stream, range);
    const last = events[0]?.revision ?? -1;
    this.forget(stream);
    if (last >= 0) this.#extend(stream, Math.max(0, last - LOOK_BACK + 1), last, events);
    return last;
  }

  #extend(stream: string, from: number, last: number, events: readonly Seen[]): void {
    let known = this.#streams.get(stream);
    if (known !== undefined && (from > known.last + 1 || last < known.from - 1)) {
      if (last < known.from) return;
      this.forget(stream);
      known = undefined;
    }
    known ??= { from, last, byId: new Map() };
    known.from = Math.min(known.from, from);
    known.last = Math.max(known.last, last);
    this.#count -= known.byId.size;
    for (const { id, revision, position } of events) {
      // Written twice by others than this adapter, the first place counts.
      const earlier = known.byId.get(id);
      if (earlier === undefined || earlier.revision >= revision) {
        known.byId.set(id, { revision, position: position ?? earlier?.position });
      }
    }
    if (known.byId.size > 2 * LOOK_BACK) trim(known);
    this.#count += known.byId.size;
    // The last in the map is the one used last.
    this.#streams.delete(stream);
    this.#streams.set(stream, known);
    for (const oldest of this.#streams.keys()) {
      if (this.#count <= MOST_IDS || oldest === stream) break;
      this.forget(oldest);
    }
  }
}

function trim(known: Known): void {
  known.from = Math.max(known.from, known.last - LOOK_BACK + 1);
  const kept = [...known.byId].filter(([, { revision }]) => revision >= known.from);
  known.byId = new Map(kept);
}
