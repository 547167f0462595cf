/** Prepares a tab for a document that is to give the same bytes each time. */
import { createHash } from 'node:crypto';
import type { PrintOptions } from '../domain/event-fields.ts';
import type { RequestDocument } from '../domain/request-document.ts';
import type { Tab } from './chrome/tab.ts';
import { openWindow } from './chrome/window.ts';

/** The moment at which clocks begin that a request gives no time. */
const USUAL_TIME = Date.UTC(2000, 0, 1);

/** JSON that does not depend on the order in which members were given. */
function orderedJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

/** Milliseconds since the epoch: where the clock of a deterministic document begins, which its PDF is dated to. */
export function fixedTime({ deterministic, deterministic_time }: PrintOptions): number | undefined {
  if (!deterministic) return undefined;
  return deterministic_time === undefined ? USUAL_TIME : Date.parse(deterministic_time);
}

/**
 * Gives the tab's next document a fixed clock, and numbers of chance that follow from the request.
 * @param tab one that was never used, without a window
 */
export async function fixWorld(
  tab: Tab,
  request: RequestDocument,
  options: PrintOptions,
): Promise<void> {
  const hash = createHash('sha256').update(orderedJson({ request, options })).digest();
  const seed = [0, 4, 8, 12].map((at) => hash.readUInt32LE(at));
  await tab.fix({ time: fixedTime(options) ?? USUAL_TIME, seed });
  if (request.html === undefined) return;
  await openWindow(tab);
  tab.end();
}
