import { failureQueries } from '../../../projections/failures.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { ValidationIssues } from '../../requests/validation.ts';
import { isoTime } from '../../time/clock.ts';
import type { HttpMiddleware } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { pageOf, sendPage } from '../pagination.ts';

export function listFailures(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const issues = new ValidationIssues();
    const page = pageOf(ctx, issues);
    issues.throwIfAny();
    const { rows, total } = (await consistentQuery(deps, failureQueries, ctx.state.asOf)).page(
      page,
    );
    const failures = rows.map(({ conversionId, accountId, failedAt, ...row }) => ({
      conversion_id: conversionId,
      account_id: accountId,
      time: isoTime(failedAt),
      ...row,
    }));
    sendPage(ctx, deps.publicUrl, page, total, failures);
  };
}
