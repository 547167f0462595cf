/** The key of a request whose outcome is not known, for which it is sent again: it must not count twice. */
export class IdempotencyKeys {
  #open: { readonly body: string; readonly key: string } | undefined;

  keyFor(body: string): string {
    if (this.#open?.body !== body) this.#open = { body, key: crypto.randomUUID() };
    return this.#open.key;
  }

  /** @param status of the answer; one of 500 and more does not tell what has happened */
  answered(status: number): void {
    if (status < 500) this.#open = undefined;
  }
}
