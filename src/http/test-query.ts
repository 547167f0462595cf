/** `?test=true` of every route that asks for conversions. */
import Type from 'typebox';
import { validated } from '../requests/validation.ts';
import type { HttpContext } from './context.ts';
import { inQuery } from './openapi/operation.ts';
import { checkQuery } from './pagination.ts';

export const testParameter = inQuery(
  'test',
  'Makes a test, as with a key for tests: it costs no credit, has a watermark and is deleted after a day at most. false unless given.',
  // The reference page sends the first where a person chooses none.
  Type.Enum(['false', 'true']),
);

/** A misspelt parameter would cost a credit. @throws {ServiceError} `validation_error` */
export function readTestQuery(ctx: HttpContext): void {
  const { test = 'false' } = ctx.query;
  validated((issues) => {
    checkQuery(ctx, issues, ['test']);
    if (test !== 'true' && test !== 'false') issues.add('test', 'Must be true or false.');
  });
  ctx.state.isTest = test === 'true';
}
