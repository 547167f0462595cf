/** Bounds the time of templates that no credit pays: of those that fail, and of previews. */
import { Turns } from '../async/turns.ts';
import type { Budgets } from '../limits/budgets.ts';
import type { FillJob } from '../templates/messages.ts';
import type { FillResult, TemplateThreads } from '../templates/threads.ts';
import type { Clock } from '../time/clock.ts';
import { UnpaidTime } from './unpaid-time.ts';

const TEMPLATE_WORK = {
  what: 'Templates that fail and previews',
  remedy: 'a template or data that is right',
};

const isPaid = ({ filled, problems }: FillResult): boolean =>
  problems.length === 0 && filled.every((each) => 'texts' in each);

export class TemplateTime {
  readonly #threads: Pick<TemplateThreads, 'run'>;
  readonly #time: UnpaidTime;
  /**
   * One job of each account at a time, so that nobody keeps all threads busy alone. What an account has used is known when
   * its jobs before have ended.
   */
  readonly #turns = new Turns();

  constructor(threads: Pick<TemplateThreads, 'run'>, budgets: Budgets, clock: Clock) {
    this.#threads = threads;
    this.#time = new UnpaidTime(budgets.get('maxAccountTemplateMs'), clock, TEMPLATE_WORK);
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
      this.#time.assertLeft(accountId);
      const result = await this.#threads.run(job);
      if (!isFree(result)) this.#time.add(accountId, result.ms);
      return result;
    });
  }
}
