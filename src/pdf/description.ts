/** What a PDF says of itself: title, author and the like, its language, and what it claims to conform to. */
import type { RequestDocument } from '../domain/request-document.ts';
import { saveCatalog } from './bookmarks.ts';
import type { PdfObjects } from './pdf-objects.ts';
import { type Dictionary, MalformedPdf, PdfString, type PdfValue, Ref } from './values.ts';

/** More than is kept of it. */
const MAX_TITLE_CHARACTERS = 1_000;
const DESCRIBED = ['Title', 'Author', 'Subject', 'Keywords', 'Creator', 'Producer'];

function infoOf(objects: PdfObjects): Dictionary {
  return objects.dictionary(objects.trailer.get('Info'));
}

export function titleOf(objects: PdfObjects): string {
  const title = objects.resolve(infoOf(objects).get('Title'));
  return title instanceof PdfString ? title.text.slice(0, MAX_TITLE_CHARACTERS) : '';
}

function setInfo(objects: PdfObjects, entries: readonly (readonly [string, PdfValue])[]): void {
  if (entries.length === 0) return;
  objects.trailer.set('Info', objects.add(new Map([...infoOf(objects), ...entries])));
}

/** Takes over what the first of the documents says of itself. */
export function keepDescription(objects: PdfObjects, first: PdfObjects): void {
  const info = infoOf(first);
  const known = DESCRIBED.map((key) => [key, first.resolve(info.get(key))] as const);
  setInfo(
    objects,
    known.filter(([, value]) => value instanceof PdfString),
  );
  const language = first.resolve(first.catalog.get('Lang'));
  if (!(language instanceof PdfString)) return;
  objects.catalog.set('Lang', language);
  saveCatalog(objects);
}

/** Names of claims to PDF/A, PDF/UA, PDF/X, PDF/E and PDF/VT in XMP, and the keys of one in the information dictionary. */
const CLAIMS = /\b(?:pdfaid|pdfuaid|pdfxid|pdfeid|pdfvtid|GTS_PDFX\w*)\b/;

/** Takes the claim to a standard from a PDF that is not checked again. Without one its XMP stays. */
export function dropClaims(objects: PdfObjects): void {
  if (claims(objects)) dropXmp(objects);
  const info = infoOf(objects);
  const claimed = [...info.keys()].filter((key) => CLAIMS.test(key));
  if (claimed.length === 0) return;
  for (const key of claimed) info.delete(key);
  objects.trailer.set('Info', objects.add(info));
}

function claims(objects: PdfObjects): boolean {
  const metadata = objects.catalog.get('Metadata');
  if (!(metadata instanceof Ref)) return metadata !== undefined;
  try {
    const packet = objects.content(metadata.number).toString('latin1');
    // In UTF-16 each letter has a NUL beside it.
    return CLAIMS.test(packet.replaceAll('\0', ''));
  } catch (error) {
    if (error instanceof MalformedPdf) return true;
    throw error;
  }
}

function dropXmp(objects: PdfObjects): void {
  if (objects.catalog.delete('Metadata')) saveCatalog(objects);
}

export function setMetadata(
  objects: PdfObjects,
  { title, author, subject, keywords }: NonNullable<RequestDocument['metadata']>,
): void {
  const entries = Object.entries({
    Title: title,
    Author: author,
    Subject: subject,
    Keywords: keywords?.join(', '),
  }).flatMap(([key, text]) => (text === undefined ? [] : [[key, PdfString.of(text)] as const]));
  setInfo(objects, entries);
  // It would say something else.
  dropXmp(objects);
}
