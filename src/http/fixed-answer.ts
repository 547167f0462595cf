/** Answers that are the same for everybody until the next version. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type HttpContext, hasCopy } from './context.ts';

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

/** The files that the build of `dashboard/` made, by path; each file is read once, when it is first asked for. */
export class BuiltFiles {
  readonly #folder: string;
  readonly #names: Promise<ReadonlySet<string>>;
  readonly #read = new Map<string, Promise<FixedBody>>();

  constructor(folder: string) {
    this.#folder = folder;
    this.#names = readdir(folder, { recursive: true }).then(
      (names) => new Set(names),
      () => new Set(),
    );
  }

  async find(name: string): Promise<FixedBody | undefined> {
    const names = await this.#names;
    if (!names.has(name)) return undefined;
    const known = this.#read.get(name);
    if (known !== undefined) return await known;
    const read = async (ending: string) =>
      names.has(name + ending) ? await readFile(join(this.#folder, name + ending)) : undefined;
    const body = Promise.all([readFile(join(this.#folder, name)), read('.br'), read('.gz')]).then(
      ([identity, br, gzipped]) => fixedBody(identity, { br, gzip: gzipped }),
    );
    this.#read.set(name, body);
    // Read again the next time: there may be too many open files for a moment.
    body.catch(() => this.#read.delete(name));
    return await body;
  }
}
