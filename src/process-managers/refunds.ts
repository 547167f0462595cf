/** A failed conversion's credit goes back, once: the account counts its refunds and gives the next one only. */
import { type RefundDue, refundsDueQueries } from '../../projections/refunds-due.ts';
import { drainList } from '../async/drain-list.ts';
import type { Stoppable } from '../async/stoppable.ts';
import { accountAggregate } from '../domain/account.ts';
import type { Log } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import { startBackgroundLoop } from './background-loop.ts';

export function startRefunds({
  actors,
  clock,
  logger,
  readModel,
  runner,
  store,
}: Log & { readonly logger: Logger }): Stoppable {
  const refund = async (due: RefundDue) => {
    const { position: failedAt, accountId, failedEventId, ...refunded } = due;
    const { conversionId } = refunded;
    await actors.send(
      accountAggregate,
      accountId,
      { type: 'RefundConversion', accountId, failedAt, ...refunded },
      {
        commandId: `refund/${conversionId}`,
        metadata: {
          correlationId: conversionId,
          causationId: failedEventId,
          actor: { kind: 'service' },
          time: clock.now(),
        },
      },
    );
  };
  // Oldest failure first: the account refuses a refund whose turn it is not.
  const oldest = (limit: number) => readModel.query(refundsDueQueries).next(limit);
  const caughtUp = async () => runner.waitFor(await store.head());

  const round = (stopping: AbortSignal) => drainList(oldest, refund, stopping, caughtUp);
  return startBackgroundLoop('refunds', round, logger, {
    after: { runner, types: ['ConversionFailed'] },
  });
}
