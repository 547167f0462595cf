/** The place of a signature in a PDF (ISO 32000-1, 12.8; PAdES, ETSI EN 319 142-1): kept free first, filled when all else is done. */
import { createHash } from 'node:crypto';
import { pagesOf } from './page-tree.ts';
import type { PdfObjects } from './pdf-objects.ts';
import type { FieldPlan, PlacedField } from './signature-field.ts';
import { type Dictionary, dictionary, MalformedPdf, Name, PdfString, Ref } from './values.ts';

/** Room for a signature with certificates and timestamp. Authorities differ: most take less than half of it. */
export const SIGNATURE_BYTES = 16 * 1024;
/** Stands for numbers that are known in the end. */
const UNKNOWN = 9_999_999_999;
/** Printed, and locked (ISO 32000-1, table 165). */
const FLAGS = 0b1000_0100;
/** There is a signature, and only updates may be appended (table 219). */
const SIG_FLAGS = 0b11;

export interface SignaturePlan {
  /** 16 random bytes, by which the place is found again. */
  readonly token: Buffer;
  /** The time that the signature names. */
  readonly time: Date;
  readonly reason?: string | undefined;
  readonly location?: string | undefined;
  /** Where it can be seen; nowhere unless given. */
  readonly field?: FieldPlan | undefined;
}

/** The place within the file, from the `<` to behind the `>`. */
export interface SignaturePlace {
  readonly from: number;
  readonly to: number;
}

/** `D:20261124181739Z` */
const pdfDate = (time: Date): string =>
  `D:${time.toISOString().replaceAll(/\D/g, '').slice(0, 14)}Z`;

const text = (value: string | undefined): PdfString | undefined =>
  value === undefined ? undefined : PdfString.of(value);

/** Adds a field with a signature that is not there yet. @param seen the place where it can be seen, if any */
export function addSignature(
  objects: PdfObjects,
  plan: SignaturePlan,
  seen: PlacedField | undefined,
): void {
  const { catalog } = objects;
  const page = seen?.page ?? pagesOf(objects)[0];
  if (page === undefined) throw new MalformedPdf('the PDF has no page');
  const free = Buffer.concat([plan.token], SIGNATURE_BYTES);
  const signature = objects.add(
    dictionary({
      Type: new Name('Sig'),
      Filter: new Name('Adobe.PPKLite'),
      SubFilter: new Name('ETSI.CAdES.detached'),
      ByteRange: [0, UNKNOWN, UNKNOWN, UNKNOWN],
      Contents: new PdfString(free.toString('latin1')),
      M: new PdfString(pdfDate(plan.time)),
      Reason: text(plan.reason),
      Location: text(plan.location),
    }),
  );
  const field = dictionary({
    Type: new Name('Annot'),
    Subtype: new Name('Widget'),
    FT: new Name('Sig'),
    T: PdfString.of(freeName(objects)),
    TU: PdfString.of(seen === undefined ? 'Signature' : `Signature: ${seen.text}`),
    F: FLAGS,
    Rect: seen?.rect ?? [0, 0, 0, 0],
    AP: seen && dictionary({ N: seen.picture }),
    P: page,
    V: signature,
  });
  const widget = objects.add(field);
  tagField(objects, field, widget, page);
  const entries = objects.dictionary(page);
  entries.set('Annots', [...objects.list(entries.get('Annots')), widget]);
  if (catalog.has('StructTreeRoot')) entries.set('Tabs', new Name('S'));
  objects.set(page.number, entries);
  const form = objects.dictionary(catalog.get('AcroForm'));
  form.set('Fields', [...objects.list(form.get('Fields')), widget]).set('SigFlags', SIG_FLAGS);
  catalog.set('AcroForm', objects.add(form));
}

/** A name that no field of the document has. */
function freeName(objects: PdfObjects): string {
  const form = objects.dictionary(objects.catalog.get('AcroForm'));
  const taken = new Set(
    objects.list(form.get('Fields')).map((each) => {
      const name = objects.resolve(objects.dictionary(each).get('T'));
      return name instanceof PdfString ? name.text : '';
    }),
  );
  let name = 'Signature';
  for (let n = 2; taken.has(name); n += 1) name = `Signature ${n}`;
  return name;
}

