/** Data that a document holds itself, as `data:` URLs: megabytes of base64, which no search should go through. */

const BEGIN = 'base64,';
/** The end stays: with what follows the data it may make a word that is searched for. */
const END_LENGTH = 32;
const MIN_LENGTH = 64;
/** What has an effect in HTML, CSS or a script ends before one of these, or is one. */
const MARKS = Array.from('"\'()\\;:{}@<>&=* \n\t');

/** The same text with only the ends of its long base64 data. */
export function withoutData(text: string): string {
  // A search for one character is many times as fast as one for the first that is no base64.
  const marks = MARKS.map((mark) => ({ mark, at: -1 }));
  const endFrom = (from: number): number => {
    let end = text.length;
    for (const next of marks) {
      if (next.at < from) {
        const at = text.indexOf(next.mark, from);
        next.at = at < 0 ? text.length : at;
      }
      end = Math.min(end, next.at);
    }
    return end;
  };
  let kept = '';
  let done = 0;
  for (let at = text.indexOf(BEGIN); at >= 0; at = text.indexOf(BEGIN, done)) {
    const from = at + BEGIN.length;
    const end = endFrom(from);
    const last = isLongAscii(text.slice(from, end)) ? end - END_LENGTH : from;
    kept += text.slice(done, from) + text.slice(last, end);
    done = end;
  }
  return done === 0 ? text : kept + text.slice(done);
}

const isLongAscii = (data: string): boolean =>
  data.length >= MIN_LENGTH && Buffer.byteLength(data) === data.length;
