/** Runs the work of each key one after the other, so that who asks often keeps nobody else waiting. */
export class Turns {
  /** The last of each key that has any under way. */
  readonly #last = new Map<string, Promise<void>>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const { promise, resolve: end } = Promise.withResolvers<void>();
    this.#last.set(key, promise);
    try {
      await before;
      return await work();
    } finally {
      end();
      if (this.#last.get(key) === promise) this.#last.delete(key);
    }
  }
}
