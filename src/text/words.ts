/** Words as a search compares them. Whatever is stored and whatever is asked for passes the same functions. */

/** Letters and digits that follow each other; a picture is a word by itself. */
const WORD = /[\p{L}\p{N}]+|\p{So}/gu;
/** Most texts have no others, and are folded and parted in a third of the time. */
const ASCII = /^[\0-\x7f]*$/;
const ASCII_WORD = /[a-z0-9]+/g;

/** The text without case and accents: `Straße` and `STRASSE`, `é` and `e` are the same. */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  // Upper case first: only that way does ß become ss. A sigma has another form at the end of a word.
  const plain = text.normalize('NFKD').replace(/\p{M}+/gu, '');
  return plain.toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

export function wordsOf(text: string): readonly string[] {
  const folded = foldText(text);
  return folded.match(ASCII.test(folded) ? ASCII_WORD : WORD) ?? [];
}
