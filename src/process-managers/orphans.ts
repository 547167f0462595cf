/**
 * Deletes blobs that no event names: a request stored for an append that its process did not survive, or
 * the PDF of a rendering that died before its report. They would outlive every retention.
 */
import { storedBlobQueries } from '../../projections/stored-blobs.ts';
import type { Stoppable } from '../async/stoppable.ts';
import type { BlobAddress } from '../domain/blob-key.ts';
import type { Documents, Log } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import { timeOfId } from '../time/ids.ts';
import { startBackgroundLoop } from './background-loop.ts';

/** A blob's event follows within seconds; nodes' clocks may differ by minutes. */
const SETTLED_MS = 15 * 60 * 1000;
/** The pause between sweeps is the retention, within these bounds: a sweep lists all blobs. */
const SHORTEST_PAUSE_MS = 10 * 60 * 1000;
const LONGEST_PAUSE_MS = 24 * 60 * 60 * 1000;

type Sweeper = Log & Documents & { readonly logger: Logger };

/** Sweeps at once, and again after each pause. */
export function startOrphanSweep(deps: Sweeper & { readonly retentionSeconds: number }): Stoppable {
  const { logger, retentionSeconds } = deps;
  const step = async (stopping: AbortSignal): Promise<void> => {
    try {
      await sweep(deps, stopping);
    } catch (error) {
      // The next search finds what is left, and it comes soon enough.
      logger.warn({ err: error }, 'the search for blobs that no event names broke off');
    }
  };
  const pauseMs = Math.max(retentionSeconds * 1000, SHORTEST_PAUSE_MS);
  return startBackgroundLoop('orphans', step, logger, {
    everyMs: Math.min(pauseMs, LONGEST_PAUSE_MS),
  });
}

async function sweep(deps: Sweeper, stopping: AbortSignal): Promise<void> {
  const { blobs, logger, store } = deps;
  const [first] = await store.readAll({ limit: 1 });
  if (first === undefined) return;
  // A new log in the old one's place, or a setting that names the wrong one, must not cost all documents.
  if (!(await blobs.claim(first.id))) {
    logger.warn('the blob store belongs to another event log: what this one does not know is kept');
    return;
  }
  let deleted = 0;
  for await (const blob of blobs.list()) {
    if (stopping.aborted) break;
    if (!isOrphan(blob, deps) || !(await isOrphanByLog(blob, deps))) continue;
    await blobs.delete(blob.key);
    deleted += 1;
  }
  if (deleted > 0) logger.info({ deleted }, 'blobs that no event names are deleted');
}

function isOrphan({ conversionId, sha256 }: BlobAddress, { clock, readModel }: Sweeper): boolean {
  const settled = clock.now() - SETTLED_MS;
  const kept = readModel.query(storedBlobQueries).of(conversionId);
  if (kept === undefined) return timeOfId(conversionId) < settled;
  const { endedAt, hashes } = kept;
  return endedAt !== undefined && endedAt < settled && !hashes.includes(sha256);
}

/** Asks once the read model holds all that the log held a moment ago: a missing row then says something. */
async function isOrphanByLog(blob: BlobAddress, deps: Sweeper): Promise<boolean> {
  const head = await deps.store.head();
  await deps.runner.waitFor(head);
  // The order matters: the query may go over to another generation, which has not reached as far.
  return isOrphan(blob, deps) && deps.readModel.reached() >= head;
}
