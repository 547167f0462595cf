import { isPressledgerError, PressledgerTimeout, PressledgerUnreachable } from './errors.ts';

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10_000;
/** If the service asks for a longer wait, the caller gets the error instead. */
const LONGEST_RETRY_AFTER_SECONDS = 60;

/** @param attempt from 0; each next delay is twice as long, and no two clients keep in step */
export function delayMs(attempt: number): number {
  const most = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt);
  return most / 2 + (Math.random() * most) / 2;
}

/** Milliseconds after which the same request may do better; undefined where it will not. */
export function retryDelayMs(error: unknown, attempt: number): number | undefined {
  if (error instanceof PressledgerUnreachable) return delayMs(attempt);
  if (!isPressledgerError(error) || ![429, 503].includes(error.status)) return undefined;
  if (error.retryAfter === undefined) return delayMs(attempt);
  return error.retryAfter > LONGEST_RETRY_AFTER_SECONDS ? undefined : error.retryAfter * 1000;
}

/** @throws {unknown} the signal's reason, as soon as it is aborted */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/**
 * Runs `work` with a signal that is aborted after `timeoutMs` too.
 * @param problem the beginning of the error's message
 * @throws {PressledgerTimeout}
 */
export async function withTimeout<T>(
  problem: string,
  timeoutMs: number | undefined,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (timeoutMs === undefined || timeoutMs === Infinity) return await work(signal);
  const late = new AbortController();
  const message = `${problem} within ${timeoutMs / 1000} seconds. The conversion goes on.`;
  const timer = setTimeout(() => late.abort(new PressledgerTimeout(message)), timeoutMs);
  try {
    return await work(signal ? AbortSignal.any([signal, late.signal]) : late.signal);
  } finally {
    clearTimeout(timer);
  }
}
