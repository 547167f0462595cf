/** Waits for the end of a conversion, however long the service is busy. */

import { delayMs, pause } from './back-off.ts';
import { isPressledgerError } from './errors.ts';
import { HELD_MS } from './options.ts';
import { type Conversion, type EndedConversion, hasEnded } from './types.ts';

/** @param look asks for the record, and has the service hold the request */
export async function untilEnded(
  look: () => Promise<Conversion>,
  signal: AbortSignal | undefined,
): Promise<EndedConversion> {
  for (let attempt = 0; ; attempt += 1) {
    const started = performance.now();
    try {
      const record = await look();
      if (hasEnded(record)) return record;
      if (performance.now() - started < HELD_MS) await pause(HELD_MS + delayMs(attempt), signal);
    } catch (error) {
      const busy = isPressledgerError(error) && [429, 503].includes(error.status);
      if (!busy) throw error;
      const delay = error.retryAfter === undefined ? delayMs(attempt) : error.retryAfter * 1000;
      await pause(delay, signal);
    }
  }
}
