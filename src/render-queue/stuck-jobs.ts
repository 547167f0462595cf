/** Longer than a job given back waits, and than one of a renderer that died. */
const OVERDUE_MS = 60_000;

/**
 * Jobs in the stream that nobody takes though renderers have free slots: a renderer that was taken over can
 * give one back for years.
 */
export class StuckJobs {
  /** Since when, by conversion. */
  readonly #since = new Map<string, number>();

  /**
   * @param untaken conversions whose job is in the stream and in nobody's hands
   * @param free slots of all renderers
   * @param now milliseconds, of any clock that only goes on
   * @returns those that have been so for too long
   */
  check(untaken: ReadonlySet<string>, free: number, now: number): string[] {
    // Jobs wait as they should while no slot is free.
    if (free <= 0) this.#since.clear();
    else for (const id of untaken) if (!this.#since.has(id)) this.#since.set(id, now);
    for (const id of this.#since.keys()) if (!untaken.has(id)) this.#since.delete(id);
    return [...this.#since].filter(([, since]) => now - since >= OVERDUE_MS).map(([id]) => id);
  }
}
