import { inspect, isDeepStrictEqual } from 'node:util';

const PAGE = 200;
/** Rows that fail one after the other until what they all need is taken to be away. */
const MANY_FAILURES = 10;

/**
 * Works off a to-do list, page by page, until it is empty or a stop is asked for. A row that fails does not hold up those
 * behind it on its page.
 * @param next the first rows of the list as they are now
 * @param handle resolves when the row is stored as done
 * @param caughtUp resolves when `next` no longer gives rows that were handled; needless where `next` itself waits
 * @throws {Error} a row stays on the list: going on would be going round in circles
 * @throws the first error of a row, after the page
 */
export async function drainList<Row>(
  next: (limit: number) => readonly Row[] | Promise<readonly Row[]>,
  handle: (row: Row) => Promise<unknown>,
  stopping?: AbortSignal,
  caughtUp?: () => Promise<void>,
): Promise<void> {
  let before: Row | undefined;
  for (;;) {
    const rows = await next(PAGE);
    const [first] = rows;
    if (first !== undefined && isDeepStrictEqual(first, before)) {
      throw new Error(
        `What is due was done and is still due: ${inspect(first, { breakLength: Infinity })}`,
      );
    }
    const errors: unknown[] = [];
    let inARow = 0;
    for (const row of rows) {
      if (stopping?.aborted === true) return;
      try {
        await handle(row);
        inARow = 0;
      } catch (error) {
        errors.push(error);
        inARow += 1;
        if (inARow === MANY_FAILURES) break;
      }
    }
    if (errors.length > 0) throw errors[0];
    if (rows.length < PAGE) return;
    await caughtUp?.();
    before = first;
  }
}
