/** Bounds the time of templates that no credit pays: of those that fail, and of previews. */
import { Turns } from '../async/turns.ts';
import { BudgetExceeded, type Budgets } from '../limits/budgets.ts';
import type { FillJob } from '../templates/messages.ts';
import type { FillResult, TemplateThreads } from '../templates/threads.ts';
import type { Clock } from '../time/clock.ts';

const MINUTE_MS = 60_000;
/** Above so many accounts, those whose time is over are forgotten. */
const MANY_ACCOUNTS = 1_000;

/** Unpaid time of an account, as of a moment. It goes down by what a minute allows, minute by minute. */
interface Used {
  readonly ms: number;
  readonly at: number;
}

const isPaid = ({ filled, problems }: FillResult): boolean =>
  problems.length === 0 && filled.every((each) => 'texts' in each);

export class TemplateTime {
  readonly #threads: Pick<TemplateThreads, 'run'>;
  readonly #budget: ReturnType<Budgets['get']>;
  readonly #clock: Clock;
  readonly #used = new Map<string, Used>();
  /**
   * One job of each account at a time, so that nobody keeps all threads busy alone. What an account has used is known when
   * its jobs before have ended.
   */
  readonly #turns = new Turns();

  constructor(threads: Pick<TemplateThreads, 'run'>, budgets: Budgets, clock: Clock) {
    this.#threads = threads;
    this.#budget = budgets.get('maxAccountTemplateMs');
    this.#clock = clock;
  }

  /**
   * Fills a template for conversions: its time counts where it fails.
   * @throws {BudgetExceeded} the account has used its time
   * @throws {ServiceError} `service_unavailable`
   */
  async fill(accountId: string, job: FillJob): Promise<FillResult> {
    return await this.#run(accountId, job, isPaid);
  }

  /** Fills a template to look at it: its time always counts. Throws as `fill` does. */
  async preview(accountId: string, job: FillJob): Promise<FillResult> {
    return await this.#run(accountId, job, () => false);
  }

  async #run(
    accountId: string,
    job: FillJob,
    isFree: (result: FillResult) => boolean,
  ): Promise<FillResult> {
    return await this.#turns.run(accountId, async () => {
      this.#assertLeft(accountId);
      const result = await this.#threads.run(job);
      if (!isFree(result)) this.#add(accountId, result.ms);
      return result;
    });
  }

  #usedNow(accountId: string): number {
    const now = this.#clock.now();
    const { ms, at } = this.#used.get(accountId) ?? { ms: 0, at: now };
    // A clock that was set back neither adds time nor stops it from going down.
    if (at > now) this.#used.set(accountId, { ms, at: now });
    return Math.max(0, ms - (Math.max(0, now - at) * this.#budget.limit) / MINUTE_MS);
  }

  /** @throws {BudgetExceeded} */
  #assertLeft(accountId: string): void {
    const { limit } = this.#budget;
    const beyond = this.#usedNow(accountId) - limit;
    if (beyond < 0) return;
    this.#budget.refuse();
    const seconds = Math.floor(((beyond / limit) * MINUTE_MS) / 1000) + 1;
    throw new BudgetExceeded(
      'client',
      `Templates that fail and previews of the account have taken more than the ${limit / 1000} s a minute that they may. ` +
        `Try again in ${seconds} s, with a template or data that is right.`,
      seconds,
    );
  }

  #add(accountId: string, ms: number): void {
    this.#used.set(accountId, { ms: this.#usedNow(accountId) + ms, at: this.#clock.now() });
    if (this.#used.size <= MANY_ACCOUNTS) return;
    for (const each of this.#used.keys()) if (this.#usedNow(each) === 0) this.#used.delete(each);
  }
}
