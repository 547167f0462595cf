/** A failed conversion's credit goes back, once: the account's state knows how far refunds have got. */
import { type RefundDue, refundsDueQueries } from '../../projections/refunds-due.ts';
import type { Stoppable } from '../async/stoppable.ts';
import { accountAggregate } from '../domain/account.ts';
import type { Log } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import { startBackgroundLoop } from './background-loop.ts';
import { drainList } from './drain.ts';

export function startRefunds({
  actors,
  clock,
  logger,
  readModel,
  runner,
}: Log & { readonly logger: Logger }): Stoppable {
  const refund = async (due: RefundDue) => {
    const { position, failure, conversionId, accountId, failedEventId } = due;
    const outcome = await actors.send(
      accountAggregate,
      accountId,
      { type: 'RefundConversion', accountId, conversionId, failure, failedAt: position },
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
    return outcome.accepted ? outcome.position : undefined;
  };
  // Oldest failure first: the account refuses a refund whose turn it is not.
  const oldest = (limit: number) => readModel.query(refundsDueQueries).next(limit);

  const round = (stopping: AbortSignal) => drainList(runner, oldest, refund, stopping);
  return startBackgroundLoop('refunds', round, logger, {
    after: { runner, types: ['ConversionFailed'] },
  });
}
