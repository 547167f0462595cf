import {
  CONVERSION_STATUSES,
  type ConversionRow,
  conversionQueries,
} from '../../projections/conversions.ts';
import { ServiceError } from '../errors.ts';
import {
  callerOf,
  disconnection,
  type HttpContext,
  type HttpMiddleware,
  pathParameter,
} from './context.ts';
import { conversionRecord, type RecordDependencies } from './conversion-record.ts';
import { Endings } from './endings.ts';
import { freshQuery, type ReadDependencies } from '../application/fresh-query.ts';
import { answerPage, pageOf } from './pagination.ts';
import { preferredWait } from './prefer.ts';
import { Issues } from './schemas/issues.ts';

export interface ConversionDependencies extends ReadDependencies, RecordDependencies {
  /** Aborted when the server closes: nothing is waited for any longer. */
  readonly closing: AbortSignal;
}

const hasEnded = ({ status }: ConversionRow): boolean =>
  status === 'completed' || status === 'failed';

async function ownConversion(
  ctx: HttpContext,
  deps: ConversionDependencies,
  asOf?: bigint,
): Promise<ConversionRow> {
  const { accountId } = callerOf(ctx);
  const queries = await freshQuery(deps, conversionQueries, asOf);
  const row = queries.byId(pathParameter(ctx, 'id'));
  if (row?.accountId !== accountId) {
    throw new ServiceError('not_found', 'There is no such conversion.');
  }
  return row;
}

/** Resolves when the conversion has ended, `seconds` have passed or nobody waits any longer. */
function ending(
  ctx: HttpContext,
  { readModel, closing }: ConversionDependencies,
  endings: Endings,
  id: string,
  seconds: number,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const over = AbortSignal.any([AbortSignal.timeout(seconds * 1000), disconnection(ctx), closing]);
  over.addEventListener('abort', () => resolve());
  const endListening = endings.onEnd(id, resolve);
  // It may have ended since it was read.
  const row = readModel.query(conversionQueries).byId(id);
  if (over.aborted || row === undefined || hasEnded(row)) resolve();
  return promise.finally(endListening);
}

export function getConversion(deps: ConversionDependencies): HttpMiddleware {
  const endings = new Endings(deps.runner);
  return async (ctx) => {
    let row = await ownConversion(ctx, deps, ctx.state.asOf);
    const wait = preferredWait(ctx.get('Prefer'));
    if (wait !== undefined) {
      ctx.set('Preference-Applied', `wait=${wait}`);
      if (wait > 0 && !hasEnded(row)) {
        await ending(ctx, deps, endings, row.id, wait);
        row = await ownConversion(ctx, deps);
      }
    }
    ctx.body = await conversionRecord(deps, row);
  };
}

export function listConversions(deps: ConversionDependencies): HttpMiddleware {
  return async (ctx) => {
    const { accountId } = callerOf(ctx);
    const issues = new Issues();
    const page = pageOf(ctx, issues, ['status']);
    const status = CONVERSION_STATUSES.find((each) => each === ctx.query['status']);
    if (status === undefined && ctx.query['status'] !== undefined) {
      issues.add('status', `Must be one of ${CONVERSION_STATUSES.join(', ')}.`);
    }
    issues.throwAny();
    const queries = await freshQuery(deps, conversionQueries, ctx.state.asOf);
    const filter = status === undefined ? {} : { status };
    const { rows, total } = queries.page(accountId, { ...page, ...filter });
    const records = await Promise.all(rows.map((row) => conversionRecord(deps, row)));
    answerPage(ctx, deps.publicUrl, page, total, records);
  };
}
