import { Readable } from 'node:stream';
import { conversionQueries } from '../../../projections/conversions.ts';
import { gatherEvidence } from '../../conversions/evidence/gather.ts';
import { proofOfConversion } from '../../log/transparency-log.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { compile } from '../../requests/validation.ts';
import { accountInView, type HttpMiddleware, pathParameter } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { ownConversion, recordOf } from './conversions.ts';
import { VerifyRequest } from './evidence.api.ts';
import { countDownload, recordDownload } from './files.ts';

const check = compile(VerifyRequest);

/** Tells the account whether a PDF is one of its own, and proves it. */
export function verifyPdf(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const { sha256 } = await deps.bodies.readSmall(ctx, deps.config, check);
    const conversions = await consistentQuery(deps, conversionQueries, ctx.state.asOf);
    const row = conversions.byPdf(sha256.toLowerCase(), accountInView(ctx));
    if (row === undefined) {
      ctx.body = { known: false };
      return;
    }
    const { entries } = await proofOfConversion(deps, row.id);
    ctx.body = { known: true, conversion: await recordOf(deps, row), entries };
  };
}

/** Sends the bundle of evidence. It has the PDF, if there is one, so that is a download too. */
export function getEvidence(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const conversionId = pathParameter(ctx, 'id');
    const { accountId } = await ownConversion(ctx, deps, conversionId, ctx.state.asOf);
    countDownload(ctx, deps, accountId);
    const { bytes, open, absent } = await gatherEvidence(deps, conversionId);
    const isSent = ctx.method !== 'HEAD';
    // Before the first byte, as for the PDF alone.
    if (isSent && !absent.has('document.pdf')) {
      await recordDownload(ctx, deps, { accountId, conversionId });
    }
    ctx.status = 200;
    ctx.set('Cache-Control', 'private, no-cache');
    ctx.attachment(`${conversionId}.evidence.zip`);
    if (isSent) ctx.body = Readable.from(open(), { objectMode: false });
    ctx.type = 'application/zip';
    ctx.length = bytes;
  };
}
