/**
 * Document metadata. Chrome sets a title from the page and nothing else, so the information dictionary
 * is written anew in an incremental update (ISO 32000-1, 7.5.6) at the end of the file.
 */
import type { RequestDocument } from '../../domain/request-document.ts';
import { type PdfReader, reference } from './pdf-reader.ts';

type Metadata = NonNullable<RequestDocument['metadata']>;

/** A text string in UTF-16 with its mark, in hexadecimal: needs no escaping and holds every character. */
function textString(text: string): string {
  const bytes = Buffer.from(`\uFEFF${text}`, 'utf16le').swap16();
  return `<${bytes.toString('hex').toUpperCase()}>`;
}

const STRING = String.raw`(?:<[0-9A-Fa-f\s]*>|\((?:\\[\s\S]|[^\\)])*\))`;

/** @returns the bytes to append to the file that `pdf` reads */
export async function appendInfo(pdf: PdfReader, metadata: Metadata): Promise<Buffer> {
  const { title, author, subject, keywords } = metadata;
  const entries = Object.entries({
    Title: title,
    Author: author,
    Subject: subject,
    Keywords: keywords?.join(', '),
  }).filter((entry): entry is [string, string] => entry[1] !== undefined);
  if (entries.length === 0) return Buffer.alloc(0);

  const number = reference(pdf.trailer, 'Info');
  let info = (await pdf.object(number)).trim();
  for (const [key, text] of entries) {
    // Other strings are matched too, whole, so that nothing within one is taken for the entry.
    const strings = new RegExp(`(/${key}\\s*)?${STRING}`, 'g');
    info = info.replace(strings, (found, own?: string) => (own === undefined ? found : ''));
    info = info.replace(/^<</, () => `<</${key} ${textString(text)}\n`);
  }
  const object = `\n${number} 0 obj\n${info}\nendobj\n`;
  const trailer = pdf.trailer
    .slice(0, pdf.trailer.lastIndexOf('startxref'))
    .replace(/>>\s*$/, () => `\n/Prev ${pdf.startXref}>>\n`);
  const objectAt = `${pdf.size + 1}`.padStart(10, '0');
  const xrefAt = pdf.size + object.length;
  return Buffer.from(
    `${object}xref\n${number} 1\n${objectAt} 00000 n \n${trailer}startxref\n${xrefAt}\n%%EOF\n`,
    'latin1',
  );
}
