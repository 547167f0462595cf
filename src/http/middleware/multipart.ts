/** The parts of a `multipart/form-data` body (RFC 7578). See docs/decisions/0025-files-of-a-page.md. */
import { Busboy } from '@fastify/busboy';
import { ServiceError } from '../../errors/errors.ts';
import { FormBody, type FormPart } from '../../requests/files.ts';

/** More than the fields and files that a request can have. Each part costs more than its bytes. */
const MAX_PARTS = 300;
const MAX_HEADER_BYTES = 4096;

function invalid(what: string, cause?: unknown): ServiceError {
  return new ServiceError('validation_error', `The multipart body ${what}.`, { cause });
}

/** The boundary that a Content-Type declares, in the characters of RFC 2046. */
function boundaryOf(contentType: string): string {
  const [, quoted, token] = /;\s*boundary=(?:"([^"]*)"|([^\s;]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? token ?? '';
  if (boundary === '') throw invalid('has no boundary in its Content-Type');
  if (/^[\w'()+,./:=? -]{1,70}$/.test(boundary)) return boundary;
  throw invalid('has a boundary that is not 1 to 70 of the characters for one');
}

/** Counts no further than to one part too many. */
function countParts(bytes: Buffer, boundary: string): number {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  /** The index behind the next delimiter, or -1. */
  const behind = (from: number): number => {
    const at = bytes.indexOf(delimiter, from);
    return at === -1 ? -1 : at + delimiter.length;
  };
  let count = 0;
  let at = bytes.indexOf(delimiter.subarray(2)) === 0 ? delimiter.length - 2 : behind(0);
  while (at !== -1 && count <= MAX_PARTS && bytes.toString('latin1', at, at + 2) !== '--') {
    count += 1;
    at = behind(at);
  }
  return count;
}

/**
 * Parses a body that has come whole.
 * @throws {ServiceError} `validation_error`
 */
export async function parseForm(bytes: Buffer, contentType: string): Promise<FormBody> {
  const boundary = boundaryOf(contentType);
  const count = countParts(bytes, boundary);
  if (count > MAX_PARTS) throw invalid(`has more than ${MAX_PARTS} parts`);
  const parts: Promise<FormPart>[] = [];
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const parser = new Busboy({
    headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
    preservePath: true,
    // All parts are read alike: what a part is for is said by its name.
    isPartAFile: () => true,
    limits: { headerSize: MAX_HEADER_BYTES },
  });
  parser.on('file', (name: string | undefined, stream, fileName: string | undefined) => {
    const part = stream.toArray().then((chunks: Buffer[]): FormPart => {
      return { name: name ?? '', fileName, content: Buffer.concat(chunks) };
    });
    // The parser also tells of a part that breaks off.
    part.catch(() => {});
    parts.push(part);
  });
  parser.on('error', reject).on('finish', resolve);
  parser.end(bytes);
  try {
    await ended;
    const read = await Promise.all(parts);
    const whole = read.length === count && read.every(({ name }) => name !== '');
    if (whole) return new FormBody(read);
  } catch (cause) {
    throw invalid('is not valid or does not end with its boundary', cause);
  }
  throw invalid('has a part without a name, or with headers that cannot be read');
}
