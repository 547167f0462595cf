/** Lists that are read whole, page by page. */

interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** The length of the list. */
  readonly total: number;
}

/**
 * Reads each row once. Those that are added meanwhile move the others down where the newest are first, and are left out.
 * @param read the page that begins after so many rows
 */
export async function* wholeList<Row>(
  read: (offset: number) => Promise<ListPage<Row>>,
  order: 'newest' | 'oldest' = 'newest',
): AsyncGenerator<readonly Row[], void> {
  let taken = 0;
  let added = 0;
  for (let length: number | undefined; taken < (length ?? 1); ) {
    const { rows, total } = await read(taken + added);
    length ??= total;
    const moved = order === 'newest' ? Math.max(0, total - length - added) : 0;
    added += moved;
    if (rows.length === 0) return;
    const left = rows.slice(moved, moved + length - taken);
    taken += left.length;
    if (left.length > 0) yield left;
  }
}
