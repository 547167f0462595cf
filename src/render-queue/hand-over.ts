import type { RenderJob } from './messages.ts';
import type { Delivery } from './port.ts';

const BACK_OFF_MS = 250;
const MAX_BACK_OFF_MS = 10_000;

/**
 * The pause before a job whose try failed is handed over again, in milliseconds: doubled each time, up to a cap. A disk
 * that is full, say, must not take all tries of a document within a moment.
 * @param failures the failed tries before this one
 */
export const backOffMs = (failures: number): number =>
  Math.min(BACK_OFF_MS * 2 ** failures, MAX_BACK_OFF_MS);

/** What an adapter does at each end of a delivery. */
type Ends = Pick<Delivery, 'releaseSlot' | 'ack' | 'nack' | 'requeue'>;

/**
 * Hands a job to a renderer. Exactly one of its ends comes: the first that the handler calls, or `nack` if it calls none.
 * Never rejects.
 * @returns false if the handler rejected
 */
export async function handOver(
  job: RenderJob,
  ends: Ends,
  unneeded: AbortSignal,
  handle: (delivery: Delivery) => Promise<void>,
): Promise<boolean> {
  let ended = false;
  const once = (end: () => void) => (): void => {
    if (ended) return;
    ended = true;
    end();
  };
  const nack = once(ends.nack);
  try {
    await handle({
      job,
      unneeded,
      releaseSlot: () => {
        if (!ended) ends.releaseSlot();
      },
      ack: once(ends.ack),
      nack,
      requeue: once(ends.requeue),
    });
    return true;
  } catch {
    // The renderer logs its own errors; here it only matters that the job is not lost.
    return false;
  } finally {
    nack();
  }
}
