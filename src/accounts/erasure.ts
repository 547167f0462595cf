/**
 * Erases an account in steps that are safe to repeat. See docs/decisions/0028-erasure.md for their order.
 */
import { apiKeyQueries } from '../../projections/api-keys.ts';
import { erasureQueries, type KeyDue } from '../../projections/erasures.ts';
import { peopleQueries } from '../../projections/people.ts';
import { storedBlobQueries } from '../../projections/stored-blobs.ts';
import { unfinishedQueries } from '../../projections/unfinished-conversions.ts';
import { orThrow } from '../actors/command-context.ts';
import type { CommandContext } from '../actors/system.ts';
import { drainList } from '../async/drain-list.ts';
import { type ExpiryDependencies, expireConversion } from '../conversions/expire-conversion.ts';
import { UNREADABLE, type Vault } from '../documents/keys/vault.ts';
import { apiKeyAggregate } from '../domain/api-key.ts';
import { conversionAggregate } from '../domain/conversion.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import { sendToAccount } from './accounts.ts';
import { erasePersonOf } from './erase-people.ts';
import { forgetInvitation } from './members.ts';
import { sendEnding } from './operators.ts';

export interface ErasureDependencies extends ExpiryDependencies, ReadDependencies {
  readonly vault: Pick<Vault, 'erase'>;
}

/**
 * Ends the account with its keys and sessions. `completeErasure` does the rest.
 * @throws {ServiceError} `forbidden` if a hold is in force, or nobody else could act as an operator; `not_found`
 */
export async function beginErasure(
  deps: Pick<ErasureDependencies, 'actors'> & ReadDependencies,
  accountId: string,
  context: CommandContext,
): Promise<void> {
  const now = context.metadata.time;
  await sendEnding(deps, { type: 'EraseAccount', accountId, now }, context);
}

/** Destroys the data key of a certificate that signs no more. Two processes may do so at the same time. */
export async function destroyKey(
  { actors, clock, vault }: Pick<ErasureDependencies, 'actors' | 'clock' | 'vault'>,
  { accountId, certificateId, endedEventId }: KeyDue,
): Promise<void> {
  await vault.erase(certificateId);
  const command = { type: 'RecordKeyDestroyed', accountId, certificateId } as const;
  await sendToAccount({ actors }, command, {
    commandId: `destroy/${certificateId}`,
    metadata: {
      correlationId: `destroy/${certificateId}`,
      causationId: endedEventId,
      actor: { kind: 'service' },
      time: clock.now(),
    },
  });
}

/**
 * Does what is left of an erasure that the log has begun. Two processes may do so at the same time.
 * @throws {KeyringUnavailable} @throws {BlobStoreUnavailable} @throws {EventStoreUnavailable}
 */
export async function completeErasure(
  deps: ErasureDependencies,
  accountId: string,
  stopping?: AbortSignal,
): Promise<void> {
  const { actors, clock, vault } = deps;
  const due = (await consistentQuery(deps, erasureQueries)).of(accountId);
  if (due === undefined) return;
  const causedBy = (commandId: string, correlationId = commandId): CommandContext => ({
    commandId,
    metadata: {
      correlationId,
      causationId: due.erasedEventId,
      actor: { kind: 'service' },
      time: clock.now(),
    },
  });

  // First of all: from here on nothing of the account can be read, whatever happens to the rest.
  await vault.erase(accountId);
  const signing = (await consistentQuery(deps, erasureQueries)).keys(accountId);
  for (const each of signing) await destroyKey(deps, each);
  for (const { id, expiresAt } of (await consistentQuery(deps, peopleQueries)).all(accountId)) {
    if (expiresAt !== undefined) await forgetInvitation(deps, id, causedBy(`erase/${id}`));
    else await erasePersonOf(deps, id, accountId, causedBy(`erase/${id}`));
  }
  const keys = async (limit: number) =>
    (await consistentQuery(deps, apiKeyQueries)).page(accountId, { offset: 0, limit }).rows;
  await drainList(
    keys,
    async ({ id: keyId }) => {
      // Refused where it was revoked meanwhile, which is as good.
      const command = { type: 'RevokeKey', keyId, accountId } as const;
      await actors.send(apiKeyAggregate, keyId, command, causedBy(`erase/${keyId}`));
    },
    stopping,
  );
  const unfinished = async (limit: number) =>
    (await consistentQuery(deps, unfinishedQueries)).abandoned(accountId, limit);
  await drainList(
    unfinished,
    async (conversionId) => {
      const ended = { code: 'account_erased', message: UNREADABLE } as const;
      const about = { accountId, conversionId, at: clock.now(), ...ended };
      const context = causedBy(`erase/${conversionId}`, conversionId);
      const command = { type: 'AbandonConversion', ...about } as const;
      orThrow(await actors.send(conversionAggregate, conversionId, command, context));
    },
    stopping,
  );
  const stored = async (limit: number) =>
    (await consistentQuery(deps, storedBlobQueries)).ended(accountId, limit);
  await drainList(
    stored,
    (conversion) => expireConversion(deps, conversion, due.erasedEventId),
    stopping,
  );
  if (stopping?.aborted === true) return;
  const command = { type: 'CompleteErasure', accountId } as const;
  await sendToAccount(deps, command, causedBy(`erase/${accountId}`));
}
