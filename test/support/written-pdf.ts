/** Small PDFs that are written by hand, of another make than Chrome's. */
import { deflateSync } from 'node:zlib';

/** A file of these objects, from number 1 on; the first is its catalog. */
export function pdfOfObjects(objects: readonly (string | Buffer)[], trailer = ''): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')];
  let size = 9;
  const rows = objects.map((object, n) => {
    const part = Buffer.concat([
      Buffer.from(`${n + 1} 0 obj\n`),
      Buffer.from(object),
      Buffer.from('\nendobj\n'),
    ]);
    const row = `${String(size).padStart(10, '0')} 00000 n \n`;
    parts.push(part);
    size += part.length;
    return row;
  });
  const count = objects.length + 1;
  const table = `xref\n0 ${count}\n0000000000 65535 f \n${rows.join('')}`;
  const end = `trailer\n<</Size ${count}/Root 1 0 R${trailer}>>\nstartxref\n${size}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(table + end)]);
}

/** The number of a page's object; two more follow it. */
const at = (n: number): number => 5 + 3 * n;

/** A page for each text. With `bookmarks` each page has one, and a link by name to the first page. */
export function pdfOf(
  texts: readonly string[],
  { title, bookmarks = false }: { readonly title?: string; readonly bookmarks?: boolean } = {},
): Buffer {
  const items = at(texts.length);
  const pages = texts.flatMap((text, n) => {
    const content = deflateSync(`BT /F1 24 Tf 20 100 Td (${text}) Tj ET`);
    const own = at(n);
    return [
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 200]/Resources<</Font<</F1 3 0 R>>>>/Contents ${own + 1} 0 R` +
        `${bookmarks ? `/Annots[${own + 2} 0 R]` : ''}>>`,
      Buffer.concat([
        Buffer.from(`<</Length ${content.length}/Filter/FlateDecode>>\nstream\n`),
        content,
        Buffer.from('\nendstream'),
      ]),
      '<</Type/Annot/Subtype/Link/Rect[0 0 50 50]/Dest(first)/Border[0 0 1]>>',
    ];
  });
  const outline = texts.map((text, n) => {
    const [before, after] = [items + n, items + n + 2];
    return (
      `<</Title(${text})/Parent ${items} 0 R/Dest[${at(n)} 0 R/XYZ 0 200 0]` +
      `${n > 0 ? `/Prev ${before} 0 R` : ''}${n + 1 < texts.length ? `/Next ${after} 0 R` : ''}>>`
    );
  });
  const kids = texts.map((_, n) => `${at(n)} 0 R`).join(' ');
  const names = `/Names<</Dests<</Names[(first)[${at(0)} 0 R/Fit]]>>>>`;
  return pdfOfObjects(
    [
      `<</Type/Catalog/Pages 2 0 R${bookmarks ? `/Outlines ${items} 0 R${names}` : ''}>>`,
      `<</Type/Pages/Count ${texts.length}/Kids[${kids}]>>`,
      '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
      `<<${title === undefined ? '' : `/Title(${title})`}>>`,
      ...pages,
      `<</Type/Outlines/Count ${texts.length}/First ${items + 1} 0 R/Last ${items + texts.length} 0 R>>`,
      ...outline,
    ],
    '/Info 4 0 R',
  );
}
