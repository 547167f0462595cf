import { conversionQueries } from '../../../projections/conversions.ts';
import { consistentQuery } from '../../use-cases/consistent-query.ts';
import { proofOfConversion } from '../../use-cases/transparency-log.ts';
import { compile } from '../../validation.ts';
import { callerOf, type HttpMiddleware } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { recordOf } from './conversions.ts';
import { VerifyRequest } from './verify.api.ts';

const check = compile(VerifyRequest);

/** Tells the account whether a PDF is one of its own, and proves it. */
export function verifyPdf(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const { accountId } = callerOf(ctx);
    const { sha256 } = await deps.bodies.readSmall(ctx, deps.config, check);
    const conversions = await consistentQuery(deps, conversionQueries, ctx.state.asOf);
    const row = conversions.byPdf(sha256.toLowerCase(), accountId);
    if (row === undefined) {
      ctx.body = { known: false };
      return;
    }
    const { entries } = await proofOfConversion(deps, row.id);
    ctx.body = { known: true, conversion: await recordOf(deps, row), entries };
  };
}
