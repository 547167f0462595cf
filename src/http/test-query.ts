/** `?test=true` of every route that asks for conversions. */
import Type from 'typebox';
import { fieldError } from '../errors/errors.ts';
import type { HttpContext } from './context.ts';
import { inQuery } from './openapi/operation.ts';

export const testParameter = inQuery(
  'test',
  'Makes a test, as with a key for tests: it costs no credit, has a watermark and is deleted after a day at most. false unless given.',
  // The reference page sends the first where a person chooses none.
  Type.Enum(['false', 'true']),
);

/** @throws {ServiceError} `validation_error` */
export function readTestQuery(ctx: HttpContext): void {
  const { test = 'false' } = ctx.query;
  if (test !== 'true' && test !== 'false') throw fieldError('test', 'Must be true or false.');
  ctx.state.isTest = test === 'true';
}