/** Gives the field a tag, where the document has tags (ISO 14289-1, 7.18.4). */
function tagField(objects: PdfObjects, field: Dictionary, widget: Ref, page: Ref): void {
  const root = objects.catalog.get('StructTreeRoot');
  const tree = objects.dictionary(root);
  const [top] = objects.list(tree.get('K'));
  if (!(root instanceof Ref) || !(top instanceof Ref)) return;
  const reference = dictionary({ Type: new Name('OBJR'), Obj: widget, Pg: page });
  const tag = objects.add(
    dictionary({
      Type: new Name('StructElem'),
      S: new Name('Form'),
      P: top,
      Pg: page,
      K: reference,
    }),
  );
  const above = objects.dictionary(top);
  objects.set(top.number, above.set('K', [...objects.list(above.get('K')), tag]));
  const parents = objects.dictionary(tree.get('ParentTree'));
  const key = nextKey(objects, parents, tree);
  field.set('StructParent', key);
  const own = dictionary({ Nums: [key, tag], Limits: [key, key] });
  const nums = objects.list(parents.get('Nums'));
  const kids = objects.list(parents.get('Kids'));
  if (kids.length > 0) parents.set('Kids', [...kids, objects.add(own)]);
  else parents.set('Nums', [...nums, key, tag]);
  const place = tree.get('ParentTree');
  tree.set('ParentTree', place instanceof Ref ? place : objects.add(parents));
  if (place instanceof Ref) objects.set(place.number, parents);
  objects.set(root.number, tree.set('ParentTreeNextKey', key + 1));
}

/** A key that comes after all others of the tree. */
function nextKey(objects: PdfObjects, parents: Dictionary, tree: Dictionary): number {
  const next = objects.resolve(tree.get('ParentTreeNextKey'));
  const keys = [-1, typeof next === 'number' ? next - 1 : -1];
  const seen = new Set<Dictionary>();
  const waiting = [parents];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    for (const [n, each] of objects.list(node.get('Nums')).entries()) {
      if (n % 2 === 0 && typeof each === 'number') keys.push(each);
    }
    for (const kid of objects.list(node.get('Kids'))) waiting.push(objects.dictionary(kid));
  }
  return keys.reduce((most, each) => Math.max(most, each)) + 1;
}

/**
 * Finds the place that was kept free, in the finished file, and writes there which bytes are signed: all others.
 * @throws {MalformedPdf}
 */
export function placeOfSignature(content: Buffer, { token }: SignaturePlan): SignaturePlace {
  const hex = token.toString('hex');
  const starts = [hex, hex.toUpperCase()].map((each) => content.indexOf(`<${each}`, 0, 'latin1'));
  const from = Math.max(...starts);
  const to = from + 2 + 2 * SIGNATURE_BYTES;
  const rangeAt = content.lastIndexOf('/ByteRange', from, 'latin1');
  const range = content.toString('latin1', rangeAt, from);
  const [found] = /^\/ByteRange\s*\[\s*0(\s+9999999999){3}\s*\]/.exec(range) ?? [];
  if (from === -1 || content[to - 1] !== 0x3e || found === undefined) {
    throw new MalformedPdf('the place of the signature is lost');
  }
  const known = `/ByteRange[0 ${from} ${to} ${content.length - to}`;
  content.write(`${known.padEnd(found.length - 1)}]`, rangeAt, 'latin1');
  return { from, to };
}

/** SHA-256 of what is signed. */
export const digestAround = (content: Buffer, { from, to }: SignaturePlace): Buffer =>
  createHash('sha256').update(content.subarray(0, from)).update(content.subarray(to)).digest();

/** Writes the signature at its place. @returns false if it is larger than that */
export function fillSignature(content: Buffer, { from, to }: SignaturePlace, cms: Buffer): boolean {
  if (cms.length > SIGNATURE_BYTES) return false;
  const hex = cms.toString('hex').padEnd(to - from - 2, '0');
  content.write(hex, from + 1, 'latin1');
  return true;
}
