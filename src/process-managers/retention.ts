/**
 * Deletes what clients sent and the PDFs made of it, and an event says so: when their retention ends, or,
 * of a conversion that failed, the shorter one of failures. Where an account's storage is full, its oldest failed ones go
 * first: they cost nothing.
 * It completes what a client asked for and could not be done at once.
 * While an account is under a hold, all of its documents stay.
 */

import { type DeletionDue, storedBlobQueries } from '../../projections/stored-blobs.ts';
import { drainList } from '../async/drain-list.ts';
import { expireConversion } from '../conversions/expire-conversion.ts';
import { BlobStoreUnavailable } from '../documents/port.ts';
import { accountAggregate } from '../domain/account.ts';
import { holdInForce } from '../domain/hold.ts';
import type { Budgets } from '../limits/budgets.ts';
import type { Documents, Log } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import { type BackgroundLoop, startBackgroundLoop } from './background-loop.ts';

const LONGEST_PAUSE_MS = 60_000;
/** The time from an event to the deletions after it: long enough that many failures are one round's work. */
const DELAY_MS = 1000;
/** More that cannot be deleted than this, and the blob store itself is away. */
const MOST_LEFT = 50;

export function startRetention(
  deps: Log &
    Documents & {
      readonly logger: Logger;
      readonly budgets: Budgets;
      readonly retentionSeconds: number;
      /** Of the requests of failed conversions. */
      readonly failedRetentionSeconds: number;
    },
): BackgroundLoop {
  const { actors, clock, logger, readModel, runner, store } = deps;
  const retentionMs = deps.retentionSeconds * 1000;
  const failedMs = deps.failedRetentionSeconds * 1000;
  const { limit: mostBytes } = deps.budgets.get('maxAccountStoredBytes');

  /** Conversions whose blobs could not, or may not, be deleted in this round. The others must still be deleted. */
  const left = new Set<string>();

  const expire = async (due: DeletionDue): Promise<void> => {
    const { conversionId, accountId, isAskedFor } = due;
    try {
      // The read model may not have heard of a hold yet.
      const { state } = await actors.read(accountAggregate, accountId);
      const mayGo = isAskedFor || holdInForce(state, clock.now()) === undefined;
      if (mayGo) await expireConversion(deps, due);
      else left.add(conversionId);
    } catch (error) {
      if (!(error instanceof BlobStoreUnavailable) || left.size >= MOST_LEFT) throw error;
      logger.error({ err: error, conversionId }, 'blobs are not deleted and will be tried again');
      left.add(conversionId);
    }
  };

  const blobs = () => readModel.query(storedBlobQueries);
  const overdue = (limit: number): readonly DeletionDue[] => {
    const now = clock.now();
    // By the clock of its renderer a failure may lie ahead.
    const failed = failedMs === 0 ? Number.MAX_SAFE_INTEGER : now - failedMs;
    return blobs().due(now, { completed: now - retentionMs, failed }, limit);
  };
  const crowdedOut = (limit: number) => blobs().crowdedOut(mostBytes, limit);
  const caughtUp = async () => runner.waitFor(await store.head());

  const round = async (stopping: AbortSignal): Promise<void> => {
    left.clear();
    for (const list of [overdue, crowdedOut]) {
      const next = (limit: number) =>
        list(limit + left.size)
          .filter(({ conversionId }) => !left.has(conversionId))
          .slice(0, limit);
      await drainList(next, expire, stopping, caughtUp);
      // What is deleted makes room: the next list is to know of it.
      await caughtUp();
    }
  };
  return startBackgroundLoop('retention', round, logger, {
    everyMs: Math.min(retentionMs, failedMs || retentionMs, LONGEST_PAUSE_MS),
    after: { runner, types: ['ConversionFailed', 'ConversionDeleted'] },
    delayMs: DELAY_MS,
  });
}
