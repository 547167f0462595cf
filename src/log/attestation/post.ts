import { errorMessage } from '../../errors/error-message.ts';

/** More than any answer of a witness or a timestamp authority has. */
const MOST_BYTES = 64 * 1024;

export interface Answer {
  readonly status: number;
  /** The media type without parameters, in lower case; empty if there is none. */
  readonly contentType: string;
  readonly body: Buffer;
}

/**
 * Sends a body to a URL of the settings, and to no other: it follows no redirect.
 * @throws {Error} one line: the answer is late, incomplete or too long
 */
export async function post(
  url: string,
  contentType: string,
  body: string | Uint8Array<ArrayBuffer>,
  limits: { readonly timeoutMs: number; readonly stopping: AbortSignal },
): Promise<Answer> {
  const late = AbortSignal.timeout(limits.timeoutMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': contentType },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([late, limits.stopping]),
    });
    const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
    return {
      status: response.status,
      contentType: type.trim().toLowerCase(),
      body: await readBody(response),
    };
  } catch (error) {
    // The error of `fetch` itself says nothing but that it failed.
    const reason = late.aborted
      ? `it did not answer within ${limits.timeoutMs} ms`
      : errorMessage((error as Error).cause ?? error);
    throw new Error(reason, { cause: error });
  }
}

async function readBody(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop ends the connection, so the rest is never received.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error(`its answer is longer than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
