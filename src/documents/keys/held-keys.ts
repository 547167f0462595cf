import { ACCOUNT_ID } from '../../domain/ids.ts';

/** Data keys held in memory, the most recently used: 10,000 are about 1 MB. */
const HELD_KEYS = 10_000;
const ID = new RegExp(`^${ACCOUNT_ID}$`);

export class HeldKeys<T> {
  readonly #held = new Map<string, T>();

  get(accountId: string): T | undefined {
    return this.#held.get(accountId);
  }

  set(accountId: string, value: T): void {
    this.#held.delete(accountId);
    this.#held.set(accountId, value);
    if (this.#held.size <= HELD_KEYS) return;
    const [oldest] = this.#held.keys();
    if (oldest !== undefined) this.#held.delete(oldest);
  }

  delete(accountId: string): void {
    this.#held.delete(accountId);
  }
}

/** @throws {TypeError} not an id: nothing else may ever become a part of a path */
export function checkAccountId(accountId: string): string {
  if (!ID.test(accountId)) {
    throw new TypeError(`${JSON.stringify(accountId)} is not the id of an account.`);
  }
  return accountId;
}
