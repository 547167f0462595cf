/** Numbers in the sentences that people read. */

/** `2,000`. */
export const numberText = (value: number): string => value.toLocaleString('en-US');

/** `1 page`, `2,000 pages`. */
export const counted = (count: number, what: string, plural = `${what}s`): string =>
  `${numberText(count)} ${count === 1 ? what : plural}`;
