/** Which worker a document should go to: one with a warm tab of its account, else the longest idle. */
import { WARM_ACCOUNTS } from './chrome/warm-tabs.ts';

export class Affinity {
  /** By worker, the accounts it is warm for; workers and accounts used last come last. */
  readonly #accounts = new Map<number, readonly string[]>();

  /** @param idle workers that have nothing to do; at least one */
  choose(accountId: string, idle: readonly number[]): number | undefined {
    const used = [...this.#accounts.keys()];
    const lastUsed = (worker: number): number => used.indexOf(worker);
    const inTurn = idle.toSorted((a, b) => lastUsed(a) - lastUsed(b));
    const warm = inTurn.findLast((each) => this.#accounts.get(each)?.includes(accountId));
    const chosen = warm ?? inTurn[0];
    if (chosen !== undefined) this.#note(chosen, accountId);
    return chosen;
  }

  /** Workers that are no more are forgotten. */
  keep(living: readonly number[]): void {
    for (const worker of this.#accounts.keys()) {
      if (!living.includes(worker)) this.#accounts.delete(worker);
    }
  }

  #note(worker: number, accountId: string): void {
    const others = (this.#accounts.get(worker) ?? []).filter((each) => each !== accountId);
    this.#accounts.delete(worker);
    this.#accounts.set(worker, [...others, accountId].slice(-WARM_ACCOUNTS));
  }
}
