/** Pauses of which all can be ended before their time. */
export class Pauses {
  readonly #ends = new Set<() => void>();

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#ends.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.#ends.add(end);
    });
  }

  endAll(): void {
    for (const end of this.#ends) end();
  }
}
