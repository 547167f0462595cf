import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../errors.ts';
import type { HttpContext } from '../context.ts';
import { refusalOfShape } from './json-shape.ts';

/** Read on after the limit, so that a client still sending gets to see the answer. */
const DISCARD_BYTES = 16 * 1024 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true });

function tooLarge(maxBytes: number): ServiceError {
  return new ServiceError(
    'payload_too_large',
    `The request body is larger than ${maxBytes} bytes, the most that is accepted.`,
  );
}

function checkMediaType(request: IncomingMessage): void {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').split(';');
  const charset = parameters
    .map((each) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/i.exec(each)?.[1]?.toLowerCase())
    .find((each) => each !== undefined);
  const json = type.trim().toLowerCase() === 'application/json';
  if (!json || (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8')) {
    throw new ServiceError('unsupported_media_type');
  }
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    throw new ServiceError('unsupported_media_type', 'Send the body without a Content-Encoding.');
  }
}

async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      bytes += (chunk as Buffer).length;
      if (bytes <= maxBytes) chunks.push(chunk as Buffer);
      else chunks.length = 0;
      if (bytes > maxBytes + DISCARD_BYTES) break;
    }
  } catch (cause) {
    throw new ServiceError('validation_error', 'The request body did not arrive whole.', { cause });
  }
  if (bytes > maxBytes) throw tooLarge(maxBytes);
  return Buffer.concat(chunks, bytes);
}

function parse(bytes: Buffer): unknown {
  const refusal = refusalOfShape(bytes);
  if (refusal !== undefined) throw new ServiceError('validation_error', refusal);
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new ServiceError('validation_error', 'The request body is not valid UTF-8.', { cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ServiceError('validation_error', 'The request body is not valid JSON.', { cause });
  }
}

/**
 * The JSON object that the request carries.
 * @throws {ServiceError} `payload_too_large`, `unsupported_media_type` or `validation_error`
 */
export async function readJsonObject(ctx: HttpContext, maxBytes: number): Promise<object> {
  const { req: request } = ctx;
  const declared = Number(request.headers['content-length'] ?? Number.NaN);
  const chunked = request.headers['transfer-encoding'] !== undefined;
  if (chunked || declared > 0) {
    try {
      if (!(declared > maxBytes)) checkMediaType(request);
      const body = parse(await readBytes(request, maxBytes));
      if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'payload_too_large') {
        ctx.set('Connection', 'close');
      }
      throw error;
    }
  }
  throw new ServiceError('validation_error', 'The request body must be a JSON object.');
}
