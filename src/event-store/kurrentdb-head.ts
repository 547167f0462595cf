import type { KurrentDbClient } from './kurrentdb-client.ts';

/** Events at the end of the log that are looked at before the server is asked to search for ours. */
const LOOKS = [1, 32];

/**
 * Finds our last event in a log that holds others' events too (the server writes its own). A filtered
 * read alone would do, but the server goes on searching for a second event after it has found the first.
 */
export class LogHead {
  readonly #client: KurrentDbClient;
  /** Where the log ended when it was looked at last, and where our last event was. */
  #known = { end: 0n, head: 0n };

  constructor(client: KurrentDbClient) {
    this.#client = client;
  }

  /** 0n where there is none. @throws {EventStoreUnavailable} */
  async read(): Promise<bigint> {
    const known = this.#known;
    let end: bigint | undefined;
    let from: bigint | undefined;
    for (const limit of LOOKS) {
      const tail = await this.#client.readTail(from, limit);
      end ??= tail[0]?.position ?? 0n;
      for (const { position, isOurs } of tail) {
        if (position <= known.end) return this.#remember(end, known.head);
        if (isOurs) return this.#remember(end, position);
        from = position;
      }
      if (tail.length < limit) return this.#remember(end, 0n);
    }
    const [last] = await this.#client.readAll({ from, limit: 1, backwards: true });
    return this.#remember(end ?? 0n, last?.position ?? 0n);
  }

  #remember(end: bigint, head: bigint): bigint {
    if (end > this.#known.end) this.#known = { end, head };
    return head;
  }
}
