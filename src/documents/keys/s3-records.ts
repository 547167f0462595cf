/** The keyring's records in a bucket, beside the blobs. The server must know `If-None-Match` on PUT. */
import { buffer } from 'node:stream/consumers';
import { bufferContent } from '../objects.ts';
import type { S3Objects } from '../s3-objects.ts';
import type { ListedKeyRecords } from './port.ts';

/** One look at a tombstone per active account in this time: each is a request that costs money. */
export const S3_RECHECK_MS = 30_000;

export class S3KeyRecords implements ListedKeyRecords {
  readonly #objects: S3Objects;

  private constructor(objects: S3Objects) {
    this.#objects = objects;
  }

  /**
   * @param objects below a folder that the renderer's credentials do not reach
   * @throws {Error} one line: the bucket cannot be used, or would keep what is erased
   */
  static async open(objects: S3Objects): Promise<S3KeyRecords> {
    await objects.checkUsable();
    if ((await objects.keepsVersions()) === true) {
      throw new Error(
        'The bucket of BLOB_STORE_URL keeps old versions, so an erased key would stay readable: ' +
          'use a bucket without versioning.',
      );
    }
    return new S3KeyRecords(objects);
  }

  create(name: string, text: string): Promise<boolean> {
    return this.#objects.create(name, bufferContent(Buffer.from(text, 'utf8')));
  }

  async read(name: string): Promise<string | undefined> {
    const stored = await this.#objects.get(name);
    return stored && (await buffer(stored.content)).toString('utf8');
  }

  async names(): Promise<readonly string[]> {
    const names: string[] = [];
    for await (const name of this.#objects.list('')) names.push(name);
    return names;
  }

  remove(name: string): Promise<void> {
    return this.#objects.delete(name);
  }
}
