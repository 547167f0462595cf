import type { ProjectionRunner } from '../read-model/runner.ts';

const PAGE = 200;

/** Something to be done about a conversion, as a read model lists it. */
interface Due {
  readonly conversionId: string;
}

/**
 * Works off a to-do list of the read model, page by page, until it is empty or a stop is asked for.
 * @param next the first rows of the list, as they are now
 * @param handle resolves with the position of the event that takes the row off the list
 * @throws {Error} a row stays on the list: going on would be going round in circles
 */
export async function drainList<Row extends Due>(
  runner: Pick<ProjectionRunner, 'waitFor'>,
  next: (limit: number) => readonly Row[],
  handle: (row: Row) => Promise<bigint | undefined>,
  stopping: AbortSignal,
): Promise<void> {
  let before: string | undefined;
  for (;;) {
    const rows = next(PAGE);
    const first = rows[0]?.conversionId;
    if (first !== undefined && first === before) {
      throw new Error(`What is due for ${first} was done and is still due.`);
    }
    let handled = 0n;
    for (const row of rows) {
      if (stopping.aborted) return;
      const position = (await handle(row)) ?? 0n;
      if (position > handled) handled = position;
    }
    if (rows.length < PAGE) return;
    await runner.waitFor(handled);
    before = first;
  }
}
