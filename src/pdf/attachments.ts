/** Files that lie within a PDF (ISO 32000-2, 7.11.4, and the associated files of ISO 19005-3). */
import { createHash } from 'node:crypto';
import { nameTree } from './bookmarks.ts';
import type { PdfObjects } from './pdf-objects.ts';
import { dictionary, Name, PdfString, type PdfValue } from './values.ts';

export interface Attachment {
  readonly filename: string;
  readonly content: Buffer;
  /** Media type. */
  readonly type: string;
  readonly relationship: string;
  readonly description?: string | undefined;
}

const byBytes = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/**
 * Adds files to those that there are: two may have one name.
 * @param modified the date that the document names as its own, as a PDF writes it
 */
export function attach(
  objects: PdfObjects,
  attachments: readonly Attachment[],
  modified: string | undefined,
): void {
  if (attachments.length === 0) return;
  const files = attachments.map((each) => {
    const { filename, content, type, relationship, description } = each;
    const checksum = createHash('md5').update(content).digest().toString('latin1');
    const parameters = dictionary({
      Size: content.length,
      ModDate: modified === undefined ? undefined : new PdfString(modified),
      CheckSum: new PdfString(checksum),
    });
    const file = objects.addStream(
      dictionary({ Type: new Name('EmbeddedFile'), Subtype: new Name(type), Params: parameters }),
      content,
    );
    const name = PdfString.of(filename);
    const specification = objects.add(
      dictionary({
        Type: new Name('Filespec'),
        F: name,
        UF: name,
        Desc: description === undefined ? undefined : PdfString.of(description),
        AFRelationship: new Name(relationship),
        EF: dictionary({ F: file, UF: file }),
      }),
    );
    return [PdfString.utf16(filename), specification] as const;
  });
  // Readers search by halves, some by the bytes and some by the characters: in UTF-16 both have the same order.
  const { catalog } = objects;
  const trees = objects.dictionary(catalog.get('Names'));
  const names = new Map<string, readonly [PdfString, PdfValue]>();
  const known = nameTree(objects, trees.get('EmbeddedFiles'));
  for (const [key, specification] of [...known, ...files]) {
    let own = key;
    for (let n = 2; names.has(own.bytes); n += 1) own = PdfString.utf16(`${key.text} ${n}`);
    names.set(own.bytes, [own, specification]);
  }
  const sorted = [...names.values()].toSorted(([a], [b]) => byBytes(a.bytes, b.bytes));
  trees.set('EmbeddedFiles', objects.add(dictionary({ Names: sorted.flat() })));
  catalog.set('Names', trees);
  const associated = objects.list(catalog.get('AF'));
  catalog.set('AF', [...associated, ...files.map(([, specification]) => specification)]);
}
