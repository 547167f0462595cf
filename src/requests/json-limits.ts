/** Limits on JSON text of clients, judged before it is parsed. */

/** More than ten times what the longest sensible request holds; parsed in some milliseconds. */
const MAX_VALUES = 20_000;
const MAX_DEPTH = 32;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const [OPEN_LIST, CLOSE_LIST] = [0x5b, 0x5d];
const [OPEN_OBJECT, CLOSE_OBJECT] = [0x7b, 0x7d];

/** So many bytes are looked at in less time than one search takes to begin. */
const NEAR_BYTES = 128;

/** The index of the quotation mark that ends the string begun before `at`. */
function endOfString(bytes: Buffer, at: number): number {
  let end = at;
  for (;;) {
    const near = Math.min(end + NEAR_BYTES, bytes.length);
    while (end < near && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1;
    if (end < near || end >= bytes.length) return end;
    const quote = bytes.indexOf(QUOTE, end);
    if (quote < 0) return bytes.length;
    let escapes = 0;
    while (quote - escapes > end && bytes[quote - escapes - 1] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return quote;
    end = quote + 1;
  }
}

/**
 * Finds JSON text that is not worth parsing: some megabytes can hold values whose parsing and checking
 * would keep everyone else waiting for seconds. It may be invalid all the same.
 * @returns what is wrong with it, after its name
 */
export function jsonLimitIssue(bytes: Buffer, maxValues = MAX_VALUES): string | undefined {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at + 1);
    else if (byte === COMMA) values += 1;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth -= 1;
    if (depth > MAX_DEPTH) {
      return `has lists or objects in one another, more than ${MAX_DEPTH} levels deep.`;
    }
    if (values > maxValues) return `holds more than ${maxValues} values.`;
  }
  return undefined;
}
