type Ring = 'lazily' | 'at once';

/** Wakes a sleeping loop: at once for what is urgent, and a little later for what may wait. */
export class TwoBells {
  #rung: Ring | undefined;
  #ended = false;
  #wake: (() => void) | undefined;

  ring(how: Ring): void {
    if (this.#rung !== 'at once') this.#rung = how;
    this.#wake?.();
  }

  /** Forgets what rang before: the loop is about to see to it. */
  reset(): void {
    this.#rung = undefined;
  }

  /** Nobody sleeps any more. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Resolves when that time has passed. */
  async rest(ms: number): Promise<void> {
    await this.#until(ms, () => false);
  }

  /** Resolves after that time, when something urgent rings, or `lazyMs` after something else rings. */
  async sleep(ms: number, lazyMs: number): Promise<void> {
    await this.#until(ms, () => this.#rung !== undefined);
    if (this.#rung === 'lazily') await this.#until(lazyMs, () => this.#rung === 'at once');
  }

  async #until(ms: number, isWoken: () => boolean): Promise<void> {
    const isOver = (): boolean => this.#ended || isWoken();
    if (isOver()) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        if (!isOver()) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }
}
