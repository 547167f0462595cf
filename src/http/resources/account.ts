import { type AccountRow, accountQueries } from '../../../projections/accounts.ts';
import { ledgerQueries } from '../../../projections/ledger.ts';
import { isoTime } from '../../clock.ts';
import { ServiceError } from '../../errors.ts';
import type { Vault } from '../../keyring/vault.ts';
import { callerOf, type HttpMiddleware } from '../context.ts';
import { freshQuery, type ReadDependencies } from '../../use-cases/consistent-query.ts';
import { answerPage, pageOf } from '../pagination.ts';
import { Issues } from '../../validation.ts';

export interface OwnAccountDependencies extends ReadDependencies {
  readonly vault: Vault;
  readonly publicUrl: string;
}

export function getAccount(deps: OwnAccountDependencies): HttpMiddleware {
  return async (ctx) => {
    const { accountId } = callerOf(ctx);
    const row: AccountRow | undefined = (
      await freshQuery(deps, accountQueries, ctx.state.asOf)
    ).byId(accountId);
    // Erased since its credential was read.
    if (row === undefined) throw new ServiceError('unauthorized');
    const { id, plan, credits, createdAt } = row;
    const email = await deps.vault.unseal(id, row.email);
    ctx.body = { id, email, plan, credits, created_at: isoTime(createdAt) };
  };
}

export function listLedger(deps: OwnAccountDependencies): HttpMiddleware {
  return async (ctx) => {
    const { accountId } = callerOf(ctx);
    const issues = new Issues();
    const page = pageOf(ctx, issues);
    issues.throwAny();
    const { rows, total } = (await freshQuery(deps, ledgerQueries, ctx.state.asOf)).page(
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
    answerPage(ctx, deps.publicUrl, page, total, entries);
  };
}
