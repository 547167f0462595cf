/** The header `Idempotency-Key`, which makes a request safe to repeat. */
import { createHmac } from 'node:crypto';
import Type from 'typebox';
import type { ValidationIssues } from '../requests/validation.ts';
import type { HttpContext } from './context.ts';
import { inHeader, type ParameterDoc } from './openapi/operation.ts';

const HEADER = 'Idempotency-Key';
const PRINTABLE = /^[\x20-\x7e]{1,255}$/;

/** What is asked for, if not a PDF of a page. */
export type Purpose = 'batch' | 'documents' | 'statements' | `${'retry' | 'rerender'}/${string}`;

/**
 * The client's key as the log keeps it: a keyed hash, of use for this account alone.
 * @param purpose keeps requests of another kind apart that have the same key
 */
export function idempotencyKeyHash(
  secret: Buffer,
  accountId: string,
  key: string,
  purpose?: Purpose | 'credits' | `${Purpose | 'pdf'} test`,
): string {
  const text = [accountId, ...(purpose === undefined ? [] : [purpose]), key].join('\0');
  return createHmac('sha256', secret).update(text, 'utf8').digest('hex');
}

/** The request's `Idempotency-Key`, where it has one. */
export function idempotencyKeyOf(ctx: HttpContext, issues: ValidationIssues): string | undefined {
  const [key, another] = ctx.req.headersDistinct['idempotency-key'] ?? [];
  if (key === undefined) return undefined;
  if (another !== undefined) issues.add(HEADER, 'Must be given once.');
  else if (PRINTABLE.test(key)) return key;
  else issues.add(HEADER, 'Must be 1 to 255 printable ASCII characters.');
  return undefined;
}

/** @param effect what does not happen twice */
export const idempotencyKeyParameter = (effect: string): ParameterDoc =>
  inHeader(
    HEADER,
    `Makes the request safe to repeat: for 24 hours the same key ${effect}. Printable ASCII, such as invoice-4711.`,
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[\\x20-\\x7e]*$',
    }),
  );
