/** The signatures of a PDF that is changed: they do not hold any more, and a reader would take the PDF for tampered with. */
import { saveCatalog } from './bookmarks.ts';
import type { PdfObjects } from './pdf-objects.ts';
import { type Dictionary, type PdfValue, Ref } from './values.ts';

/** What makes a field one that is signed, and what its signature locks (ISO 32000-2, 12.7.5.5). */
const SIGNED = ['FT', 'V', 'SV', 'Lock'];

interface Field {
  readonly value: PdfValue;
  /** The kind of field that those above it say it is. */
  readonly kind: string | undefined;
}

/**
 * Takes the signatures out. The picture of a signature stays on its page, and so do fields that wait for one.
 * @returns true if there were any
 */
export function dropSignatures(objects: PdfObjects): boolean {
  const { catalog } = objects;
  const form = objects.dictionary(catalog.get('AcroForm'));
  const signed = new Set<Dictionary>();
  const signatures = new Set<number>();
  const seen = new Set<Dictionary>();
  const waiting: Field[] = [];
  const wait = (fields: PdfValue | undefined, kind?: string): void => {
    for (const value of objects.list(fields)) waiting.push({ value, kind });
  };
  wait(form.get('Fields'));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const field = objects.dictionary(next.value);
    if (seen.has(field)) continue;
    seen.add(field);
    const kind = objects.name(field.get('FT')) ?? next.kind;
    wait(field.get('Kids'), kind);
    if (kind !== 'Sig' || objects.resolve(field.get('V')) === null) continue;
    signed.add(field);
    const signature = field.get('V');
    if (signature instanceof Ref) signatures.add(signature.number);
    for (const key of SIGNED) field.delete(key);
    if (next.value instanceof Ref) objects.set(next.value.number, field);
  }
  // The rights that a signature gave, or the changes that it allows.
  const hadRights = catalog.delete('Perms');
  if (signed.size === 0 && !hadRights) return false;
  for (const number of signatures) objects.set(number, null);
  // A field of no kind is not one of the form.
  const fields = objects.list(form.get('Fields'));
  form.set(
    'Fields',
    fields.filter((each) => !signed.has(objects.dictionary(each))),
  );
  form.delete('SigFlags');
  const place = catalog.get('AcroForm');
  if (place instanceof Ref) objects.set(place.number, form);
  saveCatalog(objects);
  return true;
}
