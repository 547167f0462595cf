/** The thread that opens the names of conversions for searches: one slice at a time. */
import type { SearchRow } from '../../projections/conversions.ts';
import { threadFile, Threads } from '../async/threads.ts';
import type { SearchEntry } from './search-entry.ts';

/** A message to the thread, which keeps nothing of it. */
export interface SealedSlice {
  readonly accountId: string;
  /** The data key of the account. */
  readonly key: Uint8Array;
  readonly rows: readonly SearchRow[];
}

/** The answer: the same conversions in the same order. */
export type OpenedSlice = readonly SearchEntry[];

/** A slice has about a thousand short texts. */
const MAX_HEAP_MB = 128;

/** Its tasks are short. */
export class OpeningThread {
  readonly #threads = new Threads<SealedSlice, OpenedSlice>(
    threadFile(import.meta, 'opening-worker'),
    { maxThreads: 1, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } },
  );

  /** @throws {ThreadsClosed} */
  async open(slice: SealedSlice): Promise<OpenedSlice> {
    return slice.rows.length === 0 ? [] : await this.#threads.run(slice);
  }

  async close(): Promise<void> {
    await this.#threads.close();
  }
}
