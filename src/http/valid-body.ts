import { ServiceError } from '../errors.ts';
import type { HttpContext } from './context.ts';
import { readJsonObject } from './middleware/body.ts';
import { Issues } from './schemas/issues.ts';

/** The credentials and names that these bodies hold are short, and some come from anybody. */
const MAX_SMALL_BODY_BYTES = 65_536;

/**
 * The body of a request that carries no document.
 * @throws {ServiceError} `payload_too_large`, `unsupported_media_type` or `validation_error`
 */
export async function readSmallBody<T extends object>(
  ctx: HttpContext,
  { config }: { readonly config: { readonly maxBodyBytes: number } },
  check: (body: object, issues: Issues) => body is T,
): Promise<T> {
  const body = await readJsonObject(ctx, Math.min(config.maxBodyBytes, MAX_SMALL_BODY_BYTES));
  const issues = new Issues();
  const valid = check(body, issues);
  issues.throwAny();
  if (!valid) throw new ServiceError('validation_error');
  return body;
}
