/**
 * A small S3 server on loopback, as strict as real ones in what the adapter relies on: signatures,
 * hashes, whole writes, uploads in parts, `If-None-Match: *`, lists in pages. s3rver 3.7 has none of these right on
 * Node 24 (docs/decisions/0016-remote-blobs.md). S3_TEST_URL names a real server to test as well.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Test } from 'tap';
import type { S3Credentials, S3Location } from '../../src/documents/s3-location.ts';
import { signatureFault } from './s3-signature.ts';

export const s3Credentials: S3Credentials = {
  accessKeyId: 'test-key-id',
  secretAccessKey: 'test/secret+key',
};
const REGION = 'eu-central-1';
const BUCKET = 'pressledger';

const STATUSES: Readonly<Record<string, number>> = {
  NoSuchBucket: 404,
  NoSuchKey: 404,
  PreconditionFailed: 412,
  NoSuchUpload: 404,
  EntityTooSmall: 400,
  InvalidPart: 400,
  InvalidRange: 416,
  NotImplemented: 501,
  XAmzContentSHA256Mismatch: 400,
};

/** The least of each part but the last. */
const LEAST_PART_BYTES = 5 * 2 ** 20;

/** Answers instead of the server, and says so by true. */
export type S3Fault = (request: IncomingMessage, response: ServerResponse) => boolean;

export class S3Server {
  /** What is stored, by path: bucket and key. */
  readonly objects = new Map<string, Buffer>();
  /** What reached the server, such as `GET /pressledger/…`. */
  readonly requests: string[] = [];
  /** Parts of uploads that are neither completed nor aborted, by upload, then by number. */
  readonly uploads = new Map<string, Map<number, Buffer>>();
  fault: S3Fault | undefined;
  /** Keys in one answer to a list. */
  pageSize = 1000;
  /** False: `If-None-Match` is ignored, as by servers that do not know it. */
  conditionalWrites = true;
  /** Whether deleted objects stay as old versions. */
  versioned = false;
  #server: Server | undefined;
  #port = 0;

  get location(): S3Location {
    const endpoint = `http://127.0.0.1:${this.#port}`;
    return { bucket: BUCKET, prefix: 'some/where/', region: REGION, endpoint, pathStyle: true };
  }

  /** On the same port each time. */
  async start(): Promise<void> {
    const server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address !== null && typeof address !== 'string') this.#port = address.port;
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests.push(`${request.method} ${request.url}`);
    if (this.fault?.(request, response)) return;
    // Rejects when the request is cut off: then nothing is stored.
    const body = await buffer(request);
    const { accessKeyId, secretAccessKey } = s3Credentials;
    const fault = signatureFault(request, body, { [accessKeyId]: secretAccessKey }, REGION);
    if (fault !== undefined) {
      refuse(response, fault);
      return;
    }
    const url = new URL(request.url ?? '', 'http://host');
    const path = decodeURIComponent(url.pathname);
    if (!path.startsWith(`/${BUCKET}/`)) refuse(response, 'NoSuchBucket');
    else if (url.searchParams.has('versioning')) {
      const status = this.versioned ? '<Status>Enabled</Status>' : '';
      response.end(`<VersioningConfiguration>${status}</VersioningConfiguration>`);
    } else if (url.searchParams.has('uploads') || url.searchParams.has('uploadId')) {
      this.#upload(path, request.method ?? '', url.searchParams, body, response);
    } else if (url.searchParams.has('list-type')) this.#list(url.searchParams, response);
    else if (request.method === 'PUT') {
      const onlyNew = request.headers['if-none-match'] === '*' && this.conditionalWrites;
      if (onlyNew && this.objects.has(path)) refuse(response, 'PreconditionFailed');
      else {
        this.objects.set(path, body);
        response.end();
      }
    } else if (request.method === 'DELETE') {
      this.objects.delete(path);
      response.writeHead(204).end();
    } else this.#get(path, request, response);
  }

  #upload(
    path: string,
    method: string,
    query: URLSearchParams,
    body: Buffer,
    response: ServerResponse,
  ): void {
    const [id, number] = [query.get('uploadId') ?? '', Number(query.get('partNumber'))];
    const parts = this.uploads.get(id);
    if (query.has('uploads')) {
      const made = `upload-${this.requests.length}`;
      this.uploads.set(made, new Map());
      const result = `<UploadId>${made}</UploadId>`;
      response.end(`<InitiateMultipartUploadResult>${result}</InitiateMultipartUploadResult>`);
    } else if (parts === undefined) refuse(response, 'NoSuchUpload');
    else if (method === 'PUT') {
      parts.set(number, body);
      response.setHeader('ETag', `"part ${number} of ${body.length}"`).end();
    } else if (method === 'DELETE') {
      this.uploads.delete(id);
      response.writeHead(204).end();
    } else {
      const named = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)];
      const contents = named.map(([, each]) => parts.get(Number(each)) ?? Buffer.alloc(0));
      const small = contents.slice(0, -1).some((each) => each.length < LEAST_PART_BYTES);
      if (contents.length !== parts.size || contents.length === 0) refuse(response, 'InvalidPart');
      else if (small) refuse(response, 'EntityTooSmall');
      else {
        this.objects.set(path, Buffer.concat(contents));
        this.uploads.delete(id);
        response.end('<CompleteMultipartUploadResult></CompleteMultipartUploadResult>');
      }
    }
  }

  #get(path: string, request: IncomingMessage, response: ServerResponse): void {
    const content = this.objects.get(path);
    if (content === undefined) {
      refuse(response, 'NoSuchKey');
      return;
    }
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    if (from === undefined) {
      response.writeHead(200, { 'content-length': content.length });
      response.end(request.method === 'HEAD' ? undefined : content);
      return;
    }
    const [start, end] = [Number(from), Math.min(Number(to), content.length - 1)];
    if (start > end) {
      refuse(response, 'InvalidRange');
      return;
    }
    response.writeHead(206, {
      'content-length': end - start + 1,
      'content-range': `bytes ${start}-${end}/${content.length}`,
    });
    response.end(content.subarray(start, end + 1));
  }

  #list(query: URLSearchParams, response: ServerResponse): void {
    const prefix = `/${BUCKET}/${query.get('prefix') ?? ''}`;
    const after = query.get('continuation-token') ?? '';
    const left = [...this.objects.keys()]
      .filter((path) => path.startsWith(prefix))
      .map((path) => path.slice(BUCKET.length + 2))
      .filter((key) => `a token & ${key}` > after)
      .toSorted();
    const page = left.slice(0, Math.min(this.pageSize, Number(query.get('max-keys') ?? 1000)));
    const more = left.length > page.length;
    response.end(
      `<ListBucketResult><IsTruncated>${more}</IsTruncated>` +
        (more
          ? `<NextContinuationToken>a token &amp; ${page.at(-1)}</NextContinuationToken>`
          : '') +
        page.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('') +
        '</ListBucketResult>',
    );
  }
}

export async function startS3Server(t: Pick<Test, 'teardown'>): Promise<S3Server> {
  const server = new S3Server();
  await server.start();
  t.teardown(() => server.stop());
  return server;
}

function refuse(response: ServerResponse, code: string): void {
  response.writeHead(STATUSES[code] ?? 403, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
}
