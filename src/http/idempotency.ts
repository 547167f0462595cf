import { createHmac } from 'node:crypto';
import type { HttpContext } from './context.ts';
import type { Issues } from './schemas/issues.ts';

const HEADER = 'Idempotency-Key';
const PRINTABLE = /^[\x20-\x7e]{1,255}$/;

/** The client's key as the log keeps it: a keyed hash, of use for this account alone. */
export function idempotencyKeyHash(secret: Buffer, accountId: string, key: string): string {
  return createHmac('sha256', secret).update(`${accountId}\0${key}`, 'utf8').digest('hex');
}

/** The request's `Idempotency-Key`, where it has one. */
export function idempotencyKeyOf(ctx: HttpContext, issues: Issues): string | undefined {
  const key = ctx.req.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && PRINTABLE.test(key)) return key;
  issues.add(HEADER, 'Must be 1 to 255 printable ASCII characters.');
  return undefined;
}
