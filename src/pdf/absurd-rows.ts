/** Rows of streams that nobody means: what inflates them takes memory for a whole row at once (ISO 32000-1, 7.4.4.4). */
import type { PdfObjects } from './pdf-objects.ts';
import { WorkFailure } from './work-plan.ts';

const MAX_ROW_BYTES = 16 * 1024 * 1024;
/** Not all objects of a file without them are read. */
const PARAMETERS = /\/DecodeParms\b/;

/**
 * Refuses a source before our own code or a viewer inflates any of its streams.
 * @throws {WorkFailure}
 */
export function refuseAbsurdRows(objects: PdfObjects, what: string): void {
  if (!objects.has(PARAMETERS)) return;
  for (const number of objects.numbers) {
    const head = objects.object(number);
    if (!(head instanceof Map)) continue;
    for (const each of objects.list(head.get('DecodeParms'))) {
      const parameters = objects.dictionary(each);
      const given = (key: string, otherwise: number): number => {
        const value = objects.resolve(parameters.get(key));
        return typeof value === 'number' ? value : otherwise;
      };
      const bits = given('Columns', 1) * given('Colors', 1) * given('BitsPerComponent', 8);
      if (bits / 8 <= MAX_ROW_BYTES) continue;
      const message = `${what} has a stream with rows of ${bits / 8} bytes, of at most ${MAX_ROW_BYTES}: it is damaged, or made to do harm.`;
      throw new WorkFailure('too_large', message);
    }
  }
}
