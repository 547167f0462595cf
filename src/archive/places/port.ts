/** A place that keeps backups: a few files of ours by name, and documents as a blob store has them. */
import type { BlobStore } from '../../documents/port.ts';

export interface BackupPlace {
  /** The place as its operator named it, for messages. */
  readonly name: string;
  /** Ciphertext, as the service stored it. */
  readonly documents: BlobStore;
  read(file: string): Promise<Buffer | undefined>;
  /** Whole and durable when it resolves; it takes the place of an older one. */
  write(file: string, content: Buffer): Promise<void>;
  /** Does nothing if there is none. */
  delete(file: string): Promise<void>;
  /** The names of all that lies there, also of what is not ours; in any order. */
  list(): AsyncIterable<string>;
}
