interface UnderWay {
  readonly accountId: string;
  readonly receiver: string;
  readonly ending: AbortController;
}

/** Deliveries under way by their ids, counted by account and receiver. */
export class DeliveriesUnderWay {
  readonly #all = new Map<string, UnderWay>();
  readonly #counts = new Map<string, number>();

  get size(): number {
    return this.#all.size;
  }

  has(id: string): boolean {
    return this.#all.has(id);
  }

  of(accountOrReceiver: string): number {
    return this.#counts.get(accountOrReceiver) ?? 0;
  }

  add(id: string, delivery: UnderWay): void {
    this.#all.set(id, delivery);
    this.#count(delivery, 1);
  }

  remove(id: string): void {
    const delivery = this.#all.get(id);
    if (delivery !== undefined) this.#count(delivery, -1);
    this.#all.delete(id);
  }

  /** @param accountId of one account alone */
  abort(accountId?: string): void {
    for (const each of this.#all.values()) {
      if (accountId === undefined || each.accountId === accountId) each.ending.abort();
    }
  }

  #count({ accountId, receiver }: UnderWay, by: 1 | -1): void {
    for (const key of [accountId, receiver]) {
      const count = this.of(key) + by;
      if (count === 0) this.#counts.delete(key);
      else this.#counts.set(key, count);
    }
  }
}
