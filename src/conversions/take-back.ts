/** Takes a conversion back: what is unfinished is cancelled, and what is stored of it is deleted at once. */
import { apiKeyQueries } from '../../projections/api-keys.ts';
import type { BatchRow } from '../../projections/batches.ts';
import type { ConversionRow } from '../../projections/conversions.ts';
import { storedBlobQueries } from '../../projections/stored-blobs.ts';
import { isSealedByOwn, personName } from '../accounts/logins.ts';
import { orThrow } from '../actors/command-context.ts';
import type { CommandContext } from '../actors/system.ts';
import type { Vault } from '../documents/keys/vault.ts';
import { accountAggregate } from '../domain/account.ts';
import { batchAggregate } from '../domain/batch.ts';
import { type ConversionCommand, conversionAggregate } from '../domain/conversion.ts';
import type { Actor } from '../domain/event-metadata.ts';
import { founderOf } from '../domain/members.ts';
import { holdInForce } from '../domain/hold.ts';
import { ServiceError } from '../errors/errors.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import { type ExpiryDependencies, expireConversion } from './expire-conversion.ts';

interface TakeBackDependencies extends ExpiryDependencies, ReadDependencies {
  readonly vault: Pick<Vault, 'seal' | 'unseal'>;
}

/** A command without what all commands to conversions have. */
type Own<T extends ConversionCommand['type']> = Omit<
  Extract<ConversionCommand, { type: T }>,
  'accountId' | 'conversionId' | 'at'
>;

/**
 * The renderer that has a cancelled conversion hears of it by the queue. Under a hold, the request of what is cancelled
 * stays until that ends. Safe to repeat.
 * @throws {ServiceError} `on_hold` where the documents of what had ended may not be deleted now
 * @throws {BlobStoreUnavailable} its end or the deletion is recorded, and retention completes it
 */
export async function takeBack(
  deps: TakeBackDependencies,
  { id: conversionId, accountId }: { readonly id: string; readonly accountId: string },
  context: CommandContext,
): Promise<void> {
  const { actors } = deps;
  const at = context.metadata.time;
  const about = { accountId, conversionId, at };
  const by = { ...context, metadata: { ...context.metadata, correlationId: conversionId } };
  const send = async (command: Own<'AbandonConversion'> | Own<'DeleteConversion'>) =>
    orThrow(await actors.send(conversionAggregate, conversionId, { ...command, ...about }, by));
  const message = await cancelledBy(deps, accountId, context.metadata.actor);
  const cancelled = await send({ type: 'AbandonConversion', code: 'cancelled', message });
  if (cancelled.state.expired) return;
  if (!cancelled.state.deleted) {
    const { state } = await actors.read(accountAggregate, accountId);
    const isHeld = holdInForce(state, at) !== undefined;
    const isCancelledNow = cancelled.events.length > 0;
    if (isHeld && isCancelledNow) return;
    if (isHeld) throw new ServiceError('on_hold');
    // The end of what is cancelled asks for the deletion by itself.
    if (!isCancelledNow) await send({ type: 'DeleteConversion' });
  }
  const due = (await consistentQuery(deps, storedBlobQueries)).deletionOf(conversionId);
  if (due !== undefined) await expireConversion(deps, due);
}

/**
 * Records that a PDF which is kept until its first download has been downloaded: clients do not get it again, and
 * retention deletes it. Under a hold it stays. Safe to repeat.
 */
export async function deleteAfterDownload(
  { actors }: Pick<TakeBackDependencies, 'actors'>,
  { id: conversionId, accountId, retentionSeconds }: ConversionRow,
  context: CommandContext,
): Promise<void> {
  const at = context.metadata.time;
  if (retentionSeconds !== 0) return;
  const { state } = await actors.read(accountAggregate, accountId);
  if (holdInForce(state, at) !== undefined) return;
  const about = { accountId, conversionId, at, afterDownload: true } as const;
  const by = { ...context, metadata: { ...context.metadata, correlationId: conversionId } };
  orThrow(
    await actors.send(
      conversionAggregate,
      conversionId,
      { type: 'DeleteConversion', ...about },
      by,
    ),
  );
}

/**
 * Cancels what is unfinished of a batch: the leader does so once this is recorded. Safe to repeat.
 * @throws {KeyErased}
 */
export async function cancelBatch(
  deps: TakeBackDependencies,
  { id: batchId, accountId, total, completed, failed }: BatchRow,
  context: CommandContext,
): Promise<void> {
  if (completed + failed === total) return;
  const at = context.metadata.time;
  const message = await cancelledBy(deps, accountId, context.metadata.actor);
  const command = { type: 'CancelBatch', accountId, batchId, message, at } as const;
  const metadata = { ...context.metadata, correlationId: batchId };
  orThrow(await deps.actors.send(batchAggregate, batchId, command, { ...context, metadata }));
}

/** The message of what somebody has cancelled, sealed: a person's key goes when they are erased, and their name with it. */
async function cancelledBy(
  deps: TakeBackDependencies,
  accountId: string,
  actor: Actor,
): Promise<string> {
  const message = `Cancelled by ${await nameOf(deps, accountId, actor)}.`;
  const person = 'person' in actor ? actor.person : undefined;
  const hasKey = person !== undefined && isSealedByOwn(deps, person);
  return await deps.vault.seal(hasKey ? person : accountId, message);
}

/** The sender of a command in the words of a message to its account. */
async function nameOf(
  deps: TakeBackDependencies,
  accountId: string,
  actor: Actor,
): Promise<string> {
  if (actor.kind === 'operator') return 'the operator of the service';
  if (actor.kind === 'key') {
    const key = (await consistentQuery(deps, apiKeyQueries)).byId(actor.id);
    return key === undefined
      ? 'an API key'
      : `the key ${await deps.vault.unseal(accountId, key.name)}`;
  }
  const person = 'person' in actor && actor.person;
  return await personName(deps, person || founderOf(accountId));
}
