/** Objects in a bucket of any S3-compatible server, below a folder of their own. */
import type { IncomingMessage } from 'node:http';
import {
  type ObjectContent,
  type Objects,
  ObjectsUnavailable,
  type StoredObject,
  withIdleLimit,
} from './objects.ts';
import type { BlobRange } from './port.ts';
import { codeIn, LARGEST_ERROR_BYTES, type S3Client, type S3Request } from './s3-client.ts';

/** Of 1,000 keys, the most that a server lists at once, each of up to 1,024 bytes. */
const LARGEST_LIST_BYTES = 4 * 1024 * 1024;
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
};

export class S3Objects implements Objects {
  readonly #client: S3Client;
  readonly #folder: string;

  /** `folder` ends in `/`; what a credential may reach can be told apart by it. */
  constructor(client: S3Client, folder: string) {
    this.#client = client;
    this.#folder = client.location.prefix + folder;
  }

  /** @throws {Error} one line: what is wrong with the bucket, the credentials or the server */
  async checkUsable(): Promise<void> {
    const { endpoint, bucket } = this.#client.location;
    const where = `the bucket ${bucket} at ${endpoint}`;
    const answer = await this.#client
      .request({ method: 'GET', path: '', query: this.#listQuery('', { 'max-keys': '1' }) })
      .catch((error: unknown) => {
        const { message } = error as Error;
        throw new Error(`BLOB_STORE_URL: ${where} cannot be used: ${message}`, { cause: error });
      });
    const status = answer.statusCode ?? 0;
    const code = await this.#client.errorCode(answer);
    if (status === 200) return;
    if (code === 'NoSuchBucket' || (status === 404 && code === '')) {
      throw new Error(`BLOB_STORE_URL: ${where} does not exist; create it.`);
    }
    throw new Error(
      `BLOB_STORE_URL: ${where} refuses the request (${status} ${code}): check the region, ` +
        'AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what they may do.',
    );
  }

  async put(key: string, content: ObjectContent): Promise<void> {
    await this.#done({ method: 'PUT', path: this.#path(key), content }, [200, 201, 204]);
  }

  /**
   * Stores the object unless there is one, by `If-None-Match: *`: of two at once, one does.
   * @returns false where there is one already, which is left as it is
   */
  async create(key: string, content: ObjectContent): Promise<boolean> {
    const request: S3Request = {
      method: 'PUT',
      path: this.#path(key),
      headers: { 'if-none-match': '*' },
      content,
    };
    // 304 is what some servers answer where HTTP says 412.
    return (await this.#done(request, [200, 201, 204, 304, 412])) < 300;
  }

  async get(key: string, range?: BlobRange): Promise<StoredObject | undefined> {
    const path = this.#path(key);
    const headers = range === undefined ? {} : { range: `bytes=${range.start}-${range.end}` };
    const answer = await this.#client.request({ method: 'GET', path, headers });
    if (await this.#isMissing(path, answer)) return undefined;
    const bytes = wholeLength(answer, range);
    if (bytes === undefined) throw await this.#refusal(`GET ${path}`, answer);
    const content = withIdleLimit(answer, this.#client.limits.idleMs, `GET ${path}`);
    return { bytes, content };
  }

  async size(key: string): Promise<number | undefined> {
    const path = this.#path(key);
    const answer = await this.#client.request({ method: 'HEAD', path });
    const bytes = wholeLength(answer);
    if (bytes === undefined && answer.statusCode !== 404) {
      throw await this.#refusal(`HEAD ${path}`, answer);
    }
    this.#client.drop(answer);
    return bytes;
  }

  async delete(key: string): Promise<void> {
    await this.#done({ method: 'DELETE', path: this.#path(key) }, [200, 204, 404]);
  }

  async *list(folder: string): AsyncGenerator<string> {
    let page: Readonly<Record<string, string>> | undefined = {};
    while (page !== undefined) {
      const query = this.#listQuery(folder, page);
      const answer = await this.#client.request({ method: 'GET', path: '', query });
      if (answer.statusCode !== 200) throw await this.#refusal(`The list of ${folder}`, answer);
      const what = `The list of ${folder}`;
      const text = await this.#client.bodyText(answer, LARGEST_LIST_BYTES, what);
      for (const [, key = ''] of text.matchAll(/<Key>([^<]*)<\/Key>/g)) {
        yield unescaped(key).slice(this.#folder.length);
      }
      const [, token] = /<NextContinuationToken>([^<]+)</.exec(text) ?? [];
      const more = /<IsTruncated>true</.test(text) && token !== undefined;
      page = more ? { 'continuation-token': unescaped(token) } : undefined;
    }
  }

  /** Whether deleted objects stay as old versions; undefined where the credentials may not ask. */
  async keepsVersions(): Promise<boolean | undefined> {
    const answer = await this.#client.request({
      method: 'GET',
      path: '',
      query: { versioning: '' },
    });
    const what = 'The versioning of the bucket';
    const text = await this.#client.bodyText(answer, LARGEST_ERROR_BYTES, what);
    return answer.statusCode === 200 ? /<Status>Enabled</.test(text) : undefined;
  }

  #path(key: string): string {
    return this.#folder + key;
  }

  #listQuery(folder: string, more: Readonly<Record<string, string>>) {
    return { 'list-type': '2', prefix: this.#folder + folder, ...more };
  }

  async #done(request: S3Request, good: readonly number[]): Promise<number> {
    const answer = await this.#client.request(request);
    const status = answer.statusCode ?? 0;
    if (!good.includes(status))
      throw await this.#refusal(`${request.method} ${request.path}`, answer);
    this.#client.drop(answer);
    return status;
  }

  /** A missing bucket is no missing object: it must not read as if somebody had deleted the blob. */
  async #isMissing(path: string, answer: IncomingMessage): Promise<boolean> {
    if (answer.statusCode !== 404) return false;
    const text = await this.#client.bodyText(answer, LARGEST_ERROR_BYTES, `GET ${path}`);
    if (codeIn(text) === 'NoSuchBucket') throw new ObjectsUnavailable('The bucket does not exist.');
    return true;
  }

  async #refusal(what: string, answer: IncomingMessage): Promise<ObjectsUnavailable> {
    const code = await this.#client.errorCode(answer);
    return new ObjectsUnavailable(
      `${what} was not answered as it must be (${answer.statusCode} ${code}).`,
    );
  }
}

/** @returns nothing where the answer is not the object, or not the part of it that was asked for */
function wholeLength(answer: IncomingMessage, range?: BlobRange): number | undefined {
  const { 'content-range': given, 'content-length': length } = answer.headers;
  if (range === undefined) {
    return answer.statusCode === 200 && length !== undefined ? Number(length) : undefined;
  }
  const [, start, end, whole] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(given ?? '') ?? [];
  const bytes = Number(whole);
  const right =
    answer.statusCode === 206 &&
    Number(start) === range.start &&
    Number(end) === Math.min(range.end, bytes - 1);
  return right ? bytes : undefined;
}

function unescaped(text: string): string {
  return text.replace(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity);
}
