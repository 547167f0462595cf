/** Bounds the time of an account's work that no credit pays. */
import type { Clock } from '../time/clock.ts';
import { type Budget, BudgetExceeded } from '../limits/budgets.ts';

const MINUTE_MS = 60_000;
/** Above so many accounts, those whose time is over are forgotten. */
const MANY_ACCOUNTS = 1_000;

/** Unpaid time of an account, as of a moment. It goes down by what a minute allows, minute by minute. */
interface Used {
  readonly ms: number;
  readonly at: number;
}

/** What a refusal says: what has taken too long, and with what to try again. */
export interface UnpaidWork {
  readonly what: string;
  readonly remedy: string;
}

export class UnpaidTime {
  readonly #budget: Budget;
  readonly #clock: Clock;
  readonly #work: UnpaidWork;
  readonly #used = new Map<string, Used>();

  /** @param budget its limit is the milliseconds that a minute allows */
  constructor(budget: Budget, clock: Clock, work: UnpaidWork) {
    this.#budget = budget;
    this.#clock = clock;
    this.#work = work;
  }

  /** @throws {BudgetExceeded} the account has used its time */
  assertLeft(accountId: string): void {
    const { limit } = this.#budget;
    const beyond = this.#usedNow(accountId) - limit;
    if (beyond < 0) return;
    this.#budget.refuse();
    const seconds = Math.floor(((beyond / limit) * MINUTE_MS) / 1000) + 1;
    const { what, remedy } = this.#work;
    throw new BudgetExceeded(
      'client',
      `${what} have taken more than the ${limit / 1000} s a minute that an account may use for them. ` +
        `Try again in ${seconds} s, with ${remedy}.`,
      seconds,
    );
  }

  add(accountId: string, ms: number): void {
    this.#used.set(accountId, { ms: this.#usedNow(accountId) + ms, at: this.#clock.now() });
    if (this.#used.size <= MANY_ACCOUNTS) return;
    for (const each of this.#used.keys()) if (this.#usedNow(each) === 0) this.#used.delete(each);
  }

  #usedNow(accountId: string): number {
    const now = this.#clock.now();
    const { ms, at } = this.#used.get(accountId) ?? { ms: 0, at: now };
    // A clock that was set back neither adds time nor stops it from going down.
    if (at > now) this.#used.set(accountId, { ms, at: now });
    return Math.max(0, ms - (Math.max(0, now - at) * this.#budget.limit) / MINUTE_MS);
  }
}
