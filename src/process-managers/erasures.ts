/**
 * Completes erasures and the destruction of keys that the log has begun, of accounts, certificates and people, also those
 * whose process ended in between, and forgets the addresses of invitations that have expired.
 */
import { erasureQueries } from '../../projections/erasures.ts';
import { destroyEnded, forgetEnded } from '../accounts/erase-people.ts';
import { completeErasure, destroyKey, type ErasureDependencies } from '../accounts/erasure.ts';
import type { Logger } from '../observe/log.ts';
import { type BackgroundLoop, startBackgroundLoop } from './background-loop.ts';

/** The pause before an erasure that could not be completed is tried again. */
const PAUSE_MS = 60_000;
/** More than this, and the keyring itself is away. */
const MOST_LEFT = 50;

export function startErasures(
  deps: ErasureDependencies & { readonly logger: Logger },
): BackgroundLoop {
  const { logger, readModel, runner } = deps;
  /** All up to there are destroyed. A start looks at all once more: no event says it. */
  let destroyedUpTo = 0;
  /** People before that whose keys could not be destroyed: they are tried again in each round. */
  const left = new Set<string>();
  const destroyPerson = async (personId: string): Promise<void> => {
    try {
      await destroyEnded(deps, personId);
      left.delete(personId);
    } catch (error) {
      if (left.size >= MOST_LEFT) throw error;
      left.add(personId);
      const message = 'the key of a person is not destroyed: it is tried again';
      logger.error({ err: error, personId }, message);
    }
  };
  const notForgotten = (err: unknown): void =>
    logger.error({ err }, 'an invitation that has expired is not forgotten: it is tried again');
  const destroyPeople = async (stopping: AbortSignal): Promise<void> => {
    for (const personId of left) {
      if (stopping.aborted) return;
      await destroyPerson(personId);
    }
    for (;;) {
      const ended = readModel.query(erasureQueries).people(destroyedUpTo);
      for (const { position, personId } of ended) {
        if (stopping.aborted) return;
        await destroyPerson(personId);
        destroyedUpTo = position;
      }
      if (ended.length === 0) return;
    }
  };
  const round = async (stopping: AbortSignal): Promise<void> => {
    for (const due of readModel.query(erasureQueries).keys()) {
      if (stopping.aborted) return;
      try {
        await destroyKey(deps, due);
      } catch (error) {
        const { accountId, certificateId } = due;
        const message = 'the key of a certificate is not destroyed: it is tried again';
        logger.error({ err: error, accountId, certificateId }, message);
      }
    }
    await destroyPeople(stopping).catch((err: unknown) => {
      logger.error({ err }, 'the keys of people are not destroyed: it is tried again');
    });
    await forgetEnded(deps, notForgotten, stopping).catch(notForgotten);
    for (const { accountId } of readModel.query(erasureQueries).all()) {
      if (stopping.aborted) return;
      try {
        await completeErasure(deps, accountId, stopping);
      } catch (error) {
        // A store that is away must not hold up the erasure of others.
        logger.error({ err: error, accountId }, 'an erasure is not complete: it is tried again');
      }
    }
  };
  return startBackgroundLoop('erasures', round, logger, {
    everyMs: PAUSE_MS,
    after: {
      runner,
      types: [
        'AccountErased',
        'SignatureSet',
        'SignatureRemoved',
        'PersonErased',
        'InvitationRevoked',
        'MemberJoined',
      ],
    },
  });
}
