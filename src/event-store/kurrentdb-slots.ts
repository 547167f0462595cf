/** Lets so many in at a time, in the order in which they came. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** @returns to be called once, when leaving */
  async enter(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((admit) => this.#waiting.push(admit));
    return () => {
      const admit = this.#waiting.shift();
      if (admit === undefined) this.#free += 1;
      else admit();
    };
  }
}
