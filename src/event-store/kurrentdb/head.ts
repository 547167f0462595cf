import { within } from '../../within.ts';
import type { KurrentDbClient } from './client.ts';
import { EventStoreUnavailable } from '../port.ts';

/** Events at the end of the log that are looked at before the server is asked to search for ours. */
const LOOKS = [1, 32];
/** Longest that a caller waits for a search; the search itself goes on for those who ask later. */
const WAIT_MS = 8_000;

type LogSearch = Pick<KurrentDbClient, 'readTail' | 'findAfter' | 'findBefore'>;

interface Tail {
  /** Where the log ends. */
  readonly end: bigint;
  /** Our last event; undefined where it is not among those looked at. */
  readonly head: bigint | undefined;
  /** Everything from here on is looked at. */
  readonly from: bigint;
}

/**
 * Finds our last event in a log that holds others' events too (the server writes its own). What lies
 * before the end that was known last is not looked at again, however much others write.
 */
export class LogHead {
  readonly #client: LogSearch;
  readonly #waitMs: number;
  /** Where the log ended when it was looked at last, and where our last event was. */
  #known = { end: 0n, head: 0n };
  #search: Promise<bigint> | undefined;

  constructor(client: LogSearch, waitMs = WAIT_MS) {
    this.#client = client;
    this.#waitMs = waitMs;
  }

  /** 0n where there is none. @throws {EventStoreUnavailable} also while a long search goes on */
  async read(): Promise<bigint> {
    const until = performance.now() + this.#waitMs;
    for (;;) {
      const tail = await this.#look();
      if (tail.head !== undefined) return this.#remember(tail.end, tail.head);
      const running = this.#search;
      const leftMs = Math.max(1, until - performance.now());
      const found = await within(leftMs, running ?? this.#begin(tail), stillSearching);
      // A search that began before this look may not know what has been written since.
      if (running === undefined) return found;
    }
  }

  async #look(): Promise<Tail> {
    const known = this.#known;
    let end: bigint | undefined;
    let from: bigint | undefined;
    for (const limit of LOOKS) {
      const events = await this.#client.readTail(from, limit);
      end ??= events[0]?.position ?? 0n;
      for (const { position, isOurs } of events) {
        if (position <= known.end) return { end, head: known.head, from: position };
        if (isOurs) return { end, head: position, from: position };
        from = position;
      }
      if (events.length < limit) return { end, head: 0n, from: 0n };
    }
    return { end: end ?? 0n, head: undefined, from: from ?? 0n };
  }

  #begin(tail: Tail): Promise<bigint> {
    const search = this.#searchBelow(tail).finally(() => {
      this.#search = undefined;
    });
    // Those who asked may have left.
    search.catch(() => {});
    this.#search = search;
    return search;
  }

  async #searchBelow({ end, from }: Tail): Promise<bigint> {
    const known = this.#known;
    const first = known.end === 0n ? 0n : await this.#client.findAfter(known.end);
    // Backwards the server would search past the known end, to the last of ours wherever that is.
    const anyNew = first !== undefined && first < from;
    const head = anyNew ? await this.#client.findBefore(from) : undefined;
    return this.#remember(end, head ?? known.head);
  }

  #remember(end: bigint, head: bigint): bigint {
    if (end > this.#known.end) this.#known = { end, head };
    return head;
  }
}

const stillSearching = (): Error =>
  new EventStoreUnavailable('The end of the log is still searched for.');
