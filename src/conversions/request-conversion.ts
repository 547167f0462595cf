import { orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import type { UnencryptedText } from '../documents/encryption.ts';
import type { Vault } from '../documents/keys/vault.ts';
import type { BlobStore, StagedBlob } from '../documents/port.ts';
import type { KeyTerms, RequestedConversion } from '../domain/acceptance.ts';
import { acceptedWithKey, accountAggregate } from '../domain/account.ts';
import type {
  PrintOptions,
  RequestFacts,
  RequestMarks,
  RequestTexts,
  Source,
} from '../domain/event-fields.ts';
import { newConversionId } from '../time/ids.ts';

export interface AcceptedConversion {
  readonly conversionId: string;
  /** Milliseconds since the epoch. */
  readonly requestedAt: number;
  /** The answer to an earlier request with the same idempotency key. */
  readonly replayed: boolean;
}

export interface AcceptanceDependencies {
  readonly actors: Pick<ActorSystem, 'send'>;
  readonly blobs: BlobStore;
  readonly vault: Pick<Vault, 'contentKey' | 'seal'>;
  /** `off`: nothing is debited for what is requested now. */
  readonly config: { readonly credits: 'on' | 'off' };
}

/** What is asked for: a checked request whose document is ready to be encrypted. */
export interface ConversionRequest {
  readonly source: Source;
  readonly options: PrintOptions;
  readonly texts?: RequestTexts;
  readonly marks?: RequestMarks;
  /** Marks, and texts that are sealed already. */
  readonly facts?: RequestFacts;
  /** A `RequestDocument` as JSON. */
  readonly document: UnencryptedText;
  /** It prints the account's statement of a month, and costs nothing. */
  readonly statement?: RequestedConversion['statement'];
}

/** Encrypts a request for a new conversion, and names where it will lie. Nothing is stored yet. @throws {KeyErased} */
export async function stagedRequest(
  { blobs, vault }: Pick<AcceptanceDependencies, 'blobs' | 'vault'>,
  accountId: string,
  { source, options, texts, marks, facts: known, document, statement }: ConversionRequest,
  now: number,
): Promise<{ readonly conversion: RequestedConversion; readonly blob: StagedBlob }> {
  const conversionId = newConversionId(now);
  const contentKey = await vault.contentKey(accountId, conversionId);
  const requestHmac = document.hmac(contentKey);
  const blob = document.stage(blobs, { conversionId, contentKey }, 'request');
  const facts = { ...known, ...marks, ...(await sealedTexts(vault, accountId, texts)) };
  const asked = { conversionId, source, request: blob.ref, requestHmac, options, facts };
  const conversion = { ...asked, ...(statement !== undefined && { statement }) };
  return { conversion, blob };
}

/**
 * Accepts a conversion: its request document, its debit and its events are on disk when this resolves.
 * @param idempotencyKey hex HMAC of the client's key
 * @throws {ServiceError} `insufficient_credits`, `service_unavailable`
 * @throws {KeyErased} the account was erased
 */
export async function requestConversion(
  deps: AcceptanceDependencies,
  request: ConversionRequest & {
    readonly accountId: string;
    readonly idempotencyKey?: string;
    readonly terms?: KeyTerms;
    /** A W3C `traceparent`. */
    readonly trace?: string | undefined;
  },
  context: CommandContext,
): Promise<AcceptedConversion> {
  const { accountId, idempotencyKey, terms = {}, trace } = request;
  const now = context.metadata.time;
  const { conversion, blob } = await stagedRequest(deps, accountId, request, now);
  const { conversionId } = conversion;
  const outcome = await deps.actors.send(
    accountAggregate,
    accountId,
    {
      type: 'RequestConversion',
      accountId,
      ...conversion,
      unpaid: deps.config.credits === 'off' || request.statement !== undefined,
      terms,
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

/** Seals each of the texts. @throws {KeyErased} */
export async function sealedTexts(
  vault: Pick<Vault, 'seal'>,
  accountId: string,
  texts: RequestTexts = {},
): Promise<RequestTexts> {
  const seal = async ([name, text]: [string, string]) => [name, await vault.seal(accountId, text)];
  return Object.fromEntries(await Promise.all(Object.entries(texts).map(seal)));
}
