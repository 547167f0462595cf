/** Says that a rendering has begun: at the latest with its outcome, earlier where somebody may look. */
export class StartReport {
  readonly #make: () => Promise<void>;
  readonly #timer: NodeJS.Timeout | undefined;
  #made: Promise<void> | undefined;

  /**
   * @param make must not reject
   * @param afterMs a rendering that ends before has no report of its start alone; 0: each has
   */
  constructor(make: () => Promise<void>, afterMs: number) {
    this.#make = make;
    if (afterMs > 0) this.#timer = setTimeout(() => void this.now(), afterMs);
    else void this.now();
  }

  /** Not made any more, if it is not made yet. */
  drop(): void {
    clearTimeout(this.#timer);
  }

  /** Reports the start alone, at most once: no outcome may follow. Resolves when it is recorded. */
  now(): Promise<void> {
    this.drop();
    return (this.#made ??= this.#make());
  }

  /**
   * The outcome tells it, unless it is told already: then that comes first.
   *
   * @returns whether it is told already
   */
  async leaveToOutcome(): Promise<boolean> {
    this.drop();
    await this.#made;
    return this.#made !== undefined;
  }
}
