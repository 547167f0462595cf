import type { Calls } from './definitions.ts';

/** Does the work of a call, and notes how long it took and whether it failed. */
export type ObserveCall = <T>(call: string, work: () => Promise<T>) => Promise<T>;

/** Names of errors, as labels. All others are `other`: a library may have any. */
const LABELS = new Map([
  ['VersionConflict', 'conflict'],
  ['EventStoreUnavailable', 'unavailable'],
  ['EventDamaged', 'damaged'],
  ['BlobStoreUnavailable', 'unavailable'],
  ['BlobNotFound', 'not_found'],
  ['TimeoutError', 'timeout'],
  ['NoRespondersError', 'unavailable'],
]);

const labelOf = (error: unknown): string =>
  (error instanceof Error && LABELS.get(error.name)) || 'other';

/** @param calls the names that it will be given: a label has few values */
export function callObserver({ duration, failures }: Calls, calls: readonly string[]): ObserveCall {
  // Each with its label found once: these calls are made for every request.
  const timers = new Map(calls.map((call) => [call, duration.labels({ call })]));
  return async (call, work) => {
    const begun = performance.now();
    try {
      return await work();
    } catch (error) {
      failures.inc({ call, error: labelOf(error) });
      throw error;
    } finally {
      timers.get(call)?.observe((performance.now() - begun) / 1000);
    }
  };
}
