import type { SnapshotCodec } from '../domain/decider.ts';
import type { Version } from './command.ts';
import type { SnapshotCache } from './snapshots.ts';

/**
 * Events that must come between two snapshots for each millisecond that making one takes: it then
 * costs at most 0.01 ms an event, and reading those events again about as long as making it.
 */
const EVENTS_PER_MS = 100;

interface Stored {
  /** The last event in the state: a stream that holds another one there is not the same stream. */
  readonly eventId: string;
  readonly state: unknown;
}

/** When to keep one stream's state in the node's cache, and in which form. */
export class Snapshotter<State> {
  readonly #codec: SnapshotCodec<State>;
  readonly #cache: SnapshotCache;
  readonly #stream: string;
  #revision = -1;
  #lastCostMs = 0;

  constructor(codec: SnapshotCodec<State>, cache: SnapshotCache, stream: string) {
    this.#codec = codec;
    this.#cache = cache;
    this.#stream = stream;
  }

  /** What the cache holds, not yet checked against the stream; absent also where it cannot be read. */
  read(): Omit<Version<State>, 'position'> | undefined {
    const began = performance.now();
    const found = this.#cache.get(this.#stream, this.#codec.version);
    if (found === undefined) return undefined;
    try {
      const { eventId, state } = JSON.parse(found.json) as Stored;
      const restored = { state: this.#codec.decode(state), revision: found.revision, eventId };
      this.#lastCostMs = performance.now() - began;
      return restored;
    } catch {
      return undefined;
    }
  }

  /** The stream agrees with what `read` gave. */
  confirmed(revision: number): void {
    this.#revision = revision;
  }

  /** @param every fewest events since the last snapshot */
  isDue(revision: number, every: number): boolean {
    return revision - this.#revision >= Math.max(every, this.#lastCostMs * EVENTS_PER_MS);
  }

  /** @throws what the codec throws */
  write({ state, revision, eventId }: Version<State>): void {
    if (eventId === undefined) return;
    const began = performance.now();
    this.#revision = revision;
    const stored: Stored = { eventId, state: this.#codec.encode(state) };
    const json = JSON.stringify(stored);
    this.#cache.put(this.#stream, this.#codec.version, revision, json);
    this.#lastCostMs = performance.now() - began;
  }
}
