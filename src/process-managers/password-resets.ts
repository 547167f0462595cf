/**
 * Follows requests for links that set a password, where the process that took them ended before. One that cannot be followed
 * does not hold up the others, and ends after an hour: so long would its link have been valid.
 */
import { mailQueries } from '../../projections/mail-queries.ts';
import { giveUpReset, MAILED_LIFETIME_MS, mailPasswordReset } from '../accounts/password-reset.ts';
import { firstCommand } from '../actors/command-context.ts';
import type { Vault } from '../documents/keys/vault.ts';
import type { Log } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import { type BackgroundLoop, startBackgroundLoop } from './background-loop.ts';
import { Resting } from './resting.ts';

/** The node that was asked follows a request itself, and knows the client: it gets so long. */
const PATIENCE_MS = 30_000;
const LOOK_MS = 5000;
const PAGE = 100;

export function startPasswordResets(
  deps: Log & {
    readonly vault: Vault;
    readonly logger: Logger;
    /** The rest after the first failure of a request. */
    readonly restMs?: number;
  },
): BackgroundLoop {
  const { clock, logger, readModel, runner, store } = deps;
  const resting = new Resting(deps.restMs ?? LOOK_MS);
  const follow = async (address: string, askedAt: number): Promise<void> => {
    const now = clock.now();
    try {
      await mailPasswordReset(deps, address, now, async () =>
        firstCommand(now, { kind: 'service' }),
      );
    } catch (err) {
      if (now < askedAt + MAILED_LIFETIME_MS) throw err;
      logger.error({ err, address }, 'A request for a link that sets a password is given up.');
      await giveUpReset(deps, address, now);
    }
  };
  const step = async (stopping: AbortSignal): Promise<void> => {
    for (;;) {
      const queries = readModel.query(mailQueries);
      const until = clock.now() - PATIENCE_MS;
      const asks = resting.awake(
        (n) => queries.resetAsks(until, n),
        ({ address }) => address,
        PAGE,
      );
      for (const { address, askedAt } of asks) {
        if (stopping.aborted) return;
        await follow(address, askedAt).catch((err: unknown) => {
          logger.error(
            { err, address },
            'A request for a link that sets a password is tried again.',
          );
          resting.failed(address);
        });
      }
      if (asks.length === 0) return;
      await runner.waitFor(await store.head());
    }
  };
  return startBackgroundLoop('password-resets', step, logger, { everyMs: LOOK_MS });
}
