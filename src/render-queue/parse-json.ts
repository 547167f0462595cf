const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Parses a message of another node. @throws {Error} it is not JSON in UTF-8 */
export function parseJson(data: Uint8Array): unknown {
  return JSON.parse(UTF8.decode(data));
}
