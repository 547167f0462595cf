const LONGEST_MS = 15 * 60_000;

/**
 * What failed and is left alone for a while, so that it does not hold up what is behind it. Each failure doubles the rest.
 * It is kept in memory: after a start all are tried at once.
 */
export class Resting {
  readonly #items = new Map<string, { readonly failures: number; readonly until: number }>();
  readonly #firstMs: number;
  #lookedAt = 0;

  constructor(firstMs: number) {
    this.#firstMs = firstMs;
  }

  failed(id: string, now = performance.now()): void {
    const failures = (this.#items.get(id)?.failures ?? 0) + 1;
    const restMs = Math.min(LONGEST_MS, this.#firstMs * 2 ** (failures - 1));
    this.#items.set(id, { failures, until: now + restMs });
  }

  done(id: string): void {
    this.#items.delete(id);
  }

  /** The first of a list, without those that rest. @param list gives the first rows, as many as are asked for */
  awake<Row>(
    list: (limit: number) => readonly Row[],
    idOf: (row: Row) => string,
    limit: number,
    now = performance.now(),
  ): readonly Row[] {
    this.#lookedAt = now;
    // What nobody has asked for again has ended otherwise.
    for (const [id, { until }] of this.#items) if (until + LONGEST_MS < now) this.#items.delete(id);
    return list(limit + this.#items.size)
      .filter((row) => (this.#items.get(idOf(row))?.until ?? 0) <= now)
      .slice(0, limit);
  }

  /** Milliseconds until the first of those that rested at the last look may be tried; Infinity where none did. */
  nextMs(now = performance.now()): number {
    const ends = [...this.#items.values()].filter(({ until }) => until > this.#lookedAt);
    return Math.min(...ends.map(({ until }) => Math.max(0, until - now)));
  }
}
