/** How long files may be downloaded: until their retention ends, or until they were downloaded where the request says so. */
import type { ConversionRow } from '../../../projections/conversions.ts';
import { deleteAfterDownload } from '../../conversions/take-back.ts';
import { accountAggregate } from '../../domain/account.ts';
import { holdInForce } from '../../domain/hold.ts';
import { endOf, requestedRetentionMs } from '../../domain/retention.ts';
import { ServiceError } from '../../errors/errors.ts';
import { commandContext, type HttpContext, isByOperatorSocket, releaseAtEnd } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';

export const ERASED = 'The file can no longer be read: its account was erased.';

/** The time when the retention ends of what is stored of an ended conversion; a hold keeps it longer. */
function endOfRetention({ config }: RouteDependencies, row: ConversionRow): number {
  const { completedAt, failedAt, retentionSeconds: requested } = row;
  const { retentionSeconds, failedRetentionSeconds } = config;
  const end = endOf(row);
  const seconds = end === 'completed' ? retentionSeconds : failedRetentionSeconds;
  const keptMs = Math.min(seconds * 1000, requestedRetentionMs(requested, end));
  return (completedAt ?? failedAt ?? Number.POSITIVE_INFINITY) + keptMs;
}

/**
 * @returns the time when the retention ends, which is over where a hold alone keeps what is stored
 * @throws {ServiceError} `gone`, with the message where the retention is the reason
 */
export async function assertInRetention(
  deps: RouteDependencies,
  row: ConversionRow,
  message?: string,
): Promise<number> {
  const { state } = await deps.actors.read(accountAggregate, row.accountId);
  if (state.status === 'erased') throw new ServiceError('gone', ERASED);
  // The deletion itself may still be under way.
  const now = deps.clock.now();
  const end = endOfRetention(deps, row);
  if (row.expired || (now >= end && holdInForce(state, now) === undefined)) {
    throw new ServiceError('gone', message);
  }
  return end;
}

/** The sender of a command that follows from a download: nobody who is known, where a link was used. */
export const downloadContext = (ctx: HttpContext, deps: RouteDependencies, accountId: string) =>
  commandContext(ctx, deps, {
    accountId,
    actor: ctx.state.caller?.actor ?? { kind: 'anonymous' },
  });

/**
 * Deletes what is kept until its first download once the connection has taken the whole answer. An answer that was broken
 * off, or a download that could not be recorded, leaves it to its retention.
 */
export function deleteOnceSent(
  ctx: HttpContext,
  deps: RouteDependencies,
  rows: readonly ConversionRow[],
): void {
  // Who has the store may look at a PDF that its client has not had yet.
  if (isByOperatorSocket(ctx)) return;
  const passing = rows.filter(({ retentionSeconds }) => retentionSeconds === 0);
  if (passing.length === 0) return;
  const record = async (): Promise<void> => {
    for (const row of passing) {
      await deleteAfterDownload(deps, row, await downloadContext(ctx, deps, row.accountId));
    }
  };
  releaseAtEnd(ctx, () => {
    if (!ctx.res.writableFinished) return;
    record().catch((err: unknown) => {
      ctx.state.log.error(
        { err },
        'A PDF stays though it was downloaded. Its retention deletes it.',
      );
    });
  });
}
