import { setTimeout as pause } from 'node:timers/promises';

const LOOK_EVERY_MS = 20;

/** Looks until there is something to see. @throws the last look's error, or that there was nothing */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  withinMs = 120_000,
): Promise<T> {
  const end = performance.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (performance.now() > end) throw new Error(`${what}: not within ${withinMs} ms.`);
    await pause(LOOK_EVERY_MS);
  }
}
