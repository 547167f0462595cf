/** A bucket of an S3-compatible server, by the AWS SDK: each request within a bounded time, with more tries. */
import type { IncomingMessage } from 'node:http';
import { S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { errorMessage } from '../errors/error-message.ts';
import { isTold, markTold, type Outage } from '../observe/outage.ts';
import { ObjectsUnavailable, withIdleLimit } from './objects.ts';
import type { S3Credentials, S3Location } from './s3-location.ts';

export interface S3Limits {
  /** The number of times that a request is sent before it counts as failed. */
  readonly tries: number;
  /** The longest silence, before the answer and between two parts of it. Below the 6 s of `BoundedHandler`. */
  readonly idleMs: number;
}

const S3_LIMITS: S3Limits = { tries: 4, idleMs: 5000 };

/** A link slower than this counts as down. */
const SLOWEST_BYTES_PER_MS = 64;

/**
 * Bounds what the SDK's handler leaves open: how long a body may take to be sent, by its length, and how
 * long an answer's body may stall. From 6 s on the SDK begins to count silence 3 s late, which would cut
 * off who reads slowly.
 */
class BoundedHandler extends NodeHttpHandler {
  readonly #idleMs: number;

  constructor(idleMs: number) {
    const agent = { keepAlive: true, maxSockets: 64 };
    super({
      connectionTimeout: idleMs,
      socketTimeout: idleMs,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    });
    this.#idleMs = idleMs;
  }

  override async handle(...[request, options]: Parameters<NodeHttpHandler['handle']>) {
    const bytes = Number(request.headers['content-length'] ?? 0);
    const requestTimeout = this.#idleMs * 2 + bytes / SLOWEST_BYTES_PER_MS;
    const answered = await super.handle(request, { ...options, requestTimeout });
    const body = answered.response.body as IncomingMessage;
    // The reader's pace counts from here on, not the socket's silence.
    body.setTimeout(0).on('error', () => {});
    const what = `${request.method} ${request.hostname}${request.path}`;
    answered.response.body = withIdleLimit(body, this.#idleMs, what);
    return answered;
  }
}

export class S3Bucket {
  readonly client: S3Client;
  readonly location: S3Location;

  constructor(
    location: S3Location,
    credentials: S3Credentials,
    limits: S3Limits = S3_LIMITS,
    outage?: Outage,
  ) {
    this.location = location;
    this.client = new S3Client({
      region: location.region,
      endpoint: location.endpoint,
      forcePathStyle: location.pathStyle,
      // Variables of the environment could ask for these, and an endpoint that is given excludes them.
      useDualstackEndpoint: false,
      useFipsEndpoint: false,
      credentials,
      maxAttempts: limits.tries,
      retryMode: 'standard',
      requestHandler: new BoundedHandler(limits.idleMs),
      // The signature covers each body's SHA-256; not every compatible server knows the newer checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      expectContinueHeader: false,
    });
    if (outage !== undefined) this.#watch(outage);
  }

  /** Around all tries of a request. What the server refuses, or cannot do at all (501), is an answer. */
  #watch(outage: Outage): void {
    this.client.middlewareStack.add(
      (next) => async (args) => {
        try {
          const answered = await next(args);
          outage.worked();
          return answered;
        } catch (error) {
          const { status } = answerOf(error);
          if ((status > 0 && status < 500) || status === 501) outage.worked();
          else if (error instanceof Error) outage.failed(error);
          throw error;
        }
      },
      { step: 'initialize', name: 'outage' },
    );
  }

  close(): void {
    this.client.destroy();
  }
}

/** The status of an answer that the SDK takes for a failure, and its S3 error code where it shows one. */
export function answerOf(error: unknown): { readonly status: number; readonly code: string } {
  if (!(error instanceof S3ServiceException)) return { status: 0, code: '' };
  const { name, $metadata } = error;
  // An answer without a body has no code. The SDK then puts the status or a word of its own in its place.
  const code = /^(\d+|Unknown|UnknownError|NotFound)$/.test(name) ? '' : name;
  return { status: $metadata.httpStatusCode ?? 0, code };
}

/** The driver's error, without a cause where it says all that the cause does. */
export function unavailable(what: string, error: unknown): ObjectsUnavailable {
  if (error instanceof ObjectsUnavailable) return error;
  const { status, code } = answerOf(error);
  if (status > 0) {
    const answered = new ObjectsUnavailable(`${what} was answered with ${status} ${code}.`);
    return isTold(error) ? markTold(answered) : answered;
  }
  return new ObjectsUnavailable(`${what} failed: ${errorMessage(error)}.`, { cause: error });
}
