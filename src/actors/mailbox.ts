/** What waits for one stream, first come, first served, never more than `capacity`. */
export class Mailbox<Item> {
  readonly #capacity: number;
  readonly #items: Item[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#items.length;
  }

  /** False when it is full: the item was not taken. */
  offer(item: Item): boolean {
    if (this.#items.length >= this.#capacity) return false;
    this.#items.push(item);
    return true;
  }

  /** Everything that waits, up to `most`. */
  take(most: number): readonly Item[] {
    return this.#items.splice(0, most);
  }
}
