/**
 * The rules that every log keeps: revisions without gaps, balances, debits and refunds,
 * and one life for each conversion. It sees the events in the order of the log, once. The aggregates fold them;
 * here are the rules for their states, and what no aggregate sees because it lies in two streams.
 */
import { type AccountEvent, accountStream, account as accounts } from '../../domain/account.ts';
import { type BlobKind, blobKey } from '../../domain/blob-key.ts';
import {
  type ConversionEvent,
  conversionStream,
  conversion as conversions,
  isOpen,
  MAX_ATTEMPTS,
} from '../../domain/conversion.ts';
import type { BlobRef } from '../../domain/event-fields.ts';
import type { EventMetadata } from '../../domain/event-metadata.ts';
import type { DomainEvent, EventOf } from '../../domain/events.ts';
import { IDEMPOTENCY_WINDOW_MS, isForgotten } from '../../domain/idempotency.ts';
import type { RecordedEvent } from '../../event-store/port.ts';
import { BatchRules } from './batch-rules.ts';
import { checkComparison } from './comparison.ts';
import { Broken, Difference, placeOf } from './difference.ts';
import { EventIds } from './event-ids.ts';
import { checkGrant } from './grants.ts';
import { checkPeople } from './people.ts';
import { checkDestroyed, checkMade, checkSigned } from './signatures.ts';
import { StateTable } from './state-table.ts';
import {
  type Account,
  accountStateOf,
  type Conversion,
  type KeptConversion,
  keptOf,
  type StreamState,
  stateOf,
} from './states.ts';
import { checkStream, decoded, isOfAccount, isOfConversion } from './streams.ts';

