import { setImmediate as turn } from 'node:timers/promises';
import { orThrow } from '../actors/command-context.ts';
import type { CommandContext } from '../actors/system.ts';
import { atMost } from '../async/at-most.ts';
import type { StagedBlob } from '../documents/port.ts';
import type { BatchTexts, KeyTerms, RequestedConversion } from '../domain/acceptance.ts';
import { acceptedWithKey, accountAggregate } from '../domain/account.ts';
import { ServiceError } from '../errors/errors.ts';
import { AppendTooLarge } from '../event-store/port.ts';
import { newBatchId } from '../time/ids.ts';
import {
  type AcceptanceDependencies,
  type ConversionRequest,
  sealedTexts,
  stagedRequest,
} from './request-conversion.ts';

export interface RequestedBatch {
  readonly batchId: string;
  /** Milliseconds since the epoch. */
  readonly requestedAt: number;
  /** Absent for a repeated one. */
  readonly conversionIds?: readonly string[];
}

/** The time that requests are made and encrypted for before others have their turn. */
const SLICE_MS = 10;
const DELETED_AT_ONCE = 8;

/**
 * Accepts all conversions of a batch or none, in one append: their request documents, debits and events are on
 * disk when this resolves.
 * @param idempotencyKey hex HMAC of the client's key
 * @throws {ServiceError} `insufficient_credits`, `payload_too_large`, `service_unavailable`
 * @throws {KeyErased} the account was erased
 */
export async function requestBatch(
  deps: AcceptanceDependencies,
  {
    accountId,
    requests,
    texts,
    idempotencyKey,
    terms = {},
  }: {
    readonly accountId: string;
    /** Each is made in its turn, where they are made one by one. */
    readonly requests: Iterable<ConversionRequest>;
    readonly texts?: BatchTexts;
    readonly idempotencyKey?: string;
    readonly terms?: KeyTerms;
  },
  context: CommandContext,
): Promise<RequestedBatch> {
  const now = context.metadata.time;
  const batchId = newBatchId(now);
  const conversions: RequestedConversion[] = [];
  const blobs: StagedBlob[] = [];
  let until = performance.now() + SLICE_MS;
  for (const request of requests) {
    const { conversion, blob } = await stagedRequest(deps, accountId, request, now);
    conversions.push(conversion);
    blobs.push(blob);
    if (performance.now() < until) continue;
    await turn();
    until = performance.now() + SLICE_MS;
  }
  const forget = async (): Promise<void> => {
    const stored = conversions.filter((_, n) => blobs[n]?.isStoredApart === true);
    // What cannot be deleted now stays, as it does where a process ends in between.
    await atMost(DELETED_AT_ONCE, stored, ({ conversionId }) =>
      deps.blobs.deleteAll(conversionId).catch(() => {}),
    );
  };
  const command = {
    type: 'RequestBatch',
    accountId,
    batchId,
    conversions,
    texts: await sealedTexts(deps.vault, accountId, texts),
    unpaid: deps.config.credits === 'off',
    terms,
    now,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  } as const;
  const { requestId: _, client: __, ...metadata } = context.metadata;
  const outcome = await deps.actors
    .send(accountAggregate, accountId, command, {
      commandId: context.commandId,
      metadata: { ...context.metadata, correlationId: batchId },
      // The first event has them for all: a server takes 1 MiB in one append.
      laterMetadata: { ...metadata, correlationId: batchId },
      isLarge: true,
      blobs,
    })
    .catch(async (error: unknown) => {
      if (!(error instanceof AppendTooLarge)) throw error;
      await forget();
      throw tooLarge(conversions.length, error);
    });
  if (!outcome.accepted || outcome.events.length === 0) await forget();
  const { events, state } = orThrow(outcome);
  if (events.length > 0) {
    const conversionIds = conversions.map(({ conversionId }) => conversionId);
    return { batchId, requestedAt: now, conversionIds };
  }
  const earlier =
    idempotencyKey === undefined ? undefined : acceptedWithKey(state, idempotencyKey, now);
  if (!earlier) throw new Error(`${batchId} was neither accepted nor a repetition.`);
  return { batchId: earlier.conversionId, requestedAt: earlier.requestedAt };
}

function tooLarge(count: number, cause: AppendTooLarge): ServiceError {
  const message =
    `What is recorded of ${count} requests takes more than the ${cause.mostBytes} bytes that the event store ` +
    'takes at once. Nothing was accepted. Send them in several batches.';
  return new ServiceError('payload_too_large', message, {
    details: { requests: [message] },
    cause,
  });
}
