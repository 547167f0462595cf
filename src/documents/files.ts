/**
 * Blobs as files: `<dir>/<shard>/<conversion id>/<kind>-<sha256>`. The shard is the end of the id, its
 * random part, so that no directory grows large.
 */
import { closeSync, fstatSync, openSync, read } from 'node:fs';
import { mkdir, open, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { type BlobAddress, type BlobKind, parseBlobKey } from '../domain/blob-key.ts';
import type { BlobRef } from '../domain/event-fields.ts';
import {
  addressOf,
  blobRef,
  checkConversionId,
  checkLength,
  checkRange,
  parseKey,
  refOf,
  verified,
} from './address.ts';
import {
  type FileCalls,
  fileCallsIn,
  hasCode,
  IN_BACKGROUND,
  moveFile,
  sweepTemporary,
  sync,
  syncPath,
  temporaryName,
  writeDurably,
} from './durable-file.ts';
import {
  BlobNotFound,
  type BlobRange,
  type BlobStore,
  BlobStoreUnavailable,
  StagedBlob,
} from './port.ts';

/** Names the log whose blobs these are. */
const LOG_MARK = 'log';
const SMALL_BYTES = 1024 * 1024;
const readFrom = promisify(read);
const SHARD = /^[0-9a-z]{2}$/;

export class FileBlobStore implements BlobStore {
  readonly #dir: string;
  readonly #temporary: string;
  #calls = IN_BACKGROUND;
  readonly #durableShards = new Set<string>();

  private constructor(dir: string) {
    this.#dir = dir;
    this.#temporary = join(dir, 'tmp');
  }

  /**
   * Makes the directory if there is none and removes what killed writers left in it.
   * @throws {BlobStoreUnavailable} the directory cannot be used
   */
  static async open(dir: string): Promise<FileBlobStore> {
    const store = new FileBlobStore(dir);
    await attempt('open the blob store', async () => {
      await mkdir(store.#temporary, { recursive: true, mode: 0o700 });
      store.#calls = await fileCallsIn(dir);
      await sweepTemporary(store.#temporary);
    });
    return store;
  }

  /** Opens what is there for reading alone: nothing is made, and nothing removed. */
  static readOnly(dir: string): FileBlobStore {
    return new FileBlobStore(dir);
  }

  stage(conversionId: string, kind: BlobKind, content: Buffer): StagedBlob {
    const ref = refOf(conversionId, kind, content);
    return new StagedBlob(ref, () => this.#write(ref, content));
  }

  adopt(
    conversionId: string,
    kind: BlobKind,
    file: { readonly path: string; readonly sha256: string; readonly bytes: number },
  ): Promise<BlobRef> {
    return attempt(`adopt ${file.path}`, async () => {
      const ref = blobRef(conversionId, kind, file.sha256, file.bytes);
      try {
        await syncFinished(file.path, file.bytes);
        await this.#move(file.path, ref);
      } catch (error) {
        // An earlier try may have moved it, and then failed to sync.
        if (!hasCode(error, 'ENOENT') || (await this.#size(ref)) !== ref.bytes) throw error;
      }
      await syncPath(this.#directory(conversionId), this.#calls);
      await this.#syncShard(conversionId);
      return ref;
    });
  }

  read(ref: BlobRef): Promise<Buffer> {
    return attempt(`read ${ref.key}`, async () => {
      const path = this.#path(ref);
      try {
        return verified(ref, await readWhole(path, ref, this.#calls));
      } catch (error) {
        throw notFoundIfMissing(ref, error);
      }
    });
  }

  open(ref: BlobRef, range?: BlobRange): Promise<Readable> {
    return attempt(`open ${ref.key}`, async () => {
      const path = this.#path(ref);
      const part = range && checkRange(ref, range);
      const file = await open(path, 'r').catch((error: unknown) => {
        throw notFoundIfMissing(ref, error);
      });
      const { size } = await file.stat();
      try {
        checkLength(ref, size);
      } catch (error) {
        await file.close();
        throw error;
      }
      return file.createReadStream({ ...part });
    });
  }

  async exists(ref: BlobRef): Promise<boolean> {
    return attempt(`look for ${ref.key}`, async () => {
      const bytes = await this.#size(ref);
      if (bytes !== undefined) checkLength(ref, bytes);
      return bytes !== undefined;
    });
  }

  deleteAll(conversionId: string): Promise<void> {
    return attempt(`delete the blobs of ${conversionId}`, async () => {
      const directory = this.#directory(checkConversionId(conversionId));
      await rm(directory, { recursive: true, force: true });
      await syncPath(dirname(directory)).catch((error: unknown) => {
        if (!hasCode(error, 'ENOENT')) throw error;
      });
    });
  }

  delete(key: string): Promise<void> {
    return attempt(`delete ${key}`, async () => {
      const { conversionId, name } = addressOf(key);
      const directory = this.#directory(conversionId);
      await rm(join(directory, name), { force: true });
      // Other blobs of the conversion keep it.
      await rmdir(directory).catch((error: unknown) => {
        if (!hasCode(error, 'ENOTEMPTY') && !hasCode(error, 'ENOENT')) throw error;
      });
    });
  }

  async *list(): AsyncGenerator<BlobAddress> {
    const shards = await attempt('list the blobs', () => readdir(this.#dir));
    for (const shard of shards.filter((name) => SHARD.test(name))) {
      for (const conversionId of await this.#namesIn(join(this.#dir, shard))) {
        for (const name of await this.#namesIn(join(this.#dir, shard, conversionId))) {
          const address = parseBlobKey(`${conversionId}/${name}`);
          if (address !== undefined) yield address;
        }
      }
    }
  }

  claim(log: string): Promise<boolean> {
    return attempt('claim the blob store', async () => {
      const path = join(this.#dir, LOG_MARK);
      const known = await readFile(path, 'utf8').catch((error: unknown) => {
        if (!hasCode(error, 'ENOENT')) throw error;
      });
      if (known === undefined) {
        await writeDurably(path, join(this.#temporary, temporaryName()), Buffer.from(log));
      }
      return known === undefined || known === log;
    });
  }

  /** The names in a directory; none where it was deleted meanwhile. */
  #namesIn(directory: string): Promise<readonly string[]> {
    return attempt(`list ${directory}`, () =>
      readdir(directory).catch((error: unknown) => {
        if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return [];
        throw error;
      }),
    );
  }

  /** Undefined: there is no such file. */
  async #size(ref: BlobRef): Promise<number | undefined> {
    const found = await stat(this.#path(ref)).catch((error: unknown) => {
      if (!hasCode(error, 'ENOENT')) throw error;
    });
    return found?.size;
  }

  async #move(from: string, ref: BlobRef): Promise<void> {
    const path = this.#path(ref);
    const temporary = join(this.#temporary, temporaryName());
    try {
      // Usually the directory is there, for the request lies in it.
      await moveFile(from, path, temporary, this.#calls);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
      await this.#calls.makeDirectories(dirname(path));
      await moveFile(from, path, temporary, this.#calls);
    }
  }

  #write(ref: BlobRef, content: Buffer): Promise<void> {
    return attempt(`store ${ref.key}`, async () => {
      const { conversionId } = parseKey(ref);
      await this.#calls.makeDirectories(this.#directory(conversionId));
      await this.#syncShard(conversionId);
      const temporary = join(this.#temporary, temporaryName());
      await writeDurably(this.#path(ref), temporary, content, this.#calls);
    });
  }

  // Synced even if the directory was there already: its maker may have ended before syncing it.
  async #syncShard(conversionId: string): Promise<void> {
    const shard = dirname(this.#directory(conversionId));
    await syncPath(shard, this.#calls);
    if (this.#durableShards.has(shard)) return;
    await syncPath(this.#dir, this.#calls);
    this.#durableShards.add(shard);
  }

  #directory(conversionId: string): string {
    return join(this.#dir, conversionId.slice(-2), conversionId);
  }

  #path(ref: BlobRef): string {
    const { conversionId, name } = parseKey(ref);
    return join(this.#directory(conversionId), name);
  }
}

/** @throws {Error} it is gone (`ENOENT`), or has another length */
async function syncFinished(path: string, bytes: number): Promise<void> {
  // A file of this machine, wherever the blobs are.
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size !== bytes) {
      throw new BlobStoreUnavailable(`${path} has ${size} bytes, not ${bytes}.`);
    }
    await sync(file);
  } finally {
    closeSync(file);
  }
}

/** For a small file `readFile` takes nearly three times the processor time. */
async function readWhole(path: string, { bytes }: BlobRef, calls: FileCalls): Promise<Buffer> {
  if (bytes > SMALL_BYTES) return await readFile(path);
  const file = await calls.open(path, 'r');
  try {
    // A byte more than there should be shows that there is more.
    const room = Buffer.allocUnsafe(bytes + 1);
    const { bytesRead } = await readFrom(file, room, 0, room.length, null);
    return bytesRead < bytes ? await readFile(path) : room.subarray(0, bytesRead);
  } finally {
    await calls.close(file);
  }
}

function notFoundIfMissing(ref: BlobRef, error: unknown): unknown {
  if (!hasCode(error, 'ENOENT')) return error;
  return new BlobNotFound(`There is no blob ${ref.key}.`, { cause: error });
}

/** Storage errors become the port's; wrong arguments and the port's own errors stay as they are. */
async function attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && 'code' in error && !(error instanceof TypeError)) {
      throw new BlobStoreUnavailable(`Could not ${what}.`, { cause: error });
    }
    throw error;
  }
}
