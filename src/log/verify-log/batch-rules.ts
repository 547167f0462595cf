/** The rules of batches: their requests and debits are one append, and their ends count what became of them. */
import type { EventMetadata } from '../../domain/event-metadata.ts';
import type { DomainEvent, EventOf } from '../../domain/events.ts';
import type { RecordedEvent } from '../../event-store/port.ts';
import { Broken, Difference, placeOf } from './difference.ts';
import { StateTable } from './state-table.ts';

interface Batch {
  readonly accountId: string;
  readonly total: number;
  completed: number;
  failed: number;
  isCancelled?: true;
  isEnded?: true;
}

/** A batch whose requests come next. */
interface Beginning {
  readonly recorded: RecordedEvent;
  readonly batchId: string;
  readonly unpaid: true | undefined;
  left: number;
}

export class BatchRules {
  readonly #batches = new StateTable<Batch>();
  /** The batch of each conversion that has one. */
  readonly #of = new StateTable<{ readonly batchId: string }>();
  #beginning: Beginning | undefined;

  /** True at a place where a log cannot end: the next event is of the same append. */
  get isWithinAppend(): boolean {
    return this.#beginning !== undefined;
  }

  /** @throws {Broken} a rule does not hold */
  check(recorded: RecordedEvent, event: DomainEvent): void {
    if (this.#beginning !== undefined) this.#follow(this.#beginning, recorded, event);
    else if (event.type === 'ConversionRequested' && event.data.batchId !== undefined) {
      throw new Broken(`the BatchRequested of ${event.data.batchId} before`, 'none');
    }
    const { type, data } = event;
    if (type === 'BatchRequested') this.#begin(recorded, data);
    else if (type === 'ConversionCompleted') this.#count(data.conversionId, 'completed');
    else if (type === 'ConversionFailed') this.#count(data.conversionId, 'failed');
    else if (type === 'BatchCancelled') this.#open(data).isCancelled = true;
    else if (type === 'BatchEnded') this.#end(data);
  }

  /** @throws {Difference} the log ends where it cannot */
  checkEnd(): void {
    if (this.#beginning === undefined) return;
    const { recorded, batchId, left } = this.#beginning;
    const expected = `${left} more requests of ${batchId}, in one append`;
    throw new Difference(placeOf(recorded), expected, 'the end of the log');
  }

  close(): void {
    this.#batches.close();
    this.#of.close();
  }

  #begin(recorded: RecordedEvent, data: EventOf<'BatchRequested'>['data']): void {
    const { batchId, accountId, total, unpaid } = data;
    if (this.#batches.get(batchId)) throw new Broken(`one BatchRequested of ${batchId}`, 'two');
    this.#batches.set(batchId, { accountId, total, completed: 0, failed: 0 });
    this.#beginning = { recorded, batchId, unpaid, left: total };
  }

  #follow(beginning: Beginning, recorded: RecordedEvent, { type, data }: DomainEvent): void {
    const { batchId } = beginning;
    const isRequest = type === 'ConversionRequested' && data.batchId === batchId;
    const isSame =
      recorded.stream === beginning.recorded.stream &&
      commandOf(recorded) === commandOf(beginning.recorded);
    const isPaid = beginning.unpaid === undefined;
    const isFit = isRequest
      ? (data.unpaid === undefined) === isPaid
      : isPaid && type === 'CreditDebited';
    if (!isSame || !isFit) {
      throw new Broken(
        `${beginning.left} more requests of ${batchId} right after it`,
        `${type} in ${recorded.stream}`,
      );
    }
    if (!isRequest) return;
    this.#of.set(data.conversionId, { batchId });
    beginning.left -= 1;
    if (beginning.left === 0) this.#beginning = undefined;
  }

  #count(conversionId: string, outcome: 'completed' | 'failed'): void {
    const { batchId = '' } = this.#of.get(conversionId) ?? {};
    const batch = this.#batches.get(batchId);
    if (batch) batch[outcome] += 1;
  }

  /** The batch of an event that may come only before its end. */
  #open({ batchId, accountId }: { readonly batchId: string; readonly accountId: string }): Batch {
    const batch = this.#batches.get(batchId);
    if (batch?.accountId !== accountId) throw new Broken(`a batch of ${accountId}`, batchId);
    if (batch.isEnded) throw new Broken(`nothing of ${batchId} after its end`, 'more');
    return batch;
  }

  #end(data: EventOf<'BatchEnded'>['data']): void {
    const batch = this.#open(data);
    const { total, completed, failed, cancelled } = data;
    const told = `${completed} completed and ${failed} failed of ${total}`;
    const known = `${batch.completed} completed and ${batch.failed} failed of ${batch.total}`;
    if (told !== known || completed + failed !== total) throw new Broken(known, told);
    if (cancelled !== batch.isCancelled) {
      throw new Broken(`cancelled: ${batch.isCancelled}`, `${cancelled}`);
    }
    batch.isEnded = true;
  }
}

/** The same for all events of one command. */
const commandOf = ({ metadata }: RecordedEvent): string | undefined =>
  (metadata as Partial<EventMetadata>).causationId;
