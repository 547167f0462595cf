type Ring = 'lazily' | 'at once';

/** What a loop sleeps by: woken for what is urgent at once, and for what may wait a little later. */
export class TwoBells {
  #rung: Ring | undefined;
  #ended = false;
  #wake: (() => void) | undefined;

  ring(how: Ring): void {
    if (this.#rung !== 'at once') this.#rung = how;
    this.#wake?.();
  }

  /** What rang before is being seen to. */
  reset(): void {
    this.#rung = undefined;
  }

  /** Nobody sleeps any more. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Until that time has passed. */
  async rest(ms: number): Promise<void> {
    await this.#until(ms, () => false);
  }

  /** Until that time has passed, or what is urgent rings; what is not, when it has waited for `lazyMs`. */
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
