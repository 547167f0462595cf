/** Words as a search compares them. Whatever is stored and whatever is asked for passes the same functions. */

/** Letters and digits that follow each other; a picture is a word by itself. */
const WORD = /[\p{L}\p{N}]+|\p{So}/gu;

/** The text without case and accents: `Straße` and `STRASSE`, `é` and `e` are the same. */
export function foldText(text: string): string {
  // Upper case first: only that way does ß become ss. A sigma has another form at the end of a word.
  const plain = text.normalize('NFKD').replace(/\p{M}+/gu, '');
  return plain.toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

export const wordsOf = (text: string): readonly string[] => foldText(text).match(WORD) ?? [];
