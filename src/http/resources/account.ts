import { accountQueries, accounts } from '../../../projections/accounts.ts';
import { ledger, ledgerQueries } from '../../../projections/ledger.ts';
import { ServiceError } from '../../errors.ts';
import { accountRecord, ledgerRecord } from '../../use-cases/records.ts';
import { ValidationIssues } from '../../validation.ts';
import { momentOf, readAsOf } from '../as-of.ts';
import { callerOf, type HttpMiddleware } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { pageOf, sendPage } from '../pagination.ts';

const NOT_YET = 'The account was opened after this moment. Ask for a later one.';

export function getAccount(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const { accountId } = callerOf(ctx);
    const issues = new ValidationIssues();
    const moment = momentOf(ctx, deps, issues);
    issues.throwIfAny();
    const view = { projection: accounts, queries: accountQueries };
    const row = await readAsOf(ctx, deps, moment, view, (queries) => queries.byId(accountId));
    // Erased since its credential was read.
    if (row === undefined && moment === undefined) throw new ServiceError('unauthorized');
    if (row === undefined) throw new ServiceError('not_found', NOT_YET);
    ctx.body = await accountRecord(deps.vault, row);
  };
}

export function listLedger(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const { accountId } = callerOf(ctx);
    const issues = new ValidationIssues();
    const page = pageOf(ctx, issues, ['as_of']);
    const moment = momentOf(ctx, deps, issues);
    issues.throwIfAny();
    const view = { projection: ledger, queries: ledgerQueries };
    const { rows, total } = await readAsOf(ctx, deps, moment, view, (queries) =>
      queries.page(accountId, page),
    );
    sendPage(ctx, deps.publicUrl, page, total, rows.map(ledgerRecord));
  };
}
