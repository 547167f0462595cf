/** The most memory that a WebAssembly program may have: the limits of a thread do not count it. */
const MEMORY_SECTION = 5;

/** Reads an unsigned number in LEB128. */
function numberAt(
  bytes: Uint8Array,
  start: number,
): { readonly value: number; readonly end: number } {
  let value = 0;
  let at = start;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at] ?? 0;
    value += (byte & 0x7f) * 2 ** shift;
    at += 1;
    if (byte < 0x80) return { value, end: at };
  }
}

/**
 * Replaces the most memory that a WebAssembly program declares: the engine lets it have no more.
 * @param mostPages of 64 KiB each
 * @throws {Error} when it declares no bound, which could be replaced
 */
export function withMemoryOf(program: Uint8Array, mostPages: number): Uint8Array<ArrayBuffer> {
  const changed = new Uint8Array(program);
  for (let at = 8; at < changed.length; ) {
    const id = changed[at];
    const { value: length, end: start } = numberAt(changed, at + 1);
    if (id === MEMORY_SECTION) {
      const { end: flagsAt } = numberAt(changed, start);
      const bounded = ((changed[flagsAt] ?? 0) & 1) === 1;
      const { end: mostAt } = numberAt(changed, flagsAt + 1);
      const { end } = numberAt(changed, mostAt);
      if (!bounded || mostPages >= 2 ** (7 * (end - mostAt))) break;
      for (let byte = mostAt; byte < end; byte += 1) {
        const more = byte + 1 < end ? 0x80 : 0;
        changed[byte] = (Math.floor(mostPages / 2 ** (7 * (byte - mostAt))) & 0x7f) | more;
      }
      return changed;
    }
    at = start + length;
  }
  throw new Error('The program declares its memory in another way than is known.');
}
