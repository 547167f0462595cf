/** Follows requests for links that set a password, where the process that took them ended before. */
import { mailQueries } from '../../projections/mail-queries.ts';
import { mailPasswordReset } from '../accounts/password-reset.ts';
import { firstCommand } from '../actors/command-context.ts';
import { drainList } from '../async/drain-list.ts';
import type { Vault } from '../documents/keys/vault.ts';
import type { Log } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import { type BackgroundLoop, startBackgroundLoop } from './background-loop.ts';

/** The node that was asked follows a request itself, and knows the client: it gets so long. */
const PATIENCE_MS = 30_000;

export function startPasswordResets(
  deps: Log & { readonly vault: Vault; readonly logger: Logger },
): BackgroundLoop {
  const { clock, logger, readModel, runner, store } = deps;
  const due = (limit: number) =>
    readModel.query(mailQueries).resetAsks(clock.now() - PATIENCE_MS, limit);
  const follow = ({ address }: { readonly address: string }): Promise<void> => {
    const now = clock.now();
    return mailPasswordReset(deps, address, now, async () =>
      firstCommand(now, { kind: 'service' }),
    );
  };
  const step = (stopping: AbortSignal): Promise<void> =>
    drainList(due, follow, stopping, async () => runner.waitFor(await store.head()));
  return startBackgroundLoop('password-resets', step, logger, { everyMs: PATIENCE_MS });
}
