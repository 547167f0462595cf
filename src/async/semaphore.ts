/** A first-in, first-out semaphore. */
export class Semaphore {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Resolves to a release function, which is safe to call twice; or to undefined once `stopping` is
   * aborted.
   */
  acquire(): Promise<() => void>;
  acquire(stopping: AbortSignal): Promise<(() => void) | undefined>;
  async acquire(stopping?: AbortSignal): Promise<(() => void) | undefined> {
    if (stopping?.aborted) return undefined;
    if (this.#free > 0) this.#free -= 1;
    else if (!(await this.#turn(stopping))) return undefined;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const [next] = this.#waiting;
      if (next) next();
      else this.#free += 1;
    };
  }

  /** @returns whether it got the slot of another; false when it was stopped before */
  #turn(stopping: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (got: boolean): void => {
        this.#waiting.delete(take);
        stopping?.removeEventListener('abort', leave);
        resolve(got);
      };
      const take = (): void => end(true);
      const leave = (): void => end(false);
      this.#waiting.add(take);
      stopping?.addEventListener('abort', leave);
    });
  }
}
