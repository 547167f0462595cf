/**
 * Does the work for all items, at most so many at a time. The first that fails ends it: what has begun goes on, nothing
 * more begins.
 * @throws what the work throws
 */
export async function atMost<T>(
  count: number,
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  let failed = false;
  const worker = async (): Promise<void> => {
    for (let next = left.next(); !failed && next.done !== true; next = left.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: count }, worker));
}