export class LogRules {
  readonly #streams = new StateTable<StreamState>();
  readonly #ids = new EventIds();
  readonly #batches = new BatchRules();
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
    return this.#debit !== undefined || this.#batches.isWithinAppend;
  }

  /** @throws {Broken} a rule does not hold */
  check(recorded: RecordedEvent, index: number): void {
    const state = this.#streams.get(recorded.stream) ?? this.#begin(recorded.stream);
    const event = decoded(recorded);
    checkStream(recorded, event, state);
    state.command = this.#ids.check(recorded, event, state.command);
    this.#checkPair(recorded, event);
    this.#batches.check(recorded, event);
    if (isOfAccount(event)) this.#account(state, event, recorded, index);
    else if (isOfConversion(event)) this.#conversion(state, event, recorded, index);
  }

  /** @throws {Difference} the log ends where it cannot */
  checkEnd(): void {
    const { event, recorded } = this.#debit ?? {};
    if (event === undefined || recorded === undefined) return this.#batches.checkEnd();
    const expected = `the request of ${event.data.conversionId} after it, in one append`;
    throw new Difference(placeOf(recorded), expected, 'the end of the log');
  }

  /** The conversions whose files are not deleted, in the order of their ids. */
  *keptConversions(): Generator<KeptConversion> {
    for (const [name, { revision, conversion }] of this.#streams.entries('conversion-')) {
      if (conversion === undefined || conversion.state.expired) continue;
      const owner = this.#streams.get(accountStream(conversion.accountId));
      if (isErased(owner?.account)) continue;
      const id = name.slice('conversion-'.length);
      yield { id, revision, conversion, accountRevision: owner?.revision ?? -1 };
    }
  }

  close(): void {
    this.#streams.close();
    this.#keys.close();
    this.#ids.close();
    this.#batches.close();
  }

  #begin(stream: string): StreamState {
    const state: StreamState = { revision: -1 };
    this.#streams.set(stream, state);
    return state;
  }

  /** A debit and its request are one append of one command; a request that costs nothing has none. */
  #checkPair(recorded: RecordedEvent, event: DomainEvent): void {
    const debit = this.#debit;
    this.#debit = event.type === 'CreditDebited' ? { event, recorded } : undefined;
    if (debit !== undefined) {
      const { conversionId } = debit.event.data;
      const isPair =
        event.type === 'ConversionRequested' &&
        event.data.conversionId === conversionId &&
        (event.data.unpaid ?? event.data.isTest) === undefined &&
        recorded.stream === debit.recorded.stream &&
        commandOf(recorded) === commandOf(debit.recorded);
      if (!isPair) {
        const expected = `the request of ${conversionId} right after its debit`;
        throw new Broken(expected, `${event.type} in ${recorded.stream}`);
      }
      this.#request(debit.event.data.amount, event, recorded.stream);
    } else if (event.type === 'ConversionRequested') {
      if (event.data.unpaid) return this.#request(0, event, recorded.stream);
      throw new Broken(`the debit for ${event.data.conversionId} right before`, 'none');
    }
  }

  #request(amount: number, { data }: EventOf<'ConversionRequested'>, account: string): void {
    const { accountId, conversionId, requestedAt, idempotencyKey, retentionSeconds } = data;
    const { rerenderOf, signedBy } = data;
    const stream = conversionStream(conversionId);
    if (this.#streams.get(stream) !== undefined) {
      throw new Broken(`one request of ${conversionId}`, 'another one');
    }
    const state = keptOf(conversions.initialState);
    const retention = retentionSeconds === undefined ? {} : { retentionSeconds };
    const conversion = {
      accountId,
      amount,
      state,
      ...retention,
      ...(rerenderOf && { rerenderOf }),
      ...(signedBy && { isToBeSigned: true as const }),
    };
    this.#streams.set(stream, { revision: -1, conversion });
    this.unfinished += 1;
    if (idempotencyKey !== undefined) {
      this.#useKey(account, idempotencyKey, requestedAt, 'conversion');
    }
  }

  #useKey(
    account: string,
    key: string,
    requestedAt: number,
    what: 'conversion' | 'batch' | 'grant',
  ): void {
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

  #grant(owner: Account, { data }: EventOf<'CreditGranted'>, account: string): void {
    checkGrant(owner, data);
    const { idempotencyKey, grantedAt } = data;
    if (idempotencyKey === undefined || grantedAt === undefined) return;
    this.#useKey(account, idempotencyKey, grantedAt, 'grant');
  }

  #account(stream: StreamState, event: AccountEvent, recorded: RecordedEvent, index: number): void {
    stream.account ??= { state: accountStateOf(accounts.initialState), failures: 0 };
    const owner = stream.account;
    if (event.type === 'CreditGranted') this.#grant(owner, event, recorded.stream);
    else if (event.type === 'BatchRequested' && event.data.idempotencyKey !== undefined)
      this.#useKey(recorded.stream, event.data.idempotencyKey, event.data.requestedAt, 'batch');
    else if (event.type === 'CreditRefunded') this.#refund(owner, event, recorded);
    else if (event.type === 'ConversionRequested') {
      this.#name(event.data.conversionId, 'request', event.data.request, recorded, index);
    } else if (event.type === 'AccountErased')
      this.refundsDue -= owner.failures - owner.state.refunds;
    else if (event.type === 'ErasureCompleted' && !isErased(owner)) {
      throw new Broken('an AccountErased before it', 'none');
    } else if (event.type === 'SignatureKeyDestroyed') checkDestroyed(owner, event.data);
    const after = accounts.evolve({ ...accounts.initialState, ...owner.state }, event);
    checkPeople(owner.state, event, after);
    if (after.credits < 0) throw new Broken('a balance of at least 0', `${after.credits}`);
    owner.state = accountStateOf(after);
  }

  #refund(owner: Account, { data }: EventOf<'CreditRefunded'>, recorded: RecordedEvent): void {
    const { accountId, conversionId, amount, failedAt } = data;
    const refunded = this.#streams.get(conversionStream(conversionId))?.conversion;
    const failed = `a failure of ${conversionId} that is to be refunded`;
    if (refunded?.accountId !== accountId) throw new Broken(failed, 'no such conversion of it');
    const { end, failure } = refunded;
    if (refunded.isRefunded) throw new Broken(failed, 'one that was refunded before');
    if (failure === undefined) throw new Broken(failed, end?.type ?? 'a conversion without an end');
    if (amount !== refunded.amount) {
      throw new Broken(`a refund of the ${refunded.amount} that was debited`, `${amount}`);
    }
    const { causationId } = recorded.metadata as Partial<EventMetadata>;
    // A log that was moved to another store has other positions, and the same ids.
    if (causationId !== failure.id && failedAt !== failure.position) {
      throw new Broken(`a refund for the failure ${failure.id}`, `one for ${causationId}`);
    }
    // They are given in the order of the failures, and one that was passed over is never given.
    const next = owner.state.refunds + 1;
    if (failure.number !== next) {
      const found = `that of ${failure.number}`;
      throw new Broken(`the refund of ${accountId}'s failure ${next} first`, found);
    }
    refunded.isRefunded = true;
    delete refunded.failure;
    if (!isErased(owner)) this.refundsDue -= 1;
  }

  #conversion(
    { conversion: known }: StreamState,
    event: ConversionEvent,
    recorded: RecordedEvent,
    index: number,
  ): void {
    const { type, data } = event;
    if (known === undefined) throw new Broken(`a request before ${type}`, 'none');
    const { accountId, end } = known;
    if (data.accountId !== accountId) {
      throw new Broken(`a conversion of ${accountId}`, `one of ${data.accountId}`);
    }
    const state = stateOf(known.state);
    const evolved = conversions.evolve(state, event);
    switch (type) {
      case 'ConversionStarted':
      case 'ConversionRequeued': {
        if (end !== undefined) throw new Broken(`nothing after ${end.type}`, type);
        const { length } = (type === 'ConversionStarted' ? evolved : state).tries;
        if (data.attempt !== length || length > MAX_ATTEMPTS) {
          const expected = `attempt ${length}, of ${MAX_ATTEMPTS} at most`;
          throw new Broken(expected, `attempt ${data.attempt}`);
        }
        break;
      }
      case 'SignatureMade':
        checkMade(known, data, state.tries.length);
        break;
      case 'ConversionCompleted':
      case 'ConversionFailed': {
        if (end !== undefined) throw new Broken(`one end: ${end.type}`, `also ${type}`);
        const at = type === 'ConversionCompleted' ? data.completedAt : data.failedAt;
        known.end = { type, at };
        this.unfinished -= 1;
        if (type === 'ConversionFailed') {
          this.#fail(known, recorded);
          if (data.picture) {
            this.#name(data.conversionId, 'picture', data.picture, recorded, index);
          }
          break;
        }
        known.pdf = data.pdf.sha256;
        checkSigned(known, data);
        checkComparison(known, data, this.#streams.get(conversionStream(known.rerenderOf ?? '')));
        this.#name(data.conversionId, 'document', data.document, recorded, index);
        this.#name(data.conversionId, 'manifest', data.manifest, recorded, index);
        break;
      }
      case 'DocumentDownloaded':
      case 'LinkCreated':
      case 'LinkRevoked':
        if (state.status !== 'completed') throw new Broken(`a file before ${type}`, 'none');
        break;
      case 'ConversionDeleted':
        if (state.deleted) throw new Broken('one ConversionDeleted', 'another one');
        if (state.expired) throw new Broken(`documents before ${type}`, 'none any more');
        if (isOpen(state)) throw new Broken(`an end before ${type}`, 'none');
        break;
      case 'ConversionExpired':
        if (state.expired) throw new Broken('one ConversionExpired', 'another one');
        if (isOpen(state)) throw new Broken(`an end before ${type}`, 'none');
        delete known.blobs;
        break;
      case 'ConversionOutcomeIgnored':
        if (isOpen(state)) throw new Broken(`an end before ${type}`, 'none');
        break;
    }
    known.state = keptOf(evolved);
  }

  #fail(failed: Conversion, { id, position }: RecordedEvent): void {
    const owner = this.#streams.get(accountStream(failed.accountId))?.account;
    if (owner === undefined || failed.amount === 0) return;
    owner.failures += 1;
    failed.failure = { number: owner.failures, id, position: `${position}` };
    if (!isErased(owner)) this.refundsDue += 1;
  }

  #name(
    conversionId: string,
    kind: BlobKind,
    ref: BlobRef,
    recorded: RecordedEvent,
    index: number,
  ): void {
    const key = blobKey(conversionId, kind, ref.sha256);
    if (ref.key !== key) throw new Broken(`a file ${key}`, ref.key);
    if (!this.#keepsBlobs) return;
    const known = this.#streams.get(conversionStream(conversionId))?.conversion;
    if (known === undefined) return;
    known.blobs = [...(known.blobs ?? []), { ref, at: placeOf(recorded, index) }];
  }
}

/** The same for all events of one command. */
const commandOf = ({ metadata }: RecordedEvent): string | undefined =>
  (metadata as Partial<EventMetadata>).correlationId;

const isErased = (owner: Account | undefined): boolean => owner?.state.status === 'erased';
