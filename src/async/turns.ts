import { Semaphore } from './semaphore.ts';

/** Runs the work of each key one after the other, so that who asks often keeps nobody else waiting. */
export class Turns {
  /** The last of each key that has any under way. */
  readonly #last = new Map<string, Promise<void>>();
  readonly #places: Semaphore;

  /** @param atOnce the works of all keys that may be under way at once */
  constructor(atOnce = Infinity) {
    this.#places = new Semaphore(atOnce);
  }

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const { promise, resolve: end } = Promise.withResolvers<void>();
    this.#last.set(key, promise);
    let release: (() => void) | undefined;
    try {
      await before;
      release = await this.#places.acquire();
      return await work();
    } finally {
      release?.();
      end();
      if (this.#last.get(key) === promise) this.#last.delete(key);
    }
  }
}
