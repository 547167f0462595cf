/**
 * The rules that every log keeps: revisions without gaps, balances, debits and refunds,
 * and one life for each conversion. It sees the events in the order of the log, once.
 */
import { type AccountEvent, accountStream } from '../../domain/account.ts';
import { blobKey } from '../../domain/blob-key.ts';
import { type ConversionEvent, conversionStream, MAX_ATTEMPTS } from '../../domain/conversion.ts';
import type { EventMetadata } from '../../domain/event-metadata.ts';
import type { BlobRef, DomainEvent, EventOf } from '../../domain/events.ts';
import { IDEMPOTENCY_WINDOW_MS, isForgotten } from '../../domain/idempotency.ts';
import type { RecordedEvent } from '../../event-store/port.ts';
import { Broken, Difference, type Place, placeOf } from './difference.ts';
import { EventIds, type LastCommand } from './event-ids.ts';
import { StateTable } from './state-table.ts';
import { checkStream, decoded, isOfAccount, isOfConversion, type StreamEnd } from './streams.ts';

/** A file that an event names, and the place of that event. */
export interface NamedBlob {
  readonly ref: BlobRef;
  readonly at: Place;
}

interface Conversion {
  readonly accountId: string;
  /** Credits that it was debited for. */
  readonly amount: number;
  attempts: number;
  /** The event that ended it. */
  end?: {
    readonly type: string;
    readonly id: string;
    readonly position: string;
    readonly at: number;
  };
  /** The number of this failure among those of its account, from 1. */
  failure?: number;
  isRefunded?: true;
  isExpired?: true;
  blobs?: NamedBlob[];
}

interface StreamState extends StreamEnd {
  command?: LastCommand | undefined;
  account?: { credits: number; failures: number; refunds: number; isErased?: true };
  conversion?: Conversion;
}

export interface KeptConversion {
  readonly id: string;
  readonly revision: number;
  readonly conversion: Conversion;
  /** The last revision of its account. */
  readonly accountRevision: number;
}

export class LogRules {
  readonly #streams = new StateTable<StreamState>();
  readonly #ids = new EventIds();
  readonly #keys: StateTable<{ readonly requestedAt: number }>;
  readonly #keepsBlobs: boolean;
  #newestRequest = 0;
  /** A debit whose request comes next. */
  #debit:
    | { readonly event: EventOf<'CreditDebited'>; readonly recorded: RecordedEvent }
    | undefined;
  /** Conversions that are accepted and have not ended. */
  unfinished = 0;
  /** Failures whose credit is not back yet. */
  refundsDue = 0;

