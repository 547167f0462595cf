/** Tells everybody who waits for a tab when it dies. */
export class Life {
  #gone: Error | undefined;
  /** Callbacks for the end. One promise that all race against would keep every answer. */
  readonly #waiting = new Set<(gone: Error) => void>();

  /** Rejects all waits, and those to come. The first reason stays. */
  end(reason: Error): void {
    this.#gone ??= reason;
    for (const tell of this.#waiting) tell(this.#gone);
  }

  /** Settles as `promise` does, but rejects at once when the tab dies. */
  async untilGone<T>(promise: Promise<T>): Promise<T> {
    const { promise: gone, reject } = Promise.withResolvers<never>();
    if (this.#gone) {
      promise.catch(() => {});
      throw this.#gone;
    }
    this.#waiting.add(reject);
    try {
      return await Promise.race([promise, gone]);
    } finally {
      this.#waiting.delete(reject);
    }
  }
}
