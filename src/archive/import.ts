/** Brings an exported log into an empty event store. */
import type { CopyableEventStore } from '../event-store/port.ts';
import { canonicalEvent } from '../transparency-log/canonical-event.ts';
import type { CopyProgress } from './checked-log.ts';
import { beginCopy, EventCopy, treeOf, verifyCopy } from './copy.ts';
import type { ExportedLog } from './exported-log.ts';

/**
 * A call that was killed is gone on with by the next one for the same file. Until the last one has ended, no service
 * starts on the store.
 * @param log was checked, so that nothing is stored of a file that cannot be used
 * @throws {Error} one line: the store is not empty, or holds something else
 */
export async function importLog(
  { id, totals, entries }: ExportedLog,
  store: CopyableEventStore,
  onProgress: (progress: CopyProgress) => void,
): Promise<{ readonly found: number }> {
  if (await holdsWhole({ totals, entries }, store)) return { found: totals.events };
  await beginCopy(store, `an exported log (${id})`);
  const copy = new EventCopy(store);
  const began = performance.now();
  let done = 0;
  for await (const batch of entries()) {
    await copy.take(batch);
    done += batch.length;
    const perSecond = (done * 1000) / (performance.now() - began);
    onProgress({ done, total: totals.events, perSecond });
  }
  await verifyCopy(store, totals);
  await store.setBarrier(undefined);
  return { found: copy.found };
}

/** A call may have been killed between its last step and its answer. */
async function holdsWhole(
  { totals, entries }: Pick<ExportedLog, 'totals' | 'entries'>,
  store: CopyableEventStore,
): Promise<boolean> {
  if ((await store.barrier()) !== undefined) return false;
  const [there] = await store.readAll({ limit: 1 });
  if (there === undefined) return false;
  for await (const [entry] of entries()) {
    if (entry === undefined) continue;
    if (entry.line !== canonicalEvent(there)) return false;
    break;
  }
  const { events, root } = await treeOf(store);
  return events === totals.events && root === totals.root;
}
