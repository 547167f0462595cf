import type { Readable } from 'node:stream';
import type { BlobAddress, BlobKind } from '../domain/blob-key.ts';
import type { BlobRef } from '../domain/event-fields.ts';

/**
 * Content with its address known and its bytes not yet stored. An event store takes it with an append
 * whose events name it: in the append's own transaction where both share a database, before it otherwise.
 */
export class StagedBlob {
  readonly ref: BlobRef;
  readonly #write: () => Promise<void>;
  #isStoredApart = false;

  constructor(ref: BlobRef, write: () => Promise<void>) {
    this.ref = ref;
    this.#write = write;
  }

  /** It was stored by itself, so it may be there although no event names it. */
  get isStoredApart(): boolean {
    return this.#isStoredApart;
  }

  /** Stores it by itself, durable when this resolves. Safe to repeat. */
  async store(): Promise<void> {
    this.#isStoredApart = true;
    await this.#write();
  }
}

export interface BlobRange {
  /** First byte and last byte, both inclusive, both within the blob. */
  readonly start: number;
  readonly end: number;
}

/**
 * The blob store: what clients sent and the PDFs made of it, as `encryption.ts` encrypted it. Content never
 * lies in an event; an event holds a `BlobRef`. A blob's key is `<conversion id>/<kind>-<sha256>`:
 * content-addressed within its conversion, so that deleting one conversion's blobs never takes another's.
 */
export interface BlobStore {
  /** Names the content's address now and stores it when asked to, durable when `store()` resolves. */
  stage(conversionId: string, kind: BlobKind, content: Buffer): StagedBlob;

  /**
   * Takes over a file that lies in the same data directory, durable when it resolves; the file is gone
   * from its old place. `sha256` (hex) and `bytes` are what its writer measured while writing.
   */
  adopt(
    conversionId: string,
    kind: BlobKind,
    file: { readonly path: string; readonly sha256: string; readonly bytes: number },
  ): Promise<BlobRef>;

  /** The whole content. @throws {BlobNotFound} */
  read(ref: BlobRef): Promise<Buffer>;

  /**
   * The content, or a part of it, as a stream of the right length; its hash is the reader's to check.
   * @throws {BlobNotFound} before the first byte
   */
  open(ref: BlobRef, range?: BlobRange): Promise<Readable>;

  /** Resolves to true where `open` would find it; fetches nothing. */
  exists(ref: BlobRef): Promise<boolean>;

  /**
   * Deletes every blob of a conversion; does nothing if there is none.
   * @param named keys that events name: deleted also where a renderer has hidden them from a list
   */
  deleteAll(conversionId: string, named?: readonly string[]): Promise<void>;

  /** Deletes one blob; does nothing if there is none. */
  delete(key: string): Promise<void>;

  /**
   * Every blob that may have been stored without its event, in any order, read from the store little by
   * little. What comes or goes meanwhile may be missing.
   */
  list(): AsyncIterable<BlobAddress>;

  /**
   * Says that what is stored belongs to this event log, unless another one has said so before.
   * @param log a name of it, which is the same for ever
   * @returns false: it belongs to another one
   */
  claim(log: string): Promise<boolean>;
}

export class BlobNotFound extends Error {
  override readonly name = 'BlobNotFound';
}

/** The blob store could not store or read; the cause says why, for the log. */
export class BlobStoreUnavailable extends Error {
  override readonly name = 'BlobStoreUnavailable';
}

/** A blob that is stored, and is not what was stored. */
export class BlobDamaged extends BlobStoreUnavailable {}
