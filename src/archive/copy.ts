/**
 * How a log is copied, whatever it comes from and goes to: batch by batch, in its order. A backup, an export and a move
 * read an event store (`checked-log.ts`); a restore and an import read an archive.
 */
import type { Entry } from './log-lines.ts';

export interface CopyProgress {
  readonly done: number;
  readonly total: number;
  /** The total follows from positions, which have gaps where others use the server too. */
  readonly isEstimate?: boolean;
  readonly perSecond: number;
}

/** What takes the events: a store, a file, or what only looks at them. */
export interface LogTarget<E extends Entry> {
  take(entries: readonly E[]): void | Promise<void>;
}

/** Gives each batch to the targets, one after the other: what the first one refuses, the others never see. */
export async function copy<E extends Entry>(
  source: AsyncIterable<readonly E[]>,
  ...targets: readonly LogTarget<E>[]
): Promise<void> {
  for await (const entries of source) {
    for (const target of targets) await target.take(entries);
  }
}

export const rate = (done: number, began: number): number =>
  (done * 1000) / (performance.now() - began);

/** The batches of an archive, and with each one how many of its events have passed. */
export async function* telling<E extends Entry>(
  source: AsyncIterable<readonly E[]>,
  total: number,
  onProgress: (progress: CopyProgress) => void,
): AsyncGenerator<readonly E[]> {
  const began = performance.now();
  let done = 0;
  for await (const entries of source) {
    yield entries;
    done += entries.length;
    onProgress({ done, total, perSecond: rate(done, began) });
  }
}
