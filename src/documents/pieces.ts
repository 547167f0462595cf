/** Cuts a stream into pieces of one size: the first of `firstSize`, the last of what is left. */
export async function* pieces(
  source: AsyncIterable<Buffer>,
  size: number,
  firstSize = size,
): AsyncGenerator<Buffer> {
  let wanted = firstSize;
  let held: Buffer[] = [];
  let length = 0;
  for await (const chunk of source) {
    let rest = chunk;
    while (length + rest.length >= wanted) {
      const taken = rest.subarray(0, wanted - length);
      rest = rest.subarray(taken.length);
      yield Buffer.concat([...held, taken], wanted);
      held = [];
      length = 0;
      wanted = size;
    }
    if (rest.length > 0) held.push(rest);
    length += rest.length;
  }
  if (length > 0) yield Buffer.concat(held, length);
}
