/** Answers that are the same for everybody until the next version. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { hasCopy, type HttpContext } from './context.ts';

const CODINGS = ['br', 'gzip'] as const;

/** A text or file in all the codings that it is sent in. */
export interface FixedBody {
  /** The hash of the identity, in quotes. */
  readonly etag: string;
  readonly identity: Buffer;
  readonly br?: Buffer | undefined;
  readonly gzip?: Buffer | undefined;
}

export function fixedBody(identity: Buffer, compressed: Pick<FixedBody, 'br' | 'gzip'>): FixedBody {
  const hash = createHash('sha256').update(identity).digest('base64url');
  return { etag: `"${hash}"`, identity, ...compressed };
}

export async function compressedBody(identity: Buffer): Promise<FixedBody> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 6 };
  const [br, gzipped] = await Promise.all([
    promisify(brotliCompress)(identity, { params }),
    promisify(gzip)(identity),
  ]);
  return fixedBody(identity, { br, gzip: gzipped });
}

/** Answers 304 where the client has the same, else with the shortest coding that it takes. */
export function sendFixed(
  ctx: HttpContext,
  body: FixedBody,
  type: string,
  headers: Readonly<Record<string, string>>,
): void {
  ctx.set({ ...headers, ETag: `W/${body.etag}` });
  ctx.vary('Accept-Encoding');
  if (hasCopy(ctx, body.etag)) {
    ctx.status = 304;
    return;
  }
  const coding = CODINGS.find(
    (each) => body[each] !== undefined && ctx.acceptsEncodings(each) === each,
  );
  if (coding !== undefined) ctx.set('Content-Encoding', coding);
  ctx.type = type;
  ctx.body = body[coding ?? 'identity'];
}
