/** Bounds the time of work on PDFs that fails: its credit comes back. */
import { conversionQueries } from '../../projections/conversions.ts';
import type { ConversionFailureCode } from '../domain/choices.ts';
import type { EventOf } from '../domain/events.ts';
import type { Budgets } from '../limits/budgets.ts';
import type { Log } from '../log/log-origin.ts';
import { UnpaidTime } from './unpaid-time.ts';

/** Failures that are the service's own. */
const OURS: ReadonlySet<ConversionFailureCode> = new Set(['renderer_failed', 'account_erased']);

const DOCUMENT_WORK = {
  what: 'Conversions of PDFs that failed or were cancelled',
  remedy: 'PDFs and steps that are right',
};

/** Counts from the log, so that each node of the API knows of the work of all renderers. */
export class FailedWork {
  readonly #time: UnpaidTime;
  readonly #readModel: Log['readModel'];
  /** When the last try of each conversion under way began. */
  readonly #started = new Map<string, number>();
  readonly #end: () => void;

  constructor({
    runner,
    readModel,
    clock,
    budgets,
  }: Pick<Log, 'runner' | 'readModel' | 'clock'> & { readonly budgets: Budgets }) {
    this.#readModel = readModel;
    this.#time = new UnpaidTime(budgets.get('maxAccountFailedWorkMs'), clock, DOCUMENT_WORK);
    const types = ['ConversionStarted', 'ConversionCompleted', 'ConversionFailed'] as const;
    this.#end = runner.onCommit((events) => {
      for (const { type, data } of events) {
        if (type === 'ConversionStarted') this.#onStarted(data as EventOf<typeof type>['data']);
        else if (type === 'ConversionFailed') this.#onFailed(data as EventOf<typeof type>['data']);
        else if (type === 'ConversionCompleted') {
          this.#started.delete((data as EventOf<typeof type>['data']).conversionId);
        }
      }
    }, types);
  }

  /** @throws {BudgetExceeded} the account has used its time */
  assertLeft(accountId: string): void {
    this.#time.assertLeft(accountId);
  }

  close(): void {
    this.#end();
  }

  #onStarted({ conversionId, startedAt }: EventOf<'ConversionStarted'>['data']): void {
    this.#started.set(conversionId, startedAt);
  }

  #onFailed({
    accountId,
    conversionId,
    code,
    failedAt,
  }: EventOf<'ConversionFailed'>['data']): void {
    const startedAt = this.#started.get(conversionId);
    this.#started.delete(conversionId);
    if (startedAt === undefined || OURS.has(code)) return;
    const row = this.#readModel.query(conversionQueries).byId(conversionId);
    if (row?.source === 'document') this.#time.add(accountId, Math.max(0, failedAt - startedAt));
  }
}
