/**
 * Grants the credits that plans give for each month in UTC. The account counts each month once, so that neither a stop over
 * the turn of the month nor two nodes at once give any twice, or none.
 */
import { type AccountRow, accountQueries } from '../../projections/accounts.ts';
import type { Plans } from '../accounts/rate-limits.ts';
import { orThrow } from '../actors/command-context.ts';
import { drainList } from '../async/drain-list.ts';
import { accountAggregate } from '../domain/account.ts';
import { monthOf } from '../domain/key-use.ts';
import { ServiceError } from '../errors/errors.ts';
import type { Log } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import { type BackgroundLoop, startBackgroundLoop } from './background-loop.ts';

const PAUSE_MS = 60_000;

export function startRenewals(
  deps: Log & { readonly logger: Logger; readonly plans: Plans | undefined },
): BackgroundLoop {
  const { actors, clock, logger, plans, readModel, runner, store } = deps;
  const monthly = new Map(
    [...(plans ?? [])].flatMap(([name, { creditsMonthly }]): [string, number][] =>
      creditsMonthly === undefined ? [] : [[name, creditsMonthly]],
    ),
  );
  /** Accounts that hold as many credits as they may: they are asked again in the next round. */
  const full = new Set<string>();

  const round = async (stopping: AbortSignal): Promise<void> => {
    full.clear();
    if (monthly.size === 0) return;
    const now = clock.now();
    const month = monthOf(now);
    const renew = async ({ id: accountId, plan }: Pick<AccountRow, 'id' | 'plan'>) => {
      const commandId = `renew/${accountId}/${month}`;
      const amount = monthly.get(plan) ?? 0;
      const metadata = {
        correlationId: commandId,
        causationId: commandId,
        actor: { kind: 'service' },
        time: now,
      } as const;
      const command = { type: 'GrantCredits', accountId, amount, month, now } as const;
      try {
        orThrow(await actors.send(accountAggregate, accountId, command, { commandId, metadata }));
      } catch (error) {
        // Erased meanwhile, or full.
        if (!(error instanceof ServiceError) || error.code === 'service_unavailable') throw error;
        logger.warn({ accountId, err: error }, 'the credits of the month are not granted');
        full.add(accountId);
      }
    };
    const due = (limit: number) =>
      readModel
        .query(accountQueries)
        .renewalsDue([...monthly.keys()], month, limit + full.size)
        .filter(({ id }) => !full.has(id))
        .slice(0, limit);
    await drainList(due, renew, stopping, async () => runner.waitFor(await store.head()));
  };
  return startBackgroundLoop('renewals', round, logger, {
    everyMs: PAUSE_MS,
    after: { runner, types: ['AccountOpened', 'PlanChanged', 'AccountResumed'] },
  });
}
