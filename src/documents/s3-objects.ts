/** Objects in a bucket of any S3-compatible server, below a folder of their own. */

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import {
  DeleteObjectCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import {
  type ObjectContent,
  type Objects,
  ObjectsUnavailable,
  type StoredObject,
} from './objects.ts';
import type { BlobRange } from './port.ts';
import { answerOf, type S3Bucket, unavailable } from './s3-bucket.ts';

/** Larger content is sent in parts of this size, each retried by itself. */
const PART_BYTES = 8 * 1024 * 1024;
/** The parts of one upload that are under way; each holds its bytes in memory. */
const PARTS_AT_ONCE = 2;
const CONFLICT_TRIES = 4;
const CONFLICT_PAUSE_MS = 50;

export class S3Objects implements Objects {
  readonly #s3: S3Bucket;
  readonly #folder: string;
  /** Its place as the operator named it, for messages. */
  readonly #name: string;

  /** `folder` ends in `/`; what a credential may reach can be told apart by it. */
  constructor(s3: S3Bucket, folder: string, name = 'BLOB_STORE_URL') {
    this.#s3 = s3;
    this.#name = name;
    this.#folder = s3.location.prefix + folder;
  }

  /** @throws {Error} one line: what is wrong with the bucket, the credentials or the server */
  async checkUsable(): Promise<void> {
    const { endpoint, bucket } = this.#s3.location;
    const where = `the bucket ${bucket} at ${endpoint}`;
    try {
      await this.#s3.client.send(new ListObjectsV2Command({ ...this.#below(''), MaxKeys: 1 }));
    } catch (error) {
      const { status, code } = answerOf(error);
      if (code === 'NoSuchBucket' || (status === 404 && code === '')) {
        throw new Error(`${this.#name}: ${where} does not exist; create it.`, { cause: error });
      }
      if (status >= 300 && status < 500) {
        throw new Error(
          `${this.#name}: ${where} refuses the request (${status} ${code}): check the region, ` +
            'AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what they may do.',
          { cause: error },
        );
      }
      const { message } = unavailable('The list', error);
      throw new Error(`${this.#name}: ${where} cannot be used: ${message}`, { cause: error });
    }
  }

  async put(key: string, content: ObjectContent): Promise<void> {
    const source = Readable.from(measured(key, content), { objectMode: false });
    const upload = new Upload({
      client: this.#s3.client,
      params: { ...this.#at(key), Body: source, ContentLength: content.bytes },
      partSize: PART_BYTES,
      queueSize: PARTS_AT_ONCE,
    });
    await this.#attempt(`PUT ${key}`, () => upload.done()).finally(() => source.destroy());
  }

  /**
   * Stores the object unless there is one, by `If-None-Match: *`: of two at once, one does.
   * @returns false if there is one already, which is left as it is
   */
  async create(key: string, content: ObjectContent): Promise<boolean> {
    const Body = await buffer(measured(key, content));
    const command = new PutObjectCommand({ ...this.#at(key), Body, IfNoneMatch: '*' });
    for (let tried = 1; ; tried += 1) {
      try {
        await this.#s3.client.send(command);
        return true;
      } catch (error) {
        const { status } = answerOf(error);
        // 304 is what some servers answer where HTTP says 412.
        if (status === 304 || status === 412) return false;
        // Another one is being written: it may yet fail. The SDK does not try this again by itself.
        if (status !== 409 || tried >= CONFLICT_TRIES) throw unavailable(`PUT ${key}`, error);
        await pause(CONFLICT_PAUSE_MS * tried);
      }
    }
  }

  async get(key: string, range?: BlobRange): Promise<StoredObject | undefined> {
    const part = range && { Range: `bytes=${range.start}-${range.end}` };
    const found = await this.#found(`GET ${key}`, () =>
      this.#s3.client.send(new GetObjectCommand({ ...this.#at(key), ...part })),
    );
    if (found === undefined) return undefined;
    const bytes = wholeLength(found, range);
    const { Body: content } = found;
    if (bytes !== undefined && content instanceof Readable) return { bytes, content };
    if (content instanceof Readable) content.destroy();
    throw new ObjectsUnavailable(`GET ${key} was not answered with what was asked for.`);
  }

  async size(key: string): Promise<number | undefined> {
    const found = await this.#found(`HEAD ${key}`, () =>
      this.#s3.client.send(new HeadObjectCommand(this.#at(key))),
    );
    return found?.ContentLength;
  }

  async delete(key: string): Promise<void> {
    await this.#found(`DELETE ${key}`, () =>
      this.#s3.client.send(new DeleteObjectCommand(this.#at(key))),
    );
  }

  async *list(folder: string): AsyncGenerator<string> {
    const pages = paginateListObjectsV2({ client: this.#s3.client }, this.#below(folder));
    try {
      for await (const { Contents = [] } of pages) {
        for (const { Key = '' } of Contents) yield Key.slice(this.#folder.length);
      }
    } catch (error) {
      throw unavailable(`The list of ${folder}`, error);
    }
  }

  /** Resolves to true if deleted objects stay as old versions; undefined without the right to ask. */
  async keepsVersions(): Promise<boolean | undefined> {
    const { bucket: Bucket } = this.#s3.location;
    try {
      const { Status } = await this.#s3.client.send(new GetBucketVersioningCommand({ Bucket }));
      return Status === 'Enabled';
    } catch (error) {
      if (answerOf(error).status > 0) return undefined;
      throw unavailable('The versioning of the bucket', error);
    }
  }

  #at(key: string) {
    return { Bucket: this.#s3.location.bucket, Key: this.#folder + key };
  }

  #below(folder: string) {
    return { Bucket: this.#s3.location.bucket, Prefix: this.#folder + folder };
  }

  async #attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw unavailable(what, error);
    }
  }

  /** A missing bucket is not a missing object: it must not look as if somebody had deleted the blob. */
  #found<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    return this.#attempt(what, async () => {
      try {
        return await work();
      } catch (error) {
        const { status, code } = answerOf(error);
        if (status === 404 && code !== 'NoSuchBucket') return undefined;
        throw error;
      }
    });
  }
}

/** Passes content on, and fails before its end where it is not what was measured. */
async function* measured(key: string, content: ObjectContent): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  const source = content.open();
  let bytes = 0;
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  } finally {
    source.destroy();
  }
  if (bytes !== content.bytes || hash.digest('hex') !== content.sha256) {
    throw new TypeError(`${key} does not have the length and hash that were measured.`);
  }
}

/** @returns nothing where the answer is not the object, or not the part of it that was asked for */
function wholeLength(
  { ContentLength, ContentRange }: GetObjectCommandOutput,
  range?: BlobRange,
): number | undefined {
  if (range === undefined) return ContentRange === undefined ? ContentLength : undefined;
  const [, start, end, whole] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(ContentRange ?? '') ?? [];
  const bytes = Number(whole);
  const right = Number(start) === range.start && Number(end) === Math.min(range.end, bytes - 1);
  return right ? bytes : undefined;
}
