import { ServiceError } from '../errors.ts';
import type { HttpContext } from './context.ts';
import type { RequestBodies } from './middleware/body.ts';
import { Issues } from './schemas/issues.ts';

/** The credentials and names that these bodies hold are short, and some come from anybody. */
const MAX_SMALL_BODY_BYTES = 65_536;

/**
 * The body of a request that carries no document.
 * @throws {ServiceError} `payload_too_large`, `unsupported_media_type` or `validation_error`
 */
export function readSmallBody<T extends object>(
  ctx: HttpContext,
  deps: {
    readonly config: { readonly maxBodyBytes: number };
    readonly bodies: RequestBodies;
  },
  check: (body: object, issues: Issues) => body is T,
): Promise<T> {
  const maxBytes = Math.min(deps.config.maxBodyBytes, MAX_SMALL_BODY_BYTES);
  return deps.bodies.read(
    ctx,
    maxBytes,
    (body) => {
      const issues = new Issues();
      const valid = check(body, issues);
      issues.throwAny();
      if (!valid) throw new ServiceError('validation_error');
      return body;
    },
    async (body) => body,
  );
}
