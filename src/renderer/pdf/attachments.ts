/** Files that lie within a PDF (ISO 32000-2, 7.11.4, and the associated files of ISO 19005-3). */
import { createHash } from 'node:crypto';
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

/** @param modified the date that the document names as its own, as a PDF writes it */
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
    return { key: PdfString.utf16(filename), specification };
  });
  // Readers search by halves, some by the bytes and some by the characters: in UTF-16 both have the same order.
  const sorted = files.toSorted((a, b) => byBytes(a.key.bytes, b.key.bytes));
  const names: PdfValue[] = sorted.flatMap(({ key, specification }) => [key, specification]);
  const { catalog } = objects;
  const trees = objects.dictionary(catalog.get('Names'));
  trees.set('EmbeddedFiles', objects.add(dictionary({ Names: names })));
  catalog.set('Names', trees);
  catalog.set(
    'AF',
    files.map(({ specification }) => specification),
  );
}
