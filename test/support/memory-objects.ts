/** A driver of remote objects that keeps them in memory, where a test may change them. */
import { buffer } from 'node:stream/consumers';
import { bufferContent, type ObjectContent, type Objects } from '../../src/documents/objects.ts';
import type { BlobRange } from '../../src/documents/port.ts';

export class MemoryObjects implements Objects {
  readonly stored = new Map<string, Buffer>();

  async put(key: string, content: ObjectContent): Promise<void> {
    const bytes = await buffer(content.open());
    if (bufferContent(bytes).sha256 !== content.sha256) throw new Error(`${key}: another hash`);
    this.stored.set(key, bytes);
  }

  async get(key: string, range?: BlobRange) {
    const whole = this.stored.get(key);
    if (whole === undefined) return undefined;
    const part = range === undefined ? whole : whole.subarray(range.start, range.end + 1);
    return { bytes: whole.length, content: bufferContent(part).open() };
  }

  async size(key: string): Promise<number | undefined> {
    return this.stored.get(key)?.length;
  }

  async delete(key: string): Promise<void> {
    this.stored.delete(key);
  }

  async *list(folder: string): AsyncGenerator<string> {
    yield* [...this.stored.keys()].filter((key) => key.startsWith(folder));
  }
}

export async function listed<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
