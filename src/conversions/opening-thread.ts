/** The thread that opens the names of conversions for searches: it answers slice by slice, in the order of asking. */
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { SearchRow } from '../../projections/conversions.ts';
import { ServiceError } from '../errors/errors.ts';
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

/** The thread's file, of the kind of this one: TypeScript in a clone, JavaScript in an installed package. */
const THREAD = join(import.meta.dirname, `opening-worker${extname(import.meta.filename)}`);

const RETRY_SECONDS = 2;

export class OpeningThread {
  #worker: Worker | undefined;
  #asked: PromiseWithResolvers<OpenedSlice>[] = [];

  /** Rejects where the thread ends; the next call starts another. */
  async open(slice: SealedSlice): Promise<OpenedSlice> {
    if (slice.rows.length === 0) return [];
    this.#worker ??= this.#start();
    const asked = Promise.withResolvers<OpenedSlice>();
    this.#asked.push(asked);
    // It is waited for by requests alone, which keep the process.
    this.#worker.postMessage(slice, []);
    return await asked.promise;
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(THREAD);
    worker.unref();
    let failure: unknown;
    worker.on('message', (entries: OpenedSlice) => this.#asked.shift()?.resolve(entries));
    worker.on('error', (error) => {
      failure = error;
    });
    worker.on('exit', () => {
      const left = this.#asked;
      [this.#worker, this.#asked] = [undefined, []];
      // Without a failure the service ends, and another node may answer.
      failure ??= new ServiceError('service_unavailable', undefined, { retryAfter: RETRY_SECONDS });
      for (const asked of left) asked.reject(failure);
    });
    return worker;
  }
}
