/** Data that a document holds itself, as `data:` URLs: megabytes of base64, which no search should go through. */

const LONG_DATA = /base64,[A-Za-z0-9+/]{64,}/g;
/** The end stays: with what follows the data it may make a word that is searched for. */
const END_LENGTH = 32;

/** The same text with only the ends of its long base64 data. */
export const withoutData = (text: string): string =>
  text.includes('base64,')
    ? text.replace(LONG_DATA, (all) => `base64,${all.slice(-END_LENGTH)}`)
    : text;
