import { orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import type { UnencryptedText } from '../documents/encryption.ts';
import type { Vault } from '../documents/keys/vault.ts';
import type { BlobStore } from '../documents/port.ts';
import { acceptedWithKey, accountAggregate } from '../domain/account.ts';
import type { PrintOptions, RequestMarks, RequestTexts } from '../domain/events.ts';
import { newConversionId } from '../time/ids.ts';

export interface RequestedConversion {
  readonly conversionId: string;
  /** Milliseconds since the epoch. */
  readonly requestedAt: number;
  /** The answer to an earlier request with the same idempotency key. */
  readonly replayed: boolean;
}

/**
 * Accepts a conversion: its request document, its debit and its events are on disk when this resolves.
 * @param document a `RequestDocument` as JSON
 * @param idempotencyKey hex HMAC of the client's key
 * @throws {ServiceError} `insufficient_credits`, `service_unavailable`
 * @throws {KeyErased} the account was erased
 */
export async function requestConversion(
  deps: {
    readonly actors: ActorSystem;
    readonly blobs: BlobStore;
    readonly vault: Pick<Vault, 'contentKey' | 'seal'>;
  },
  request: {
    readonly accountId: string;
    readonly source: 'html' | 'url';
    readonly options: PrintOptions;
    readonly texts?: RequestTexts;
    readonly marks?: RequestMarks;
    readonly document: UnencryptedText;
    readonly idempotencyKey?: string;
    /** A W3C `traceparent`. */
    readonly trace?: string | undefined;
  },
  context: CommandContext,
): Promise<RequestedConversion> {
  const { accountId, source, options, texts, marks, document, idempotencyKey, trace } = request;
  const now = context.metadata.time;
  const conversionId = newConversionId(now);
  const contentKey = await deps.vault.contentKey(accountId, conversionId);
  const requestHmac = document.hmac(contentKey);
  const blob = document.stage(deps.blobs, { conversionId, contentKey }, 'request');
  const outcome = await deps.actors.send(
    accountAggregate,
    accountId,
    {
      type: 'RequestConversion',
      accountId,
      conversionId,
      source,
      request: blob.ref,
      requestHmac,
      options,
      facts: { ...marks, ...(await sealedTexts(deps.vault, accountId, texts)) },
      now,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    },
    {
      commandId: context.commandId,
      metadata: {
        ...context.metadata,
        correlationId: conversionId,
        // Its renderer, after a restart too, continues the trace.
        ...(trace && { trace: await deps.vault.seal(accountId, trace) }),
      },
      blobs: [blob],
    },
  );
  if (blob.isStoredApart && (!outcome.accepted || outcome.events.length === 0)) {
    // Stored for an append that another node's came before: nothing will ever name it. What cannot be
    // deleted now stays, as it does where a process ends in between.
    await deps.blobs.deleteAll(conversionId).catch(() => {});
  }
  const { events, state } = orThrow(outcome);
  if (events.length > 0) return { conversionId, requestedAt: now, replayed: false };
  const earlier =
    idempotencyKey === undefined ? undefined : acceptedWithKey(state, idempotencyKey, now);
  if (!earlier) throw new Error(`${conversionId} was neither accepted nor a repetition.`);
  return { ...earlier, replayed: true };
}

async function sealedTexts(
  vault: Pick<Vault, 'seal'>,
  accountId: string,
  texts: RequestTexts = {},
): Promise<RequestTexts> {
  const seal = async ([name, text]: [string, string]) => [name, await vault.seal(accountId, text)];
  return Object.fromEntries(await Promise.all(Object.entries(texts).map(seal)));
}
