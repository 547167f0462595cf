/**
 * The embedded blob store: small requests and manifests are rows of the embedded database, written in the
 * transaction of the event that names them; large ones, and PDFs of any size, are files.
 * See docs/decisions/0001-request-documents.md.
 */
import { Readable } from 'node:stream';
import type { BlobAddress, BlobKind } from '../domain/blob-key.ts';
import type { BlobRef } from '../domain/event-fields.ts';
import type { EmbeddedDatabase, StoredInDatabase } from '../sqlite/database.ts';
import { addressOf, checkConversionId, checkRange, parseKey, refOf, verified } from './address.ts';
import { type BlobRange, type BlobStore, BlobStoreUnavailable, StagedBlob } from './port.ts';

/** Up to here a row costs less than a file. */
const LARGEST_ROW_BYTES = 64 * 1024;

const DDL = `
CREATE TABLE IF NOT EXISTS blobs (
  key TEXT NOT NULL UNIQUE,
  content BLOB NOT NULL
) STRICT`;

export function createBlobTable(database: Pick<EmbeddedDatabase, 'define'>): void {
  database.define(DDL);
}

class StagedRow extends StagedBlob implements StoredInDatabase {
  readonly database: EmbeddedDatabase;
  readonly storeIn: () => void;

  constructor(
    ref: BlobRef,
    write: () => Promise<void>,
    database: EmbeddedDatabase,
    storeIn: () => void,
  ) {
    super(ref, write);
    this.database = database;
    this.storeIn = storeIn;
  }
}

export class EmbeddedBlobStore implements BlobStore {
  readonly #database: EmbeddedDatabase;
  readonly #files: BlobStore;
  readonly #largestRow: number;
  readonly #insert;
  readonly #select;
  readonly #delete;
  readonly #deleteOne;

  /** `files` takes what is larger than `largestRow` bytes, and PDFs: copies of them lie where renderers put them. */
  constructor(database: EmbeddedDatabase, files: BlobStore, largestRow = LARGEST_ROW_BYTES) {
    const { db } = database;
    createBlobTable(database);
    this.#database = database;
    this.#files = files;
    this.#largestRow = largestRow;
    this.#insert = db.prepare<[string, Buffer]>(
      'INSERT INTO blobs (key, content) VALUES (?, ?) ON CONFLICT DO NOTHING',
    );
    this.#select = db.prepare<[string], Buffer>('SELECT content FROM blobs WHERE key = ?').pluck();
    // '0' is the character after '/': the range is every key of one conversion.
    this.#delete = db.prepare<[string, string]>(
      `DELETE FROM blobs WHERE key > ? || '/' AND key < ? || '0'`,
    );
    this.#deleteOne = db.prepare<[string]>('DELETE FROM blobs WHERE key = ?');
  }

  stage(conversionId: string, kind: BlobKind, content: Buffer): StagedBlob {
    // A row is stored with its event, or nobody would find it.
    const isReported = kind === 'document' || kind === 'picture';
    if (isReported || content.length > this.#largestRow) {
      return this.#files.stage(conversionId, kind, content);
    }
    const ref = refOf(conversionId, kind, content);
    const insert = (): void => void this.#insert.run(ref.key, content);
    const write = (): Promise<void> => this.#write(`store ${ref.key}`, insert);
    return new StagedRow(ref, write, this.#database, insert);
  }

  adopt(
    conversionId: string,
    kind: BlobKind,
    file: { readonly path: string; readonly sha256: string; readonly bytes: number },
  ): Promise<BlobRef> {
    return this.#files.adopt(conversionId, kind, file);
  }

  async read(ref: BlobRef): Promise<Buffer> {
    return this.#row(ref) ?? (await this.#files.read(ref));
  }

  async open(ref: BlobRef, range?: BlobRange): Promise<Readable> {
    const content = this.#row(ref);
    if (content === undefined) return this.#files.open(ref, range);
    if (range === undefined) return Readable.from(content, { objectMode: false });
    const { start, end } = checkRange(ref, range);
    return Readable.from(content.subarray(start, end + 1), { objectMode: false });
  }

  async exists(ref: BlobRef): Promise<boolean> {
    return this.#row(ref) !== undefined || (await this.#files.exists(ref));
  }

  async deleteAll(conversionId: string): Promise<void> {
    checkConversionId(conversionId);
    await this.#write(`delete the blobs of ${conversionId}`, () => {
      this.#delete.run(conversionId, conversionId);
    });
    await this.#files.deleteAll(conversionId);
  }

  async delete(key: string): Promise<void> {
    addressOf(key);
    await this.#write(`delete ${key}`, () => {
      this.#deleteOne.run(key);
    });
    await this.#files.delete(key);
  }

  /** Files alone: a row is written with its event. */
  list(): AsyncIterable<BlobAddress> {
    return this.#files.list();
  }

  claim(log: string): Promise<boolean> {
    return this.#files.claim(log);
  }

  /** Undefined: it is a file, or nothing. @throws {BlobStoreUnavailable} */
  #row(ref: BlobRef): Buffer | undefined {
    parseKey(ref);
    let row: Buffer | undefined;
    try {
      row = this.#select.get(ref.key);
    } catch (error) {
      throw new BlobStoreUnavailable(`Could not read ${ref.key}.`, { cause: error });
    }
    return row && verified(ref, row);
  }

  async #write(what: string, work: () => void): Promise<void> {
    try {
      await this.#database.commit(work);
    } catch (error) {
      throw new BlobStoreUnavailable(`Could not ${what}.`, { cause: error });
    }
  }
}
