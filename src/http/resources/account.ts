import { type AccountRow, accountQueries } from '../../../projections/accounts.ts';
import { ledgerQueries } from '../../../projections/ledger.ts';
import { isoTime } from '../../clock.ts';
import { ServiceError } from '../../errors.ts';
import { consistentQuery } from '../../use-cases/consistent-query.ts';
import { ValidationIssues } from '../../validation.ts';
import { callerOf, type HttpMiddleware } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { pageOf, sendPage } from '../pagination.ts';

export function getAccount(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const { accountId } = callerOf(ctx);
    const row: AccountRow | undefined = (
      await consistentQuery(deps, accountQueries, ctx.state.asOf)
    ).byId(accountId);
    // Erased since its credential was read.
    if (row === undefined) throw new ServiceError('unauthorized');
    const { id, plan, credits, createdAt } = row;
    const email = await deps.vault.unseal(id, row.email);
    ctx.body = { id, email, plan, credits, created_at: isoTime(createdAt) };
  };
}

export function listLedger(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const { accountId } = callerOf(ctx);
    const issues = new ValidationIssues();
    const page = pageOf(ctx, issues);
    issues.throwIfAny();
    const { rows, total } = (await consistentQuery(deps, ledgerQueries, ctx.state.asOf)).page(
      accountId,
      page,
    );
    const entries = rows.map(({ id, type, amount, balance, conversionId, createdAt }) => ({
      id,
      type,
      amount,
      balance,
      ...(conversionId === undefined ? {} : { conversion_id: conversionId }),
      created_at: isoTime(createdAt),
    }));
    sendPage(ctx, deps.publicUrl, page, total, entries);
  };
}
