/** The key of a request that got no answer, for which it is sent again: it must not count twice. */
export class IdempotencyKeys {
  #unanswered: { readonly body: string; readonly key: string } | undefined;

  keyFor(body: string): string {
    if (this.#unanswered?.body !== body) this.#unanswered = { body, key: crypto.randomUUID() };
    return this.#unanswered.key;
  }

  answered(): void {
    this.#unanswered = undefined;
  }
}
