/** Bounds the time of work on PDFs that fails: its credit comes back. */
import type { ConversionFailureCode } from '../domain/choices.ts';
import type { EventOf } from '../domain/events.ts';
import type { Budgets } from '../limits/budgets.ts';
import type { Log } from '../log/log-origin.ts';
import { UnpaidTime } from './unpaid-time.ts';

/** Failures before any work on a PDF, and those that are the service's own. */
const BEFORE_WORK: ReadonlySet<ConversionFailureCode> = new Set([
  'address_refused',
  'navigation_failed',
  'page_status',
  'not_html',
  'selector_missing',
  'incomplete',
  'renderer_failed',
  'account_erased',
]);

const WORK = {
  what: 'Conversions of PDFs, and those with work on their PDF, that failed or were cancelled',
  remedy: 'PDFs, steps and options of pdf that are right',
};

type Requested = EventOf<'ConversionRequested'>['data'];

/** True if a conversion works on PDFs, those that it brings or the one that it prints. */
export const worksOnPdf = ({ source, worksOnPdf: onPrinted }: Requested): boolean =>
  source === 'document' || onPrinted === true;

/** Counts from the log, so that each node of the API knows of the work of all renderers. */
export class FailedWork {
  readonly #time: UnpaidTime;
  /** The conversions with work that have not ended, and when the last try of each began. */
  readonly #started = new Map<string, number | undefined>();
  readonly #end: () => void;

  constructor({
    runner,
    clock,
    budgets,
  }: Pick<Log, 'runner' | 'clock'> & { readonly budgets: Budgets }) {
    this.#time = new UnpaidTime(budgets.get('maxAccountFailedWorkMs'), clock, WORK);
    const types = [
      'ConversionRequested',
      'ConversionStarted',
      'ConversionCompleted',
      'ConversionFailed',
    ] as const;
    this.#end = runner.onCommit((events) => {
      for (const { type, data } of events) {
        if (type === 'ConversionRequested') this.#onRequested(data as Requested);
        else if (type === 'ConversionStarted')
          this.#onStarted(data as EventOf<typeof type>['data']);
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

  #onRequested(requested: Requested): void {
    if (worksOnPdf(requested)) this.#started.set(requested.conversionId, undefined);
  }

  #onStarted({ conversionId, startedAt }: EventOf<'ConversionStarted'>['data']): void {
    if (this.#started.has(conversionId)) this.#started.set(conversionId, startedAt);
  }

  #onFailed({
    accountId,
    conversionId,
    code,
    failedAt,
  }: EventOf<'ConversionFailed'>['data']): void {
    const startedAt = this.#started.get(conversionId);
    this.#started.delete(conversionId);
    if (startedAt === undefined || BEFORE_WORK.has(code)) return;
    this.#time.add(accountId, Math.max(0, failedAt - startedAt));
  }
}
