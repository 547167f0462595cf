/** How long what is stored of a conversion is kept after its end, where its client says so. A hold keeps it longer. */

/** A PDF that is to be deleted after its first download is kept so long for it. */
export const LONGEST_WAIT_FOR_DOWNLOAD_MS = 3_600_000;

/** A cancelled conversion has failed, too. */
export type KeptEnd = 'completed' | 'failed' | 'cancelled';

export const endOf = ({
  completedAt,
  failureCode,
}: {
  readonly completedAt?: number;
  readonly failureCode?: string;
}): KeptEnd => {
  if (completedAt !== undefined) return 'completed';
  return failureCode === 'cancelled' ? 'cancelled' : 'failed';
};

/** @returns infinity where its client says nothing: the retention of the service ends then first */
export function requestedRetentionMs(retentionSeconds: number | undefined, end: KeptEnd): number {
  if (end === 'cancelled') return 0;
  if (retentionSeconds === undefined) return Number.POSITIVE_INFINITY;
  // A failure has nothing to be downloaded.
  const waits = retentionSeconds === 0 && end === 'completed';
  return waits ? LONGEST_WAIT_FOR_DOWNLOAD_MS : retentionSeconds * 1000;
}
