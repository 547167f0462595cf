/** The field in which a signature can be seen: its place on a page as people see it, and the picture that it shows. */
import { boxIn, geometryOf, type PageGeometry, shownSize, UPRIGHT } from './page-geometry.ts';
import { inherited, pagesOf } from './page-tree.ts';
import { PdfObjects } from './pdf-objects.ts';
import { dictionary, MalformedPdf, Name, type PdfValue, Ref } from './values.ts';

/** Lengths are points (1/72 inch), from the top left corner of the page as it is shown. */
export interface FieldPlace {
  /** From 1; the last page unless given. */
  readonly page?: number | undefined;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface FieldPlan extends FieldPlace {
  /** A PDF, as Chrome prints it: its first page is the picture. */
  readonly picture: Uint8Array;
  /** What the picture says, for people who cannot see it. */
  readonly text: string;
}

/** The field cannot be where it is asked for. */
export class FieldMisplaced extends Error {
  override readonly name = 'FieldMisplaced';
  readonly code: 'page_range' | 'not_signed';

  constructor(code: FieldMisplaced['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Chrome's sheets are up to half a point smaller than their names say. */
const SLACK = 1;
const MM_PER_POINT = 25.4 / 72;

/**
 * @returns the corners of the field in units of the page, and the matrix of its picture
 * @throws {FieldMisplaced} it is not within the page
 */
export function placed(
  geometry: PageGeometry,
  field: FieldPlace,
): { readonly rect: readonly number[]; readonly matrix: readonly number[] | undefined } {
  const { box, rotate, unit } = geometry;
  const [left, bottom, right, top] = box;
  const { width, height } = shownSize(geometry);
  const { x, y } = field;
  const [endX, endY] = [x + field.width, y + field.height];
  if (endX > width + SLACK || endY > height + SLACK) {
    const said = (points: number) => +(points * MM_PER_POINT).toFixed(1);
    throw new FieldMisplaced(
      'not_signed',
      `The field of the signature ends ${said(endX)} mm from the left and ${said(endY)} mm from the top, but its page is ` +
        `${said(width)} mm wide and ${said(height)} mm high. Change pdf.sign.field.`,
    );
  }
  const [x0, x1] = [x / unit, Math.min(endX, width) / unit];
  const [y0, y1] = [y / unit, Math.min(endY, height) / unit];
  const corners = (): readonly [number, number, number, number] => {
    switch (rotate) {
      case 90:
        return [left + y0, bottom + x0, left + y1, bottom + x1];
      case 180:
        return [right - x1, bottom + y0, right - x0, bottom + y1];
      case 270:
        return [right - y1, top - x1, right - y0, top - x0];
      default:
        return [left + x0, top - y1, left + x1, top - y0];
    }
  };
  return { rect: corners().map((each) => +each.toFixed(3)), matrix: UPRIGHT[rotate] };
}

/** @throws {FieldMisplaced} the page is not there */
function pageOfField(pages: readonly Ref[], { page: number }: FieldPlace): Ref {
  const page = number === undefined ? pages.at(-1) : pages[number - 1];
  if (page !== undefined) return page;
  const has = pages.length === 1 ? 'one page' : `${pages.length} pages`;
  throw new FieldMisplaced(
    'page_range',
    `The signature is to be on page ${number}, which is not in the document: it has ${has}.`,
  );
}

/** A field whose picture is in the PDF. */
export interface PlacedField {
  readonly page: Ref;
  readonly rect: readonly number[];
  readonly picture: Ref;
  readonly text: string;
}

/**
 * Brings the picture into the PDF, which has no field yet.
 * @throws {FieldMisplaced} @throws {MalformedPdf}
 */
export function placeField(objects: PdfObjects, plan: FieldPlan): PlacedField {
  const page = pageOfField(pagesOf(objects), plan);
  const { rect, matrix } = placed(geometryOf(objects, page), plan);
  return { page, rect, picture: addPicture(objects, plan.picture, matrix), text: plan.text };
}

/** Adds the picture as an object of its own (ISO 32000-1, 8.10). */
function addPicture(
  objects: PdfObjects,
  picture: Uint8Array,
  matrix: readonly number[] | undefined,
): Ref {
  const source = new PdfObjects(Buffer.from(picture));
  const [page] = pagesOf(source);
  const box = page && boxIn(source, page, 'MediaBox');
  if (page === undefined || box === undefined) throw new MalformedPdf('the picture has no page');
  const copied = new Map<number, Ref>();
  const copy = (value: PdfValue): PdfValue => {
    if (value instanceof Ref) return copyObject(value.number);
    if (Array.isArray(value)) return (value as readonly PdfValue[]).map(copy);
    if (value instanceof Map) return new Map([...value].map(([key, each]) => [key, copy(each)]));
    return value;
  };
  const copyObject = (number: number): Ref => {
    const known = copied.get(number);
    if (known !== undefined) return known;
    // It may refer to itself, so it has its number before it is copied.
    const own = objects.add(null);
    copied.set(number, own);
    const value = source.object(number);
    const isStream = value instanceof Map && value.has('Length');
    const made = copy(value);
    if (isStream && made instanceof Map) objects.setStored(own.number, made, source.stored(number));
    else objects.set(own.number, made);
    return own;
  };
  const contents = source.list(source.dictionary(page).get('Contents'));
  const content = contents.map((each) =>
    each instanceof Ref ? source.content(each.number) : Buffer.alloc(0),
  );
  const entries = dictionary({
    Type: new Name('XObject'),
    Subtype: new Name('Form'),
    BBox: box,
    Matrix: matrix,
    Resources: copy(inherited(source, page, 'Resources')),
  });
  return objects.addStream(
    entries,
    Buffer.concat(content.flatMap((each) => [each, Buffer.from('\n')])),
  );
}
