/** The base64 and decimal numbers of the C2SP formats: one text for one value, and no other. */

/** Decodes base64 (RFC 4648, section 4); undefined where `text` is not what its bytes encode to. */
export function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

/** Reads a size or index: ASCII digits without leading zeroes; undefined for anything else. */
export function fromDecimal(text: string): number | undefined {
  const value = Number(text);
  return /^(0|[1-9]\d*)$/.test(text) && Number.isSafeInteger(value) ? value : undefined;
}
