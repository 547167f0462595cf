/** Backups in a bucket of an S3-compatible server. */
import { buffer } from 'node:stream/consumers';
import { bufferContent } from '../../documents/objects.ts';
import { ObjectBlobStore } from '../../documents/remote.ts';
import type { S3Objects } from '../../documents/s3-objects.ts';
import type { BackupPlace } from './port.ts';

/** The folder of the documents: another one than a blob store has, which the same bucket may hold. */
export const DOCUMENTS_FOLDER = 'backup/documents/';
export const FILES_FOLDER = 'backup/';
const DOCUMENTS = DOCUMENTS_FOLDER.slice(FILES_FOLDER.length);

export class BackupBucket implements BackupPlace {
  readonly name: string;
  readonly documents: ObjectBlobStore;
  readonly #files: S3Objects;

  /** @param files below `FILES_FOLDER` @param documents below `DOCUMENTS_FOLDER` */
  constructor(name: string, files: S3Objects, documents: S3Objects) {
    this.name = name;
    this.#files = files;
    this.documents = new ObjectBlobStore(documents, { triesWrites: false });
  }

  async read(file: string): Promise<Buffer | undefined> {
    const stored = await this.#files.get(file);
    return stored && (await buffer(stored.content));
  }

  async write(file: string, content: Buffer): Promise<void> {
    await this.#files.put(file, bufferContent(content));
  }

  async delete(file: string): Promise<void> {
    await this.#files.delete(file);
  }

  async *list(): AsyncGenerator<string> {
    for await (const name of this.#files.list('')) if (!name.startsWith(DOCUMENTS)) yield name;
  }
}
