import { accountQueries, accounts } from '../../../projections/accounts.ts';
import { type LedgerRow, ledger, ledgerQueries } from '../../../projections/ledger.ts';
import { changePassword } from '../../accounts/accounts.ts';
import { confirmPassword } from '../../accounts/confirm-password.ts';
import { checkPassword } from '../../accounts/passwords.ts';
import { accountRecordWithLimit, ledgerRecord } from '../../accounts/records.ts';
import { wholeList } from '../../accounts/whole-list.ts';
import { ServiceError } from '../../errors/errors.ts';
import { compile, ValidationIssues } from '../../requests/validation.ts';
import { momentOf, readAsOf } from '../as-of.ts';
import { callerOf, commandContext, type HttpMiddleware } from '../context.ts';
import { type Cell, sendCsv, wantsCsv } from '../csv.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { pageOf, sendPage, setPageHeaders } from '../pagination.ts';
import { PasswordChange, WRONG_PASSWORD } from './account.api.ts';

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
    ctx.body = await accountRecordWithLimit(deps.vault, deps.config, row);
  };
}

const checkChange = compile(PasswordChange);
const NOT_NEW = 'The new password is the current one. Choose another.';

export function changeOwnPassword(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const caller = callerOf(ctx);
    const { accountId } = caller;
    const change = await deps.bodies.readSmall(ctx, deps.config, checkChange);
    checkPassword(change.new_password, 'new_password');
    if (change.new_password === change.current_password) {
      throw new ServiceError('validation_error', NOT_NEW, { details: { new_password: [NOT_NEW] } });
    }
    const { clientAddress, requestId, loggedId, log } = ctx.state;
    const request = { clientAddress, requestId, loggedId, log, actor: caller.actor };
    const password = change.current_password;
    const attempt = { ...request, password };
    const judged = await confirmPassword(deps, accountId, attempt, WRONG_PASSWORD);
    const context = await commandContext(ctx, deps, caller);
    await changePassword(deps, accountId, change.new_password, context, judged);
    ctx.status = 204;
  };
}

const CSV_PAGE = 1_000;
const COLUMNS = ['id', 'type', 'amount', 'balance', 'conversion_id', 'created_at'] as const;

async function* cellsOf(
  pages: AsyncIterable<readonly LedgerRow[]>,
): AsyncGenerator<readonly (readonly Cell[])[]> {
  for await (const rows of pages) {
    yield rows.map((row) => {
      const record = ledgerRecord(row);
      return COLUMNS.map((column) => record[column]);
    });
  }
}

export function listLedger(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const { accountId } = callerOf(ctx);
    const issues = new ValidationIssues();
    const page = pageOf(ctx, issues, ['as_of']);
    const moment = momentOf(ctx, deps, issues);
    issues.throwIfAny();
    const view = { projection: ledger, queries: ledgerQueries };
    const read = (slice: { readonly offset: number; readonly limit: number }) =>
      readAsOf(ctx, deps, moment, view, (queries) => queries.page(accountId, slice));
    ctx.vary('Accept');
    if (!wantsCsv(ctx)) {
      const { rows, total } = await read(page);
      sendPage(ctx, deps.publicUrl, page, total, rows.map(ledgerRecord));
      return;
    }
    // A moment is worked out again for each page, and has no more entries than events.
    const { limit } =
      moment === undefined ? { limit: CSV_PAGE } : deps.budgets.get('maxLookBackEvents');
    // Read before the answer begins: after that, none can be refused.
    const first = await read({ offset: 0, limit });
    const pages = wholeList(async (offset) =>
      offset === 0 ? first : await read({ offset, limit }),
    );
    setPageHeaders(ctx, deps.publicUrl, page, first.total);
    sendCsv(ctx, 'ledger.csv', COLUMNS, cellsOf(pages));
  };
}