  /** @param keepsBlobs remembers the files that events name, for `keptConversions` */
  constructor({ keepsBlobs }: { readonly keepsBlobs: boolean }) {
    this.#keepsBlobs = keepsBlobs;
    this.#keys = new StateTable(
      ({ requestedAt }) => this.#newestRequest - requestedAt < IDEMPOTENCY_WINDOW_MS,
    );
  }

  /** True at a place where a log cannot end: the next event is of the same append. */
  get isWithinAppend(): boolean {
    return this.#debit !== undefined;
  }

  /** @throws {Broken} a rule does not hold */
  check(recorded: RecordedEvent, index: number): void {
    const { stream } = recorded;
    const state = this.#streams.get(stream) ?? this.#begin(stream);
    const event = decoded(recorded);
    checkStream(recorded, event, state);
    state.command = this.#ids.check(recorded, event, state.command);
    this.#checkPair(recorded, event);
    if (isOfAccount(event)) this.#account(state, event, recorded, index);
    else if (isOfConversion(event)) this.#conversion(state, event, recorded, index);
  }

  /** @throws {Difference} the log ends where it cannot */
  checkEnd(): void {
    const { event, recorded } = this.#debit ?? {};
    if (event === undefined || recorded === undefined) return;
    const expected = `the request of ${event.data.conversionId} after it, in one append`;
    throw new Difference(placeOf(recorded), expected, 'the end of the log');
  }

  /** The conversions whose files are not deleted, in the order of their ids. */
  *keptConversions(): Generator<KeptConversion> {
    for (const [name, { revision, conversion }] of this.#streams.entries('conversion-')) {
      if (conversion === undefined || conversion.isExpired) continue;
      const owner = this.#streams.get(accountStream(conversion.accountId));
      if (owner?.account?.isErased) continue;
      const id = name.slice('conversion-'.length);
      yield { id, revision, conversion, accountRevision: owner?.revision ?? -1 };
    }
  }

  close(): void {
    this.#streams.close();
    this.#keys.close();
    this.#ids.close();
  }

  #begin(stream: string): StreamState {
    const state: StreamState = { revision: -1 };
    this.#streams.set(stream, state);
    return state;
  }

  /** A debit and its request are one append of one command. */
  #checkPair(recorded: RecordedEvent, event: DomainEvent): void {
    const debit = this.#debit;
    this.#debit = event.type === 'CreditDebited' ? { event, recorded } : undefined;
    if (debit !== undefined) {
      const { conversionId } = debit.event.data;
      const isPair =
        event.type === 'ConversionRequested' &&
        event.data.conversionId === conversionId &&
        recorded.stream === debit.recorded.stream &&
        commandOf(recorded) === commandOf(debit.recorded);
      if (!isPair) {
        const expected = `the request of ${conversionId} right after its debit`;
        throw new Broken(expected, `${event.type} in ${recorded.stream}`);
      }
      this.#request(debit.event.data.amount, event, recorded.stream);
    } else if (event.type === 'ConversionRequested') {
      throw new Broken(`the debit for ${event.data.conversionId} right before`, 'none');
    }
  }

  #request(amount: number, { data }: EventOf<'ConversionRequested'>, account: string): void {
    const { accountId, conversionId, requestedAt, idempotencyKey } = data;
    const stream = conversionStream(conversionId);
    if (this.#streams.get(stream) !== undefined) {
      throw new Broken(`one request of ${conversionId}`, 'another one');
    }
    const conversion = { accountId, amount, attempts: 0 };
    this.#streams.set(stream, { revision: -1, conversion });
    this.unfinished += 1;
    if (idempotencyKey !== undefined) {
      this.#useKey(account, idempotencyKey, requestedAt, 'conversion');
    }
  }

  #useKey(account: string, key: string, requestedAt: number, what: 'conversion' | 'grant'): void {
    const name = `${account}/${key}`;
    const newest = Math.max(this.#keys.get(account)?.requestedAt ?? 0, requestedAt);
    this.#keys.set(account, { requestedAt: newest });
    const last = this.#keys.get(name);
    const isKnown = last !== undefined && !isForgotten(last.requestedAt, newest);
    if (isKnown && requestedAt - last.requestedAt < IDEMPOTENCY_WINDOW_MS) {
      throw new Broken(`one ${what} for an Idempotency-Key in 24 hours`, 'a second one');
    }
    this.#newestRequest = Math.max(this.#newestRequest, requestedAt);
    this.#keys.set(name, { requestedAt });
  }

  #grant({ data }: EventOf<'CreditGranted'>, account: string): void {
    const { idempotencyKey, grantedAt } = data;
    if ((idempotencyKey === undefined) !== (grantedAt === undefined)) {
      throw new Broken('idempotencyKey and grantedAt, or neither', 'one of them');
    }
    if (idempotencyKey !== undefined && grantedAt !== undefined) {
      this.#useKey(account, idempotencyKey, grantedAt, 'grant');
    }
  }

  #account(state: StreamState, event: AccountEvent, recorded: RecordedEvent, index: number): void {
    state.account ??= { credits: 0, failures: 0, refunds: 0 };
    const { account } = state;
    switch (event.type) {
      case 'CreditGranted':
        this.#grant(event, recorded.stream);
        account.credits += event.data.amount;
        break;
      case 'CreditDebited':
        account.credits -= event.data.amount;
        if (account.credits < 0) throw new Broken('a balance of at least 0', `${account.credits}`);
        break;
      case 'CreditRefunded':
        this.#refund(account, event, recorded);
        break;
      case 'ConversionRequested':
        this.#name(event.data.conversionId, 'request', event.data.request, recorded, index);
        break;
      case 'AccountErased':
        account.isErased = true;
        this.refundsDue -= account.failures - account.refunds;
        break;
      case 'AccountOpened':
      case 'PlanChanged':
      case 'PasswordChanged':
      case 'SessionsEnded':
      case 'OperatorGranted':
      case 'OperatorRevoked':
      case 'HoldPlaced':
      case 'HoldReleased':
        break;
      case 'ErasureCompleted':
        if (!account.isErased) throw new Broken('an AccountErased before it', 'none');
        break;
    }
  }

  #refund(
    account: NonNullable<StreamState['account']>,
    { data }: EventOf<'CreditRefunded'>,
    recorded: RecordedEvent,
  ): void {
    const { accountId, conversionId, amount } = data;
    const conversion = this.#streams.get(conversionStream(conversionId))?.conversion;
    const failed = `a failure of ${conversionId} that is to be refunded`;
    if (conversion?.accountId !== accountId) throw new Broken(failed, 'no such conversion of it');
    const { end, failure } = conversion;
    if (failure === undefined) throw new Broken(failed, end?.type ?? 'a conversion without an end');
    if (conversion.isRefunded) throw new Broken(failed, 'one that was refunded before');
    if (amount !== conversion.amount) {
      throw new Broken(`a refund of the ${conversion.amount} that was debited`, `${amount}`);
    }
    const { failedAt } = data;
    const { causationId } = recorded.metadata as Partial<EventMetadata>;
    // A log that was moved to another store has other positions, and the same ids.
    if (end === undefined || (causationId !== end.id && failedAt !== end.position)) {
      throw new Broken(`a refund for the failure ${end?.id}`, `one for ${causationId}`);
    }
    // They are given in the order of the failures, and one that was passed over is never given.
    if (failure !== account.refunds + 1) {
      throw new Broken(
        `the refund of ${accountId}'s failure ${account.refunds + 1} first`,
        `that of ${failure}`,
      );
    }
    account.refunds += 1;
    account.credits += amount;
    conversion.isRefunded = true;
    if (!account.isErased) this.refundsDue -= 1;
  }

  #conversion(
    { conversion }: StreamState,
    { type, data }: ConversionEvent,
    recorded: RecordedEvent,
    index: number,
  ): void {
    if (conversion === undefined) throw new Broken(`a request before ${type}`, 'none');
    if (data.accountId !== conversion.accountId) {
      throw new Broken(`a conversion of ${conversion.accountId}`, `one of ${data.accountId}`);
    }
    const { end } = conversion;
    switch (type) {
      case 'ConversionStarted':
      case 'ConversionRequeued':
        if (end !== undefined) throw new Broken(`nothing after ${end.type}`, type);
        if (type === 'ConversionStarted') conversion.attempts += 1;
        if (data.attempt !== conversion.attempts || data.attempt > MAX_ATTEMPTS) {
          throw new Broken(
            `attempt ${conversion.attempts}, of ${MAX_ATTEMPTS} at most`,
            `attempt ${data.attempt}`,
          );
        }
        if (type === 'ConversionRequeued') conversion.attempts -= 1;
        break;
      case 'ConversionCompleted':
      case 'ConversionFailed': {
        if (end !== undefined) throw new Broken(`one end: ${end.type}`, `also ${type}`);
        const at = type === 'ConversionCompleted' ? data.completedAt : data.failedAt;
        conversion.end = { type, id: recorded.id, position: `${recorded.position}`, at };
        this.unfinished -= 1;
        if (type === 'ConversionFailed') this.#fail(conversion);
        if (type !== 'ConversionCompleted') break;
        this.#name(data.conversionId, 'document', data.document, recorded, index);
        this.#name(data.conversionId, 'manifest', data.manifest, recorded, index);
        break;
      }
      case 'DocumentDownloaded':
        if (end?.type !== 'ConversionCompleted') {
          throw new Broken(
            'a download of a completed conversion',
            end?.type ?? 'one without an end',
          );
        }
        break;
      case 'ConversionExpired':
        if (conversion.isExpired) throw new Broken('one ConversionExpired', 'another one');
        if (end === undefined) throw new Broken(`an end before ${type}`, 'none');
        conversion.isExpired = true;
        delete conversion.blobs;
        break;
      case 'ConversionOutcomeIgnored':
        if (end === undefined) throw new Broken(`an end before ${type}`, 'none');
        break;
    }
  }

  #fail(conversion: Conversion): void {
    const owner = this.#streams.get(accountStream(conversion.accountId))?.account;
    if (owner === undefined) return;
    owner.failures += 1;
    conversion.failure = owner.failures;
    if (!owner.isErased) this.refundsDue += 1;
  }

  #name(
    conversionId: string,
    kind: 'request' | 'document' | 'manifest',
    ref: BlobRef,
    recorded: RecordedEvent,
    index: number,
  ): void {
    const key = blobKey(conversionId, kind, ref.sha256);
    if (ref.key !== key) throw new Broken(`a file ${key}`, ref.key);
    if (!this.#keepsBlobs) return;
    const conversion = this.#streams.get(conversionStream(conversionId))?.conversion;
    if (conversion === undefined) return;
    conversion.blobs = [...(conversion.blobs ?? []), { ref, at: placeOf(recorded, index) }];
  }
}

/** The same for all events of one command. */
const commandOf = ({ metadata }: RecordedEvent): string | undefined =>
  (metadata as Partial<EventMetadata>).correlationId;
