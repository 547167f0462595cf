/** The blob store may be away for a while: a document is not at fault then, and it costs it no try. */
import { setTimeout as pause } from 'node:timers/promises';
import { BlobStoreUnavailable } from '../documents/port.ts';

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;
/** The longest wait. A damaged store looks as if it were away, so every wait must end. */
const LIMIT_MS = 10 * 60_000;

export interface RetryOptions {
  readonly stopping: AbortSignal;
  /** The time that a try under way may still take when the node stops. */
  readonly graceMs: number;
  /** Called when a try has failed because the store is away, before the next one. */
  readonly onAway: (error: BlobStoreUnavailable) => void;
  readonly limitMs?: number;
}

/**
 * Tries until the blob store answers.
 *
 * @returns undefined when the node stops and the store has not answered
 * @throws {BlobStoreUnavailable} after 10 minutes; what else `work` rejects with, at once
 */
export async function retryWhileAway<T>(
  work: () => Promise<T>,
  options: RetryOptions,
): Promise<T | undefined> {
  const { stopping, onAway, limitMs = LIMIT_MS } = options;
  const end = performance.now() + limitMs;
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(2 * ms, MAX_PAUSE_MS)) {
    try {
      return await withinGrace(work(), Math.max(0, end - performance.now()), options);
    } catch (error) {
      if (!(error instanceof BlobStoreUnavailable) || performance.now() + ms > end) throw error;
      onAway(error);
    }
    await pause(ms, undefined, { signal: stopping }).catch(() => undefined);
    if (stopping.aborted) return undefined;
  }
}

/** Undefined when the node has stopped and the grace is over. */
async function withinGrace<T>(
  working: Promise<T>,
  limitMs: number,
  { stopping, graceMs }: RetryOptions,
): Promise<T | undefined> {
  const over = Promise.withResolvers<undefined>();
  const timers = [
    setTimeout(() => over.reject(new BlobStoreUnavailable('It does not answer.')), limitMs),
  ];
  const onStop = (): void => {
    timers.push(setTimeout(() => over.resolve(undefined), graceMs));
  };
  if (stopping.aborted) onStop();
  else stopping.addEventListener('abort', onStop, { once: true });
  try {
    return await Promise.race([working, over.promise]);
  } finally {
    stopping.removeEventListener('abort', onStop);
    for (const timer of timers) clearTimeout(timer);
    // A promise that nobody waits for any more must not end the process when it fails later.
    working.catch(() => {});
  }
}
